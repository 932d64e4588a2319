"""Dry runs: remove all pods of lower priority from a node, then reprieve them one by one.

This is core.selectVictimsOnNode, run for all nodes side by side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct, field

from scheduler_core.record.preemption import DryRun
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.columns.pods import NOT_STARTED, PodState
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.filters import FitCheck
from scheduler_core.schedulers.v1_11.preemption.budgets import Budgets, Violations


class NodeVictims(Struct):
    """A node where the pod would fit without the victims; those that violate a budget are first.

    ``removed`` are all pods of lower priority, ``order`` the same in the order they were put back.
    ``reasons`` are the reasons, per victim, why the pod did not fit next to it; recorded only on request.
    """

    node: str
    victims: list[PodState] = field(default_factory=list)
    violations: int = 0
    index: int = -1
    removed: list[PodState] = field(default_factory=list)
    order: list[PodState] = field(default_factory=list)
    budgets: Violations = field(default_factory=dict)
    reasons: list[tuple[str, ...]] = field(default_factory=list)

    def record(self) -> DryRun:
        """Return the record that a Cycle keeps of it."""
        return DryRun(self.index, self.removed, self.order, self.budgets, self.victims, self.reasons)


class DryRuns(Struct):
    """The candidates, and why the other nodes are none: ``unfit`` maps a node's index to the reasons."""

    candidates: list[NodeVictims]
    unfit: dict[int, tuple[str, ...]]


def dry_run(pod: PodState, view: View, queue: Nominations, profile: Profile, *, explain: bool) -> DryRuns:
    """Find the victims on all rows side by side; record reasons only with ``explain``."""
    lower = [
        [other for other in view.cluster.residents[view.node(row)].values() if other.priority < pod.priority]
        for row in range(view.size)
    ]
    rows = [row for row, pods in enumerate(lower) for _ in pods]
    view.change(rows, [other for pods in lower for other in pods], -1)
    fits = FitCheck(pod, view, queue, profile, explain=explain)
    helped = fits()
    unfit = {view.node(row): fits.why(row) for row in np.flatnonzero(~helped).tolist()} if explain else {}
    budgets = Budgets(view.cluster, profile.quirks)
    ordered = _by_start_time if profile.framework_preemption else _by_creation
    candidates = {
        row: _candidate(view, row, lower[row], ordered(lower[row]), budgets)
        for row in np.flatnonzero(helped).tolist()
    }
    _put_back(view, candidates, fits, fits.why if explain else None)
    return DryRuns(list(candidates.values()), unfit)


def _by_creation(pods: list[PodState]) -> list[PodState]:
    """Order a node's pods by priority, then creation (v1.11 sorts by priority alone)."""
    return sorted(pods, key=lambda pod: (-pod.priority, pod.order))


def _by_start_time(pods: list[PodState]) -> list[PodState]:
    """Order a node's pods by importance: priority, then the earlier start (util.MoreImportantPod).

    Pods that started in the same second keep the order in which they were added to the node. Those that have
    not started come last, in reverse order: to compare two of them, upstream reads the clock for the one and
    then for the other, so that each is older than the one before it, and the insertion sort of Go's
    sort.Slice, used for up to 12 pods, reverses their order. For more pods its order is arbitrary.
    """
    places = {pod.key: place for place, pod in enumerate(pods)}

    def importance(pod: PodState) -> tuple[int, int, int]:
        started, place = pod.started, places[pod.key]
        return -pod.priority, started, -place if started == NOT_STARTED else place

    return sorted(pods, key=importance)


def _candidate(
    view: View, row: int, pods: list[PodState], order: list[PodState], budgets: Budgets
) -> NodeVictims:
    """Create a candidate; of the pods to put back, those that violate a budget are first, in stable order."""
    node = view.node(row)
    violations = budgets.violations(order) if budgets else {}
    if violations:
        order.sort(key=lambda pod: pod.key not in violations)  # stable
    return NodeVictims(view.columns.names[node], index=node, removed=pods, order=order, budgets=violations)


def _put_back(
    view: View,
    candidates: dict[int, NodeVictims],
    fits: FitCheck,
    why: Callable[[int], tuple[str, ...]] | None,
) -> None:
    """Put the pods back, one per row and turn; one that the incoming pod does not fit next to is a victim."""
    rows = list(candidates)
    for turn in range(max((len(c.order) for c in candidates.values()), default=0)):
        rows = [row for row in rows if turn < len(candidates[row].order)]
        view.change(rows, [candidates[row].order[turn] for row in rows], 1)
        still = fits()
        refused = [row for row in rows if not still[row]]
        for row in refused:
            candidate = candidates[row]
            victim = candidate.order[turn]
            candidate.victims.append(victim)
            candidate.violations += victim.key in candidate.budgets
            if why is not None:
                candidate.reasons.append(why(row))
        view.change(refused, [candidates[row].order[turn] for row in refused], -1)
