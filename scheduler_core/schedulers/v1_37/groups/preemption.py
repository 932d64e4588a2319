"""Preemption by a group: which units of lower priority must go so that it fits (PodGroupEvaluator)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.disruption import DisruptionBudgets, Unit, lost_node, units
from scheduler_core.schedulers.v1_37.filters import filter_row, update_states
from scheduler_core.schedulers.v1_37.groups.outcome import GroupResult
from scheduler_core.schedulers.v1_37.groups.validation import preemption_policy
from scheduler_core.schedulers.v1_37.interface import PodAttempt, SchedulingSteps
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.preemption import terminates_by_preemption
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import ERROR, SUCCESS, UNRESOLVABLE, UNSCHEDULABLE, Status

PLUGIN = "DefaultPreemption"
PREFIX = "pod group preemption: "


class GroupPreemption(Struct):
    """What preemption by a group came to."""

    status: Status
    nominated: dict[str, str] = field(default_factory=dict)
    """Node by member."""

    victims: list[CompiledPod] = field(default_factory=list)
    """All victims in order, those among them that are terminating already included."""


def preempt(
    scheduling: SchedulingSteps,
    members: Sequence[CompiledPod],
    priority: int,
    evaluate: Callable[[], GroupResult],
) -> GroupPreemption:
    """Look for victims. ``evaluate`` schedules the group on the cluster as it is then, and rolls back."""
    cluster = scheduling.cluster
    everything = _units(cluster)
    lost = next((text for unit in everything if (text := lost_node(cluster, unit))), None)
    if lost is not None:
        return _refused(ERROR, f"failed to create domain: {lost}")
    if any(preemption_policy(pod) == "Never" for pod in members):
        return _refused(UNSCHEDULABLE, "not eligible due to preemptionPolicy=Never.")
    if _awaits_victims(cluster, members, priority):
        kept = {pod.key: pod.nominated_node for pod in members}
        return GroupPreemption(Status(SUCCESS, (f"{PREFIX}ongoing preemption on nominated nodes",)), kept)
    lower = [unit for unit in everything if unit.priority < priority]
    lower = [unit for unit, _ in DisruptionBudgets(cluster).in_reprieve_order(lower)]
    if not lower:
        return _refused(UNRESOLVABLE, "No preemption victims found for incoming preemptor")
    with _without(cluster, lower) as absent:
        result = evaluate()
        if not result.status.success:
            return _refused(result.status.code, result.status.message)
        gone: list[Unit] = []
        for unit in lower:
            absent.put_back(unit, result.placed)
            if not _all_fit(scheduling, result.placed):
                absent.take(unit, result.placed)
                gone.append(unit)
    victims = [pod for unit in sorted(gone, key=lambda unit: unit.importance) for pod in unit.pods]
    text = f"{PREFIX}found a placement for podgroup, preempting {len(victims)} victims"
    nominated = {attempt.pod.key: attempt.node for attempt in result.placed if attempt.node}
    return GroupPreemption(Status(SUCCESS, (text,)), nominated, victims)


def _awaits_victims(cluster: ClusterState, members: Sequence[CompiledPod], priority: int) -> bool:
    """Return whether a victim of an earlier preemption is still terminating where a member is nominated."""
    rows = {cluster.nodes.row(pod.nominated_node) for pod in members if pod.nominated_node} - {None}
    return any(
        unit.priority < priority and terminates_by_preemption(pod)
        for row in rows
        for pod in cluster.nodes.nodes[row or 0].pods
        for unit in units(cluster, (pod,), groups=True)
    )


def _refused(code: str, text: str) -> GroupPreemption:
    return GroupPreemption(Status(code, (PREFIX + text,), PLUGIN))


def _all_fit(scheduling: SchedulingSteps, placed: Sequence[PodAttempt]) -> bool:
    """Return whether every placed member, those before assumed, still passes Filter on its node.

    PreFilter is not run again: what it prepared on the cluster without the units follows those that are put
    back, and a plugin that it skipped there stays skipped, as upstream's CycleState does.
    """
    reserved = []
    try:
        for attempt in placed:
            row = scheduling.cluster.nodes.rows[str(attempt.node)]
            if filter_row(attempt.context, row, scheduling.nominations) is not None:
                return False
            scheduling.reserve(attempt)
            reserved.append(attempt)
        return True
    finally:
        for attempt in reversed(reserved):
            scheduling.unreserve(attempt)


def _units(cluster: ClusterState) -> list[Unit]:
    rows = cluster.nodes.order.tolist()
    return units(cluster, (pod for row in rows for pod in cluster.nodes.nodes[row].pods), groups=True)


class _Absent:
    """Units that are taken off the cluster for a while."""

    def __init__(self, cluster: ClusterState) -> None:
        self.cluster = cluster

    def take(self, unit: Unit, placed: Sequence[PodAttempt] = ()) -> None:
        """Take a unit off, and update the members that were placed without it."""
        for pod in unit.pods:
            self.cluster.take_off(pod)
            self._update(placed, pod, -1)

    def put_back(self, unit: Unit, placed: Sequence[PodAttempt]) -> None:
        for pod in unit.pods:
            self.cluster.put_on(pod)
            self._update(placed, pod, 1)

    def _update(self, placed: Sequence[PodAttempt], pod: CompiledPod, sign: int) -> None:
        for attempt in placed:
            update_states(attempt.context, self.cluster.nodes.rows[pod.node], pod, sign)


@contextmanager
def _without(cluster: ClusterState, lower: Sequence[Unit]) -> Iterator[_Absent]:
    """Take units off the cluster; afterwards everything is as it was, the order of the pods on a node too."""
    rows = sorted({cluster.nodes.rows[pod.node] for unit in lower for pod in unit.pods})
    saved = [cluster.nodes.save(row) for row in rows]
    absent = _Absent(cluster)
    try:
        for unit in lower:
            absent.take(unit)
        yield absent
    finally:
        for unit in lower:
            for pod in unit.pods:
                cluster.put_on(pod)
        for row in saved:
            cluster.nodes.restore(row)
