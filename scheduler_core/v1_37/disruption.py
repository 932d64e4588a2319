"""Whom preemption takes together and in which order, and what PodDisruptionBudgets say to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler_core.objects.times import microseconds_of
from scheduler_core.v1_37.interface import Manifest
from scheduler_core.v1_37.podgroups import disrupted_as_a_whole, group_key, priority
from scheduler_core.v1_37.pods import Pod
from scheduler_core.v1_37.selectors import label_selector
from scheduler_core.v1_37.state import Cluster

NOW = 2**63
"""The start time of a pod that has not started."""


def started(pod: Pod) -> int:
    """Return a pod's start in microseconds; :data:`NOW` if it has not started."""
    found = microseconds_of(pod.status.get("startTime"))
    return NOW if found is None else found


@dataclass(frozen=True, slots=True)
class Unit:
    """Pods that go or stay together: one pod, or all of a PodGroup with ``disruptionMode.all``."""

    pods: tuple[Pod, ...]
    priority: int
    """The PodGroup's priority, of a pod that belongs to one."""

    grouped: bool = False

    @property
    def importance(self) -> tuple[int, bool, int, int]:
        """Sort key, most important first (MoreImportantVictim)."""
        return -self.priority, not self.grouped, -len(self.pods), min(started(pod) for pod in self.pods)


def units(cluster: Cluster, pods: Iterable[Pod], *, groups: bool) -> list[Unit]:
    """Return the units of assigned pods, by their first pod; ``groups``: whether PodGroups are known."""
    out: dict[str, Unit] = {}
    known = cluster.objects.get("PodGroup", {}) if groups else {}
    for pod in pods:
        key = group_key(pod.manifest) if groups else None
        group = known.get(key) if key is not None else None
        if key is None or group is None:
            out[pod.key] = Unit((pod,), pod.priority)
        elif disrupted_as_a_whole(group):
            name = f"group {key}"
            together = out[name].pods if name in out else ()
            out[name] = Unit((*together, pod), priority(group), grouped=True)
        else:
            out[pod.key] = Unit((pod,), priority(group), grouped=True)
    return list(out.values())


class Budgets:
    """The PodDisruptionBudgets."""

    def __init__(self, cluster: Cluster) -> None:
        self._budgets: list[Manifest] = list(cluster.list("PodDisruptionBudget"))

    def split(self, units: Iterable[Unit]) -> tuple[list[Unit], list[Unit]]:
        """Return the units whose eviction violates a budget, and the others (filterPodsWithPDBViolation)."""
        left = [int((b.get("status") or {}).get("disruptionsAllowed") or 0) for b in self._budgets]
        violating: list[Unit] = []
        others: list[Unit] = []
        for unit in units:
            violated = [self._charge(pod, left) for pod in unit.pods]
            (violating if any(violated) else others).append(unit)
        return violating, others

    def _charge(self, pod: Pod, left: list[int]) -> bool:
        """Take one disruption from every budget that covers the pod; return whether one had none left."""
        violated = False
        for index, budget in enumerate(self._budgets):
            if self._covers(budget, pod):
                left[index] -= 1
                violated |= left[index] < 0
        return violated

    @staticmethod
    def _covers(budget: Manifest, pod: Pod) -> bool:
        selector = label_selector((budget.get("spec") or {}).get("selector"))
        disrupted = (budget.get("status") or {}).get("disruptedPods") or {}
        return (
            bool(pod.labels)
            and (budget["metadata"].get("namespace") or "default") == pod.namespace
            and not selector.empty
            and selector.matches(pod.labels)
            and pod.name not in disrupted
        )
