"""The smallest changes that make a pod fit, each found out by running it.

For a node the cheapest answer to every reason is taken together, the result is run, and edits that turn
out not to be needed are dropped again. The same is tried with changes of the pod, of the node and of other
pods alone, because who asks can often do only one of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.explain.edits import Edit, Side, apply, patches
from scheduler_core.explain.finding import Finding, Place
from scheduler_core.explain.findings import deletion, findings
from scheduler_core.explain.world import Standing, World
from scheduler_core.preemption import UNRESOLVABLE_REASONS
from scheduler_core.scenario import BundleError

ROUNDS = 4  # one answer may bring another reason to light
NODES_TRIED = 4  # of all nodes, those that seem cheapest
NODES_WEIGHED = 500
CHANGES_SHOWN = 8
FITS_SHOWN = 20
VICTIMS_TRIED = 50  # more than these are no small change

Effort = tuple[int, float]


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was run: with it the pod fits on ``node`` and on all of ``fits``.

    ``patches`` are what to send to the API server, in order; ``words`` say the same, one sentence an edit.
    """

    node: str
    words: tuple[str, ...]
    patches: tuple[dict[str, Any], ...]
    effort: int
    size: float
    fits: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "node": self.node,
            "words": list(self.words),
            "patches": list(self.patches),
            "effort": self.effort,
            "fits": list(self.fits[:FITS_SHOWN]),
            "fitsCount": len(self.fits),
        }


def changes(standing: Standing, rows: Sequence[int]) -> list[Change]:
    """Return verified changes for these nodes, the smallest first, at most :data:`CHANGES_SHOWN`.

    Of more than :data:`NODES_TRIED` nodes only those are run that seem cheapest; nodes where the pod fits
    already need none.
    """
    open_rows = [row for row in rows if not standing.fits(row)]
    found: dict[tuple[str, ...], Change] = {}
    for row in _cheapest(standing, open_rows):
        for edits in _plans(standing, row):
            change = _change(standing.world, edits, row)
            if change is not None:
                found.setdefault(tuple(sorted(change.words)), change)
    return sorted(found.values(), key=lambda change: (change.effort, change.size))[:CHANGES_SHOWN]


def _cheapest(standing: Standing, rows: list[int]) -> list[int]:
    if len(rows) <= NODES_TRIED:
        return rows
    fewest = sorted(rows, key=lambda row: len(standing.failures(row)))[:NODES_WEIGHED]
    return sorted(fewest, key=lambda row: _estimate(standing, row))[:NODES_TRIED]


def _estimate(standing: Standing, row: int) -> tuple[int, int, float]:
    """Add up the cheapest answer to each reason; a reason without one comes last."""
    hopeless, effort, size = 0, 0, 0.0
    for finding in _findings(standing, row):
        best = min((_effort(option) for option in finding.options), default=None)
        hopeless += best is None
        effort += best[0] if best else 0
        size += best[1] if best else 0.0
    return hopeless, effort, size


def _findings(standing: Standing, row: int) -> list[Finding]:
    place = Place(standing, row)
    return [finding for failure in standing.failures(row) for finding in findings(place, failure)]


def _effort(edits: Iterable[Edit]) -> Effort:
    listed = list(edits)
    return sum(edit.effort for edit in listed), sum(edit.size for edit in listed)


def _plans(standing: Standing, row: int) -> Iterator[list[Edit]]:
    """Yield sets of edits with which the pod fits, tried out but not yet made minimal."""
    sides: tuple[Side | None, ...] = (None, "pod", "node", "pods", "storage")
    for side in sides:
        plan = _answered(standing, row, side)
        if plan is not None:
            yield plan
    plan = _with_victims(standing, row)
    if plan is not None:
        yield plan


def _answered(standing: Standing, row: int, side: Side | None) -> list[Edit] | None:
    """Answer all reasons, those of a side first; ``None`` if that leads nowhere."""
    chosen: list[Edit] = []
    current = standing
    for _ in range(ROUNDS):
        if current.fits(row):
            return chosen
        fresh = _answers(_findings(current, row), side)
        if fresh is None or not {edit.words for edit in fresh} - {edit.words for edit in chosen}:
            return None
        chosen = _distinct([*chosen, *fresh])
        tried = _run(standing.world, chosen)
        if tried is None:
            return None
        current = tried
    return chosen if current.fits(row) else None


def _answers(found: list[Finding], side: Side | None) -> list[Edit] | None:
    edits: list[Edit] = []
    for finding in found:
        if not finding.options:
            return None
        edits += min(
            finding.options,
            key=lambda option: (
                any(edit.side != side for edit in option) if side else False,
                _effort(option),
            ),
        )
    return edits


def _distinct(edits: list[Edit]) -> list[Edit]:
    return list({(edit.kind, edit.key, edit.words): edit for edit in edits}.values())


def _with_victims(standing: Standing, row: int) -> list[Edit] | None:
    """Delete pods of the node, as preemption's dry run picks them; what no deletion mends is answered first.

    If the pod's priority is too low for preemption, the pods are those that it would take with a higher one.
    """
    place = Place(standing, row)
    lasting = [
        finding
        for failure in standing.failures(row)
        if failure.error is not None or not UNRESOLVABLE_REASONS.isdisjoint(failure.reasons)
        for finding in findings(place, failure)
        if not finding.numbers  # a lack of resources; GeneralPredicates reports several reasons at once
    ]
    edits = _answers(lasting, None)
    if edits is None:
        return None
    current = _run(standing.world, _distinct(edits))
    if current is None or current.early is not None:
        return None
    for trial, cost in ((current, "victim"), (current.raised(), "delete")):
        candidate = trial.victims(row)
        if candidate is not None and 0 < len(candidate.victims) <= VICTIMS_TRIED:
            return [*_distinct(edits), *(deletion(pod, cost) for pod in candidate.victims)]
    return None


def _run(world: World, edits: Sequence[Edit]) -> Standing | None:
    """Run a world with edits; ``None`` if one of them makes no valid object."""
    try:
        return Standing(apply(world, edits))
    except BundleError:
        return None


def _change(world: World, edits: list[Edit], row: int) -> Change | None:
    """Drop what is not needed, and keep the rest if it makes the pod fit."""
    standing = _run(world, edits)
    if standing is None or not standing.fits(row):
        return None
    left = list(edits)
    for edit in sorted(edits, key=lambda e: -e.effort) if len(edits) > 1 else []:
        fewer = [other for other in left if other is not edit]
        without = _run(world, fewer) if fewer else None
        if without is not None and without.fits(row):
            left, standing = fewer, without
    effort, size = _effort(left)
    return Change(
        standing.names[row],
        tuple(edit.words for edit in left),
        tuple(patches(world, left)),
        effort,
        size,
        tuple(standing.fitting()),
    )
