"""``draft.…``: saving, watching, branching and sharing; for the owner only.

An edit names in ``base`` the revision it was based on; if another edit was saved since, it is
``draft.stale``.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from msgspec.structs import asdict

from playground.calls.requests import Index, OfDraft, Text
from playground.edits import branches
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.models import Draft
from playground.playback import sources
from playground.playback.executor import in_storage
from playground.protocol.answers import (
    ContentsWire,
    NothingWire,
    SavedDraftWire,
    SharedScenarioWire,
    TitledDraftWire,
)
from playground.protocol.drafts import RevisionWire
from playground.storage import bundles, privacy, store, texts
from scheduler_core.scenario.scenario import Scenario


def _draft(call: Call[Any]) -> Draft:
    row = call.found().row
    assert isinstance(row, Draft)
    return row


class DraftSave(OfDraft):
    text: Text | None = None
    title: Text | None = None
    base: Index | None = None
    keep: Text | None = None


@command("draft.save", DraftSave, answers=SavedDraftWire, owner=True, large=True)
async def save(call: Call[DraftSave]) -> Answer:
    """Replace the draft's text, valid or not, or its title: half-written YAML is not lost.

    Env values, command lines and Secrets' data are stored only if ``keep`` is "yes", or if the draft has some
    already.
    """
    text, title, base = call.payload.text, call.payload.title, call.payload.base
    kept, left = await _without_private(call, text)
    row = await in_storage(store.save_draft, _draft(call), kept, title, base)
    stored = {} if kept == text else {"left": left.private(), "text": kept}
    return {"revision": row.revision, **stored}


async def _without_private(
    call: Call[DraftSave] | Call[DraftBranch], text: str | None
) -> tuple[str | None, privacy.Contents]:
    """Return the text that is stored in place of ``text``, and how much was left out of it."""
    nothing = privacy.Contents()
    if not text or getattr(call.payload, "keep", None) == "yes" or not privacy.SUSPECT.search(text):
        return text, nothing
    made, left = await call.in_pool(privacy.private_text, text)
    if made == text or await in_storage(privacy.is_kept, _draft(call)):
        return text, nothing
    return made, left


@command("draft.watch", OfDraft, answers=RevisionWire, owner=True)
async def watch(call: Call[OfDraft]) -> Answer:
    """Return the draft's current revision, and push ``draft.changed`` from then on."""
    row = _draft(call)
    call.connection.watching.watch_draft(row)
    return store.draft_wire(row)


class DraftBranch(OfDraft):
    text: Text
    title: Text | None = None


@command(
    "draft.branch",
    DraftBranch,
    answers=TitledDraftWire,
    owner=True,
    large=True,
    throttle="IMPORTS_PER_MINUTE",
)
async def branch(call: Call[DraftBranch]) -> Answer:
    """Store a text, valid or not, as a branch of the draft, which is not changed; of env values as a save."""
    title = store.clean_title(call.payload.title or "")
    text, _ = await _without_private(call, call.payload.text)
    try:
        draft = await in_storage(branches.branch, call.found(), call.visitor, "", title, text)
    except branches.TooManyDraftsError as error:
        raise CommandError("branch.full", str(error)) from error
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/", "title": draft.title}


class DraftShare(OfDraft):
    step: Text | None = None
    tab: Text | None = None
    base: Index | None = None
    without: Text | None = None


@command("draft.share", DraftShare, answers=SharedScenarioWire, owner=True, throttle="IMPORTS_PER_MINUTE")
async def share(call: Call[DraftShare]) -> Answer:
    """Create an immutable scenario from the draft; ``without`` lists what of its text is left out."""
    parts = leaving_out(call.payload.without)
    base, row = call.payload.base, _draft(call)
    if base is not None and row.text_revision > base:
        raise store.StaleError(row)
    shown = {name: value[:40] for name in ("step", "tab") if (value := getattr(call.payload, name))}
    return await call.in_engine(_share, call.found(), call.visitor, shown, parts)


def leaving_out(given: str | None) -> list[str]:
    """Return the parts of a text that are left out. Raises CommandError for an unknown one."""
    try:
        return privacy.names_of(given)
    except ValueError as error:
        raise CommandError("payload.invalid", str(error), field="without") from error


def shared_form(source: sources.Source, parts: list[str]) -> tuple[Scenario, str]:
    """Return a source's scenario and text without some parts of it."""
    text = source.text()
    made = privacy.without(text, parts) if parts else text
    return (source.load() if made == text else bundles.parse([("", made)], source.title)), made


def _share(source: sources.Source, visitor: str, shown: dict[str, str], parts: list[str]) -> dict[str, Any]:
    scenario, text = shared_form(source, parts)
    shared = store.share(scenario, visitor, text=text)
    query = f"?{urlencode(shown)}" if shown else ""
    return {
        "scenario": shared.scenario.short,
        "url": f"/s/{shared.scenario.short}/{query}",
        "deleteToken": shared.delete_token,
    }


@command("draft.contents", OfDraft, answers=ContentsWire, owner=True, latest=1)
async def contents(call: Call[OfDraft]) -> Answer:
    """Count what the draft's text tells beyond what scheduling reads; nothing is stored."""
    return asdict(await call.in_engine(_contents, call.found()))


def _contents(source: sources.Source) -> privacy.Contents:
    return privacy.contents(texts.publishable(source.text(), source.load()))


class DraftDelete(OfDraft):
    base: Index | None = None


@command("draft.delete", DraftDelete, answers=NothingWire, owner=True)
async def delete(call: Call[DraftDelete]) -> Answer:
    """Delete a draft permanently; its branches remain, attached to its parent."""
    await in_storage(store.delete_draft, _draft(call), call.payload.base)
    return {}
