"""Preemption by a group: which lower units must go so that it fits (PodGroupEvaluator of framework/preemption)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from scheduler_core.v1_37.groups.outcome import GroupResult
from scheduler_core.v1_37.groups.validation import preemption_policy
from scheduler_core.v1_37.interface import SUCCESS, UNRESOLVABLE, UNSCHEDULABLE, Attempt, Scheduling, Status
from scheduler_core.v1_37.pods import Pod
from scheduler_core.v1_37.preemption_units import Unit, in_reprieve_order, units_below
from scheduler_core.v1_37.state import Cluster

PLUGIN = "DefaultPreemption"
PREFIX = "pod group preemption: "


@dataclass(slots=True)
class GroupPreemption:
    """What preemption by a group came to."""

    status: Status
    nominated: dict[str, str] = field(default_factory=dict)
    """Node by member."""

    victims: list[Pod] = field(default_factory=list)
    """All victims in order, those among them that are terminating already included."""


def preempt(
    scheduling: Scheduling, members: Sequence[Pod], priority: int, evaluate: Callable[[], GroupResult]
) -> GroupPreemption:
    """Look for victims. ``evaluate`` schedules the group on the cluster as it is then, and rolls back."""
    cluster = scheduling.cluster
    if any(preemption_policy(pod) == "Never" for pod in members):
        return _refused(UNSCHEDULABLE, "not eligible due to preemptionPolicy=Never.")
    units = in_reprieve_order(units_below(cluster, priority), cluster)
    if not units:
        return _refused(UNRESOLVABLE, "No preemption victims found for incoming preemptor")
    with _without(cluster, units) as absent:
        result = evaluate()
        if not result.status.success:
            return _refused(UNSCHEDULABLE, result.status.message)
        victims: list[Pod] = []
        for unit in units:
            absent.put_back(unit)
            if not _all_fit(scheduling, result.placed):
                absent.take(unit)
                victims.extend(unit.pods)
    text = f"{PREFIX}found a placement for podgroup, preempting {len(victims)} victims"
    nominated = {attempt.pod.key: attempt.node for attempt in result.placed if attempt.node}
    return GroupPreemption(Status(SUCCESS, (text,)), nominated, victims)


def _refused(code: str, text: str) -> GroupPreemption:
    return GroupPreemption(Status(code, (PREFIX + text,), PLUGIN))


def _all_fit(scheduling: Scheduling, placed: Sequence[Attempt]) -> bool:
    """Return whether every placed member, those before assumed, still passes Filter on its node."""
    reserved = []
    try:
        for attempt in placed:
            if not scheduling.passes(attempt):
                return False
            scheduling.reserve(attempt)
            reserved.append(attempt)
        return True
    finally:
        for attempt in reversed(reserved):
            scheduling.unreserve(attempt)


class _Absent:
    """Units that are taken off the cluster for a while."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._gone: dict[str, Pod] = {}

    def take(self, unit: Unit) -> None:
        for pod in unit.pods:
            self.cluster.remove_for_now(pod)
            self._gone[pod.key] = pod

    def put_back(self, unit: Unit) -> None:
        for pod in unit.pods:
            self.cluster.put_back(self._gone.pop(pod.key))

    def put_all_back(self) -> None:
        for pod in self._gone.values():
            self.cluster.put_back(pod)
        self._gone.clear()


@contextmanager
def _without(cluster: Cluster, units: Sequence[Unit]) -> Iterator[_Absent]:
    absent = _Absent(cluster)
    try:
        for unit in units:
            absent.take(unit)
        yield absent
    finally:
        absent.put_all_back()
