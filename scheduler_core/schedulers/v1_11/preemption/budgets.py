"""The pods that PodDisruptionBudgets protect (core.filterPodsWithPDBViolation)."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.kubernetes.model import PodDisruptionBudget
from scheduler_core.schedulers.columns.pod_selectors import compile_selector, matches
from scheduler_core.schedulers.columns.pods import PodKind, PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.quirks import quirk

Violations = dict[str, tuple[str, ...]]
"""Pod key to the names of the budgets that deleting it violates."""

NOT_COUNTED_DOWN = "disruptions-not-counted-down"


class Budgets:
    """The cluster's PodDisruptionBudgets; lookups are cached per kind of pod."""

    def __init__(self, cluster: Cluster, quirks: frozenset[str]) -> None:
        self._budgets = [
            (budget, selector)
            for budget in cluster.budgets.values()
            if (selector := compile_selector(budget.selector))  # absent and empty ones select nothing
        ]
        self._selecting: dict[PodKind, list[PodDisruptionBudget]] = {}
        self.exhausted: dict[PodKind, tuple[str, ...]] = {}  # a kind's budgets without disruptions left
        self._rule = _violated_by_each if NOT_COUNTED_DOWN in quirks else _violated_in_turn

    def __bool__(self) -> bool:
        """Return whether any budget can select a pod."""
        return bool(self._budgets)

    def selecting(self, pod: PodState) -> list[PodDisruptionBudget]:
        """Return the budgets that select a pod; none selects a pod without labels."""
        found = self._selecting.get(pod.kind)
        if found is None:
            namespace, labels = pod.kind.namespace, pod.kind.labels
            found = self._selecting[pod.kind] = [
                budget
                for budget, selector in self._budgets
                if labels and budget.meta.namespace == namespace and matches(selector, labels)
            ]
        return found

    def violations(self, pods: Iterable[PodState]) -> Violations:
        """Return which of the removed pods, given in the order of putting them back, violate a budget."""
        return self._rule(self, pods)


@quirk("disruptions-not-counted-down")
def _violated_by_each(budgets: Budgets, pods: Iterable[PodState]) -> Violations:
    """Check each pod alone: an allowance of one disruption covers any number of victims."""
    found: Violations = {}
    for pod in pods:
        names = budgets.exhausted.get(pod.kind)
        if names is None:
            names = tuple(b.meta.key for b in budgets.selecting(pod) if b.disruptions_allowed <= 0)
            budgets.exhausted[pod.kind] = names
        if names:
            found[pod.key] = names
    return found


def _violated_in_turn(budgets: Budgets, pods: Iterable[PodState]) -> Violations:
    """Check the pods in turn; each uses up one disruption of every budget selecting it (later versions)."""
    left: dict[str, int] = {}
    found: Violations = {}
    for pod in pods:
        names = []
        for budget in budgets.selecting(pod):
            key = budget.meta.key
            left[key] = left.get(key, budget.disruptions_allowed) - 1
            if left[key] < 0:
                names.append(key)
        if names:
            found[pod.key] = tuple(names)
    return found
