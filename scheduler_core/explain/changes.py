"""The smallest changes that make a pod fit, each found out by running it.

For a node the cheapest answer to every reason is taken together, the result is run, and edits that turn
out not to be needed are dropped again. The same is tried with changes of the pod, of the node and of other
pods alone, because who asks can often do only one of these. What is left in the end is given to the
scheduler, whose choice is told with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_core.explain.edits import Edit, Side, apply, patches
from scheduler_core.explain.finding import Finding, Place
from scheduler_core.explain.findings import findings
from scheduler_core.explain.freeing import fewest
from scheduler_core.explain.notes import notes
from scheduler_core.explain.pausing import finished
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
PODS_LOOKED_AT = 2_000_000  # by the rules that look at every pod, over all nodes that are weighed

Effort = tuple[int, float]


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was run: with it the pod fits on ``node`` and on all of ``fits``.

    ``patches`` are what to send to the API server, in order; ``words`` say the same, one sentence an edit.
    ``live`` are the same for the pod that is there already, where ``patches`` change its template.
    ``chosen`` is the node that the scheduler then takes, ``notes`` what is to be known before.
    """

    node: str
    words: tuple[str, ...]
    patches: tuple[dict[str, Any], ...]
    effort: int
    size: float
    fits: tuple[str, ...]
    chosen: str | None = None
    live: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """A name for it that is the same whenever the same is asked."""
        text = json.dumps([self.node, list(self.patches)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "id": self.id,
            "node": self.node,
            "words": list(self.words),
            "patches": list(self.patches),
            "effort": self.effort,
            "fits": list(self.fits[:FITS_SHOWN]),
            "fitsCount": len(self.fits),
            "chosen": self.chosen,
            "notes": list(self.notes),
        }


Found = tuple[Change, tuple[Edit, ...]]
EditSet = frozenset[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Trials:
    """What was run so far: where the pod fits after a set of edits, nowhere where they are not valid."""

    standing: Standing
    known: dict[EditSet, tuple[str, ...]] = field(default_factory=dict)

    def fits(self, edits: Sequence[Edit]) -> tuple[str, ...]:
        """Return the names of the nodes where the pod fits with the edits."""
        key = frozenset((edit.kind, edit.key, edit.words) for edit in edits)
        if key not in self.known:
            with _run(self.standing, edits) as tried:
                self.known[key] = () if tried is None else tuple(tried.fitting())
        return self.known[key]


def changes(standing: Standing, rows: Sequence[int]) -> list[Change]:
    """Return verified changes for these nodes, the smallest first, at most :data:`CHANGES_SHOWN`.

    Of more than :data:`NODES_TRIED` nodes only those are run that seem cheapest; nodes where the pod fits
    already need none.
    """
    return finished(search(standing, rows))


def search(standing: Standing, rows: Sequence[int]) -> Generator[None, None, list[Change]]:
    """Do as :func:`changes` does, with a pause whenever some tens of milliseconds may have gone."""
    open_rows = [row for row in rows if not standing.fits(row)]
    trials = Trials(standing)
    found: dict[str, Found] = {}
    tried: set[tuple[int, frozenset[str]]] = set()
    for row in _cheapest(standing, open_rows):
        yield
        for edits in _plans(trials, row):
            yield
            plan = row, frozenset(edit.words for edit in edits)
            new = None if plan in tried else _change(trials, edits, row)
            tried.add(plan)
            if new is not None:
                found.setdefault(_content(new[0]), new)
    smallest = sorted(found.values(), key=lambda one: (one[0].effort, one[0].size))[:CHANGES_SHOWN]
    chosen: list[Change] = []
    for change, left in smallest:
        yield
        node = change.fits[0] if len(change.fits) == 1 else _choice(standing, left)
        chosen.append(replace(change, chosen=node, notes=notes(standing.world, left, change.patches)))
    return chosen


def _choice(standing: Standing, edits: Sequence[Edit]) -> str | None:
    with _run(standing, edits) as ended:
        return None if ended is None else ended.choice()


def _content(change: Change) -> str:
    """Return what tells changes apart: what is done, not how it is said."""
    return json.dumps(change.patches, sort_keys=True)


def _cheapest(standing: Standing, rows: list[int]) -> list[int]:
    if len(rows) <= NODES_TRIED:
        return rows
    weighed = max(NODES_TRIED, min(NODES_WEIGHED, PODS_LOOKED_AT // max(1, len(standing.cluster.pods))))
    fewest_first = sorted(rows, key=lambda row: len(standing.failures(row)))[:weighed]
    return sorted(fewest_first, key=lambda row: _estimate(standing, row))[:NODES_TRIED]


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


def _plans(trials: Trials, row: int) -> Iterator[list[Edit]]:
    """Yield sets of edits with which the pod fits, tried out but not yet made minimal."""
    sides: tuple[Side | None, ...] = (None, "pod", "node", "pods", "storage")
    for side in sides:
        plan = _answered(trials, row, side)
        if plan is not None:
            yield plan
    for freeing in (_with_victims, _with_fewest):
        plan = freeing(trials.standing, row)
        if plan is not None:
            yield plan


def _answered(trials: Trials, row: int, side: Side | None) -> list[Edit] | None:
    """Answer all reasons, those of a side first; ``None`` if that leads nowhere."""
    chosen: list[Edit] = []
    standing = trials.standing
    found = _findings(standing, row)
    for _ in range(ROUNDS):
        fresh = _answers(found, side)
        if fresh is None or not {edit.words for edit in fresh} - {edit.words for edit in chosen}:
            return None
        chosen = _distinct([*chosen, *fresh])
        if standing.names[row] in trials.fits(chosen):
            return chosen
        with _run(standing, chosen) as tried:
            if tried is None:
                return None
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


def _with_fewest(standing: Standing, row: int) -> list[Edit] | None:
    """Delete as few pods as free what is missing; preemption goes by priorities and may take more."""
    freed = fewest(Place(standing, row), VICTIMS_TRIED)
    return [deletion(pod, "delete") for pod in freed] or None


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


def _change(trials: Trials, edits: list[Edit], row: int) -> Found | None:
    """Drop what is not needed, and keep the rest if it makes the pod fit."""
    name = trials.standing.names[row]
    fits = trials.fits(edits)
    if name not in fits:
        return None
    left = list(edits)
    for edit in sorted(edits, key=lambda e: -e.effort):
        fewer = [other for other in left if other is not edit]
        without = trials.fits(fewer) if fewer else ()
        if name in without:
            left, fits = fewer, without
    effort, size = _effort(left)
    world = trials.standing.world
    change = Change(
        name,
        tuple(edit.words for edit in left),
        tuple(patches(world, left)),
        effort,
        size,
        fits,
        live=tuple(patches(world, left, templates=False)),
    )
    return change, tuple(left)
