"""The units that preemption evicts, their order, and the PodDisruptionBudgets that they violate."""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec import Struct

from scheduler_core.kubernetes.times import microseconds_of
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.podgroups import disrupted_as_a_whole, group_key, priority
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.selectors import label_selector
from scheduler_core.schedulers.v1_37.state import ClusterState

NOW = 2**63
"""The start time of a pod that has not started."""


def started(pod: CompiledPod) -> int:
    """Return a pod's start in microseconds; :data:`NOW` if it has not started."""
    found = microseconds_of(pod.status.get("startTime"))
    return NOW if found is None else found


class Unit(Struct, frozen=True):
    """Pods that go or stay together: one pod, or all of a PodGroup with ``disruptionMode.all``."""

    pods: tuple[CompiledPod, ...]
    priority: int
    """The PodGroup's priority, of a pod that belongs to one."""

    grouped: bool = False

    @property
    def importance(self) -> tuple[int, bool, int, int]:
        """Sort key, most important first (MoreImportantVictim)."""
        return -self.priority, not self.grouped, -len(self.pods), self.started

    @property
    def started(self) -> int:
        """When the first of its pods started."""
        return min(started(pod) for pod in self.pods)


def units(cluster: ClusterState, pods: Iterable[CompiledPod], *, groups: bool) -> list[Unit]:
    """Return the units of assigned pods, by their first pod; ``groups``: whether PodGroups are known.

    A unit that is a whole group has all its assigned pods, also those that are not among the given ones.
    """
    out: dict[str, Unit] = {}
    known = cluster.objects.get("PodGroup", {}) if groups else {}
    for pod in pods:
        key = group_key(pod.manifest) if groups else None
        group = known.get(key) if key is not None else None
        if key is None or group is None:
            out[pod.key] = Unit((pod,), pod.priority, grouped=key is not None)
        elif not disrupted_as_a_whole(group):
            out[pod.key] = Unit((pod,), priority(group), grouped=True)
        elif f"group {key}" not in out:
            members = (other for other in cluster.members(key) if other.node)
            out[f"group {key}"] = Unit(tuple(members), priority(group), grouped=True)
    return list(out.values())


def lost_node(cluster: ClusterState, unit: Unit) -> str | None:
    """Return the error of a unit of which a pod is bound to a node that does not exist; None without any."""
    node = next((pod.node for pod in unit.pods if cluster.nodes.row(pod.node) is None), None)
    if node is None:
        return None
    why = f"nodeinfo not found for node name {json.dumps(node)}"
    return f"failed to get node info for node {json.dumps(node)} from snapshot: {why}"


class DisruptionBudgets:
    """The PodDisruptionBudgets."""

    def __init__(self, cluster: ClusterState) -> None:
        self._budgets: list[Manifest] = list(cluster.list("PodDisruptionBudget"))

    def in_reprieve_order(self, units: Iterable[Unit]) -> list[tuple[Unit, int]]:
        """Return the units with the number of their pods whose eviction violates a budget.

        Violating units first, the most important first among them and among the others
        (FilterVictimsWithPDBViolation).
        """
        left = [int((b.get("status") or {}).get("disruptionsAllowed") or 0) for b in self._budgets]
        counted = [
            (unit, sum(self._charge(pod, left) for pod in unit.pods))
            for unit in sorted(units, key=lambda unit: unit.importance)
        ]
        return [row for row in counted if row[1]] + [row for row in counted if not row[1]]

    def names(self, pod: CompiledPod) -> tuple[str, ...]:
        """Return the budgets that cover a pod, as ``namespace/name``."""
        covering = (budget["metadata"]["name"] for budget in self._budgets if self._covers(budget, pod))
        return tuple(f"{pod.namespace}/{name}" for name in covering)

    def _charge(self, pod: CompiledPod, left: list[int]) -> bool:
        """Take one disruption from every budget that covers the pod; return whether one had none left."""
        violated = False
        for index, budget in enumerate(self._budgets):
            if self._covers(budget, pod):
                left[index] -= 1
                violated |= left[index] < 0
        return violated

    @staticmethod
    def _covers(budget: Manifest, pod: CompiledPod) -> bool:
        selector = label_selector((budget.get("spec") or {}).get("selector"))
        disrupted = (budget.get("status") or {}).get("disruptedPods") or {}
        return (
            bool(pod.labels)
            and (budget["metadata"].get("namespace") or "default") == pod.namespace
            and not selector.empty
            and selector.matches(pod.labels)
            and pod.name not in disrupted
        )
