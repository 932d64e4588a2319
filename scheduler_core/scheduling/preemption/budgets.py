"""Which pods a PodDisruptionBudget protects (core.filterPodsWithPDBViolation)."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.cluster.pods import PodKind, PodState
from scheduler_core.cluster.selecting import compile_selector, matches
from scheduler_core.cluster.state import Cluster
from scheduler_core.objects.model import PodDisruptionBudget
from scheduler_core.quirks import quirk

Violations = dict[str, tuple[str, ...]]
"""Pod key to the names of the budgets that deleting it violates."""

NOT_COUNTED_DOWN = "disruptions-not-counted-down"


class Budgets:
    """The cluster's budgets, asked of many pods of few kinds."""

    def __init__(self, cluster: Cluster, quirks: frozenset[str]) -> None:
        self._budgets = [
            (budget, selector)
            for budget in cluster.budgets.values()
            if (selector := compile_selector(budget.selector))  # absent and empty ones select nothing
        ]
        self._selecting: dict[PodKind, list[PodDisruptionBudget]] = {}
        self.exhausted: dict[PodKind, tuple[str, ...]] = {}  # of a kind's budgets those that allow nothing
        self._rule = _violated_by_each if NOT_COUNTED_DOWN in quirks else _violated_in_turn

    def __bool__(self) -> bool:
        """Tell whether there is any budget that can select a pod."""
        return bool(self._budgets)

    def selecting(self, pod: PodState) -> list[PodDisruptionBudget]:
        """Return the budgets that a pod counts for; a pod without labels counts for none."""
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
        """Return which of the pods to be removed, in the order they would be put back, violate a budget."""
        return self._rule(self, pods)


@quirk("disruptions-not-counted-down")
def _violated_by_each(budgets: Budgets, pods: Iterable[PodState]) -> Violations:
    """Look at each pod alone: an allowance of one covers any number of victims."""
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
    """Let each pod use up one disruption of every budget that selects it, as later versions do."""
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
