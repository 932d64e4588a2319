"""``branch.…``: copies of a source made at a step, their tree, and the outcome of each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from msgspec.structs import replace

from playground.calls.requests import OfDraft, OfSource, Text
from playground.edits import branches, outcomes
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.models import Draft
from playground.playback import sources
from playground.playback.executor import in_storage
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.protocol.answers import ComparedOutcomeWire, TitledDraftWire
from playground.protocol.drafts import BranchComparisonWire, BranchListWire
from playground.storage import bundles, store
from scheduler_core.compare.again import moves, taken_off
from scheduler_core.kubernetes.problems import BundleError

COMPARED_AT_ONCE = 4
T = TypeVar("T")
UNREADABLE = (BundleError, bundles.TooLargeError, store.StaleError, Draft.DoesNotExist)


class BranchCreate(OfSource):
    step: Text | None = None
    title: Text | None = None


@command("branch.create", BranchCreate, answers=TitledDraftWire, visitor=True, throttle="IMPORTS_PER_MINUTE")
async def create(call: Call[BranchCreate]) -> Answer:
    """Copy a source into a draft of the visitor that records its origin."""
    step, title = call.payload.step or "", store.clean_title(call.payload.title or "")
    try:
        draft = await call.in_engine(branches.branch, call.found(), call.visitor, step, title)
    except branches.TooManyDraftsError as error:
        raise CommandError("branch.full", str(error)) from error
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/", "title": draft.title}


@command("branch.replay", OfSource, answers=TitledDraftWire, visitor=True, throttle="IMPORTS_PER_MINUTE")
async def replay(call: Call[OfSource]) -> Answer:
    """Copy a source into a draft whose pods have no node yet but for those of daemons."""
    try:
        draft = await call.in_engine(_replayed, call.found(), call.visitor)
    except branches.TooManyDraftsError as error:
        raise CommandError("branch.full", str(error)) from error
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/", "title": draft.title}


def _replayed(source: sources.Source, visitor: str) -> Draft:
    scenario = source.load()
    documents, count = list(taken_off(scenario.documents)), sum(map(moves, scenario.documents))
    if not count:
        raise CommandError("payload.invalid", "No pod runs on a node that could be scheduled again.")
    text = bundles.bundle_text(replace(scenario, documents=tuple(documents)))
    title = store.clean_title(f"{source.title or 'Untitled'}, from empty")
    return branches.branch(source, visitor, "0", title, text)


@command("branch.list", OfSource, answers=BranchListWire, latest=1)
async def listed(call: Call[OfSource]) -> Answer:
    """Return the visitor's drafts that derive from the same draft, scenario or run as the source."""
    return await in_storage(branches.tree, call.found(), call.visitor)


@command("branch.compare", OfDraft, answers=BranchComparisonWire, owner=True, latest=COMPARED_AT_ONCE)
async def compare(call: Call[OfDraft]) -> Answer:
    """Return the outcome of a branch compared with its parent, both in their current state."""
    row = call.found().row
    assert isinstance(row, Draft)
    found, why = await _with_parent(call, branches.compared)
    words = "\n".join(found.words)
    if found.wire["parent"] is not None and words != row.words:
        # For a text that was saved meanwhile they would be wrong.
        ours = Draft.objects.filter(pk=row.pk, text_revision=row.text_revision)
        await in_storage(lambda: ours.update(words=words))
    return {**found.wire, "why": why}


@command("branch.outcome", OfDraft, answers=ComparedOutcomeWire, owner=True, latest=1)
async def outcome(call: Call[OfDraft]) -> Answer:
    """Return what a branch did to the workloads of its parent, over time and at the end."""

    def answer(mine: Playback, parent: Playback | None, unwanted: Unwanted) -> dict[str, Any]:
        compared = branches.compared(mine, parent, unwanted).wire
        over_time = outcomes.outcome(mine, parent, unwanted) if parent is not None else None
        lacks = [problem for problem in mine.scenario.warnings if problem.incomplete]
        return {**compared, "overTime": over_time, "lacks": bundles.problems_wire(lacks)}

    found, why = await _with_parent(call, answer)
    return {**found, "why": why}


async def _with_parent(
    call: Call[Any], answer: Callable[[Playback, Playback | None, Unwanted], T]
) -> tuple[T, str]:
    """Return the answer about a branch and its parent, both computed, and why there is no parent.

    Progress counts the cycles of the branch against those of its parent, once they are known.
    """
    row = call.found().row
    assert isinstance(row, Draft)
    parent = await in_storage(branches.parent_of, row, call.visitor)
    own = call.found()
    sides: list[Playback] = []
    why = ""
    watch = call.watch()
    if parent is not None and not sources.is_open(parent):
        with suppress(*UNREADABLE):  # the turn raises these, too
            await call.in_engine(sources.open_playback, parent, large=sources.is_large(parent))

    def turn(playback: Playback, unwanted: Unwanted) -> T | None:
        nonlocal sides, why
        if not sides and parent is not None and not why:
            try:
                sides = sources.open_alike((parent, own))
            except UNREADABLE:
                why = "Its parent cannot be simulated, so there is no comparison."
        other = sides[0] if sides else None
        mine = sides[1] if sides and call.veil is None else playback
        for side in (other, mine):
            if side is not None and side.advance(SLICE_SECONDS):
                watch("cycles", len(mine), len(other) if other is not None else 0)
                return None
        return answer(mine, other, unwanted)

    return await call.in_turns(turn), why
