"""The smallest changes that make a pod fit, each found out by running it.

For a node the cheapest answer to every reason is taken together, the result is run, and edits that turn
out not to be needed are dropped again. The same is tried with changes of the pod, of the node and of other
pods alone, because who asks can often do only one of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from scheduler_core.explain.edits import Edit, Side, apply, patches
from scheduler_core.explain.finding import Finding, Place
from scheduler_core.explain.findings import findings
from scheduler_core.explain.pod_findings import deletion
from scheduler_core.explain.world import Standing
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
    found: dict[frozenset[str], Change] = {}
    tried: set[tuple[int, frozenset[str]]] = set()
    for row in _cheapest(standing, open_rows):
        for edits in _plans(standing, row):
            plan = row, frozenset(edit.words for edit in edits)
            change = None if plan in tried else _change(standing, edits, row)
            tried.add(plan)
            if change is not None:
                found.setdefault(frozenset(change.words), change)
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
    found = _findings(standing, row)
    for _ in range(ROUNDS):
        fresh = _answers(found, side)
        if fresh is None or not {edit.words for edit in fresh} - {edit.words for edit in chosen}:
            return None
        chosen = _distinct([*chosen, *fresh])
        with _run(standing, chosen) as tried:
            if tried is None or tried.fits(row):
                return chosen if tried is not None else None
            found = _findings(tried, row)
    return None


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
    edits = _distinct(edits)
    with _run(standing, edits) as current:
        if current is None or current.early is not None:
            return None
        victims = _deletions(current, row, "victim")
        if victims is None:
            with current.trial(current.raised()) as raised:
                victims = _deletions(raised, row, "delete")
        return None if victims is None else [*edits, *victims]


def _deletions(standing: Standing, row: int, cost: str) -> list[Edit] | None:
    candidate = standing.victims(row)
    if candidate is None or not 0 < len(candidate.victims) <= VICTIMS_TRIED:
        return None
    return [deletion(pod, cost) for pod in candidate.victims]


@contextmanager
def _run(standing: Standing, edits: Sequence[Edit]) -> Iterator[Standing | None]:
    """Run a world with edits; ``None`` if one of them makes no valid object."""
    try:
        world = apply(standing.world, edits)
    except BundleError:
        yield None
        return
    with standing.trial(world) as tried:
        yield tried


def _fitting(standing: Standing, edits: Sequence[Edit], row: int) -> tuple[str, ...]:
    """Return where the pod fits with the edits, nothing unless it fits on the node that they are for."""
    with _run(standing, edits) as tried:
        return tuple(tried.fitting()) if tried is not None and tried.fits(row) else ()


def _change(standing: Standing, edits: list[Edit], row: int) -> Change | None:
    """Drop what is not needed, and keep the rest if it makes the pod fit."""
    fits = _fitting(standing, edits, row)
    if not fits:
        return None
    left = list(edits)
    for edit in sorted(edits, key=lambda e: -e.effort):
        fewer = [other for other in left if other is not edit]
        without = _fitting(standing, fewer, row) if fewer else ()
        if without:
            left, fits = fewer, without
    effort, size = _effort(left)
    return Change(
        standing.names[row],
        tuple(edit.words for edit in left),
        tuple(patches(standing.world, left)),
        effort,
        size,
        fits,
    )
