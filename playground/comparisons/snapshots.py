"""A comparison that is stored: both sides as they are now, whoever may open what they were made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.comparisons import address, differences
from playground.models import Comparison, Run, Scenario
from playground.playback import releases
from playground.pool.read_slots import reading
from playground.storage import bundles, comparisons, store
from playground.storage.comparisons import KeptSide, SharedComparison
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario import scenario as core


def share(query: Mapping[str, str], owner: str, keeper: str = "") -> SharedComparison:
    """Compare what a query of ``owner`` asks for, and store it for ``keeper``, who defaults to the owner.

    What was only the owner's, as a draft, is copied: the copy is visible by the comparison alone. Raises
    RequestFieldError, NotFoundError, UnfinishedError, TooManyComparisonsError, and the errors of reading,
    computing and storing.
    """
    keeper = keeper or owner
    question = address.question(query, owner).pinned()
    answer = address.answer(question)
    with reading():
        left, right = (_kept(side, keeper) for side in question.sides)
        return comparisons.share((left, right), answer.encode(), keeper)


def _kept(side: differences.Side, keeper: str) -> KeptSide:
    row = side.source.row
    if isinstance(row, Run) and not side.scheduler:
        kept = Scenario.objects.defer("text").get(pk=row.scenario_id)
        return KeptSide(kept, _release_of(kept), row)
    if isinstance(row, Scenario) and not side.scheduler:
        return KeptSide(row, _release_of(Scenario.objects.defer("text").get(pk=row.pk)))
    try:
        scenario, text = text_of(side)
        return KeptSide(store.keep_scenario(scenario, text, keeper), scenario.release)
    except BundleError:
        if not side.scheduler:
            raise
        source = store.keep_scenario(side.source.load(), side.source.text(), keeper)
        return KeptSide(source, side.scheduler, scheduler=side.scheduler)


def text_of(side: differences.Side) -> tuple[core.Scenario, str]:
    """Return what a side is, and its text, which names its release if it was put under another one."""
    scenario, text = side.source.load(), side.source.text()
    return releases.written_under(scenario, text, side.scheduler) if side.scheduler else (scenario, text)


def _release_of(row: Scenario) -> str:
    content = bytes(row.content)
    return bundles.stored_release(content) or bundles.restore(content).release


def wire_of(row: Comparison) -> dict[str, Any]:
    """Return a stored comparison as ``GET /api/compare`` answers one; its sides are sources of their own."""
    sides = {
        side.name: {
            "source": {"side": f"{row.short}-{side.name}"},
            "title": side.scenario.title,
            "scheduler": None,
            "release": side.release,
        }
        for side in comparisons.sides_of(row)
    }
    return {**sides, **comparisons.answer_of(row)}
