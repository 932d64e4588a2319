"""Sets of edits with which a pod fits on a node: every reason is answered, then the set is made minimal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct, field

from scheduler_core.explain.deletion_sets import fewest
from scheduler_core.explain.edits import Edit, EditTarget, apply
from scheduler_core.explain.findings import findings
from scheduler_core.explain.pod_findings import deletion
from scheduler_core.explain.rules import Finding, PodOnNode
from scheduler_core.explain.world import NodeVerdicts
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.schedulers.v1_11.preemption.preempt import UNRESOLVABLE_REASONS

ROUNDS = 4  # one answer may reveal another reason
VICTIMS_TRIED = 50  # deleting more than these is no small change
DROPPED_AT_ONCE = 12  # up to so many edits each is tried without; larger sets are kept whole

Effort = tuple[int, float]
EditSet = frozenset[tuple[str, str, str]]


class Trials(Struct, frozen=True):
    """What was run so far: where the pod fits after a set of edits, nowhere if they are not valid."""

    standing: NodeVerdicts
    known: dict[EditSet, frozenset[str]] = field(default_factory=dict)

    def fits(self, edits: Sequence[Edit], row: int) -> bool:
        """Return whether the pod fits on a node with the edits."""
        key = frozenset((edit.kind, edit.key, edit.words) for edit in edits)
        if key not in self.known:
            with run(self.standing, edits) as tried:
                self.known[key] = frozenset() if tried is None else frozenset(tried.fitting())
        return self.standing.names[row] in self.known[key]


def plans(trials: Trials, row: int) -> Iterator[list[Edit]]:
    """Yield minimal sets of edits with which the pod fits on a node, each once."""
    seen: set[EditSet] = set()
    for edits in _plans(trials, row):
        key = frozenset((edit.kind, edit.key, edit.words) for edit in edits)
        if key not in seen:
            seen.add(key)
            needed = minimal(trials, edits, row)
            if needed:
                yield needed


def minimal(trials: Trials, edits: Sequence[Edit], row: int) -> list[Edit]:
    """Return the edits without the unnecessary ones, empty if they do not help at all."""
    if not trials.fits(edits, row):
        return []
    left = list(edits)
    needless = sorted(edits, key=lambda e: -e.effort) if len(left) <= DROPPED_AT_ONCE else []
    for edit in needless:
        fewer = [other for other in left if other is not edit]
        if fewer and trials.fits(fewer, row):
            left = fewer
    return left


def all_findings(standing: NodeVerdicts, row: int) -> list[Finding]:
    """Return the findings for every failure on a node."""
    place = PodOnNode(standing, row)
    return [finding for failure in standing.failures(row) for finding in findings(place, failure)]


def effort_of(edits: Iterable[Edit]) -> Effort:
    """Return the cost of the edits: the sum of efforts, then of sizes."""
    listed = list(edits)
    return sum(edit.effort for edit in listed), sum(edit.size for edit in listed)


def _plans(trials: Trials, row: int) -> Iterator[list[Edit]]:
    """Yield sets of edits with which the pod fits, verified but not yet minimal."""
    sides: tuple[EditTarget | None, ...] = (None, "pod", "node", "pods", "storage")
    for side in sides:
        plan = _answered(trials, row, side)
        if plan is not None:
            yield plan
    for freeing in (_with_victims, _with_fewest):
        plan = freeing(trials.standing, row)
        if plan is not None:
            yield plan


def _answered(trials: Trials, row: int, side: EditTarget | None) -> list[Edit] | None:
    """Answer all reasons, preferring edits of a side; ``None`` if the pod still does not fit."""
    chosen: list[Edit] = []
    standing = trials.standing
    found = all_findings(standing, row)
    for _ in range(ROUNDS):
        fresh = _answers(found, side)
        if fresh is None or not {edit.words for edit in fresh} - {edit.words for edit in chosen}:
            return None
        chosen = _distinct([*chosen, *fresh])
        if trials.fits(chosen, row):
            return chosen
        with run(standing, chosen) as tried:
            if tried is None:
                return None
            found = all_findings(tried, row)
    return None


def _answers(found: list[Finding], side: EditTarget | None) -> list[Edit] | None:
    edits: list[Edit] = []
    for finding in found:
        if not finding.options:
            return None
        edits += min(
            finding.options,
            key=lambda option: (
                any(edit.side != side for edit in option) if side else False,
                effort_of(option),
            ),
        )
    return edits


def _distinct(edits: list[Edit]) -> list[Edit]:
    return list({(edit.kind, edit.key, edit.words): edit for edit in edits}.values())


def _with_victims(standing: NodeVerdicts, row: int) -> list[Edit] | None:
    """Delete the node's pods that preemption's dry run selects; other reasons are answered first.

    If the pod's priority is too low for preemption, the pods are the victims of a higher priority.
    """
    place = PodOnNode(standing, row)
    lasting = [
        finding
        for failure in standing.failures(row)
        if failure.error is not None or not UNRESOLVABLE_REASONS.isdisjoint(failure.reasons)
        for finding in findings(place, failure)
        if not finding.numbers  # a shortage of resources; GeneralPredicates reports several reasons at once
    ]
    edits = _answers(lasting, None)
    if edits is None:
        return None
    edits = _distinct(edits)
    with run(standing, edits) as current:
        if current is None or current.early is not None:
            return None
        victims = _deletions(current, row, "victim")
        if victims is None:
            with current.trial(current.raised()) as raised:
                victims = _deletions(raised, row, "delete")
        return None if victims is None else [*edits, *victims]


def _with_fewest(standing: NodeVerdicts, row: int) -> list[Edit] | None:
    """Delete as few pods as free what is missing; preemption follows priorities and may take more."""
    freed = fewest(PodOnNode(standing, row), VICTIMS_TRIED)
    return [deletion(pod, "delete") for pod in freed] or None


def _deletions(standing: NodeVerdicts, row: int, cost: str) -> list[Edit] | None:
    candidate = standing.victims(row)
    if candidate is None or not 0 < len(candidate.victims) <= VICTIMS_TRIED:
        return None
    return [deletion(pod, cost) for pod in candidate.victims]


@contextmanager
def run(standing: NodeVerdicts, edits: Sequence[Edit]) -> Iterator[NodeVerdicts | None]:
    """Evaluate a world with edits; ``None`` if one of them yields an invalid object."""
    try:
        world = apply(standing.world, edits)
    except BundleError:
        yield None
        return
    with standing.trial(world) as tried:
        yield tried
