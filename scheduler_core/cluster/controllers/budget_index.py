"""The pods that each PodDisruptionBudget covers, updated as pods and budgets change."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.cluster.controllers.branching import Branching
from scheduler_core.kubernetes.model import Pod, PodDisruptionBudget
from scheduler_core.kubernetes.selectors import matches


class BudgetIndex(Branching):
    """Budgets and pods by ``namespace/name``; a namespace without budgets costs its pods nothing."""

    def __init__(self) -> None:
        self._budgets: dict[str, dict[str, PodDisruptionBudget]] = {}  # by namespace
        self._covered: dict[str, dict[str, None]] = {}  # pods by budget

    def put(self, budget: PodDisruptionBudget, pods: Iterable[Pod]) -> None:
        """Add or update a budget; ``pods`` are those of its namespace."""
        of = self._budgets.setdefault(budget.meta.namespace, {})
        previous = of.get(budget.meta.key)
        of[budget.meta.key] = budget
        if previous is None or previous.selector != budget.selector:
            found = [pod.meta.key for pod in pods if matches(budget.selector, pod.meta.labels)]
            self._covered[budget.meta.key] = dict.fromkeys(found)

    def drop(self, budget: PodDisruptionBudget) -> None:
        """Remove a budget."""
        self._covered.pop(budget.meta.key, None)
        of = self._budgets.get(budget.meta.namespace, {})
        of.pop(budget.meta.key, None)
        if not of:
            self._budgets.pop(budget.meta.namespace, None)

    def put_pod(self, pod: Pod) -> None:
        """Add a pod, or update it after a change of its labels."""
        for key, budget in self._budgets.get(pod.meta.namespace, {}).items():
            if matches(budget.selector, pod.meta.labels):
                self._covered[key][pod.meta.key] = None
            else:
                self._covered[key].pop(pod.meta.key, None)

    def drop_pod(self, pod: Pod) -> None:
        """Remove a pod."""
        for key in self._budgets.get(pod.meta.namespace, {}):
            self._covered[key].pop(pod.meta.key, None)

    def of(self, pod: Pod) -> list[str]:
        """Return the budgets that cover a pod."""
        budgets = self._budgets.get(pod.meta.namespace, {})
        return [key for key, budget in budgets.items() if matches(budget.selector, pod.meta.labels)]

    def in_namespace(self, namespace: str) -> list[str]:
        """Return the budgets of a namespace."""
        return list(self._budgets.get(namespace, ()))

    def covered(self, budget: str) -> list[str]:
        """Return the pods that a budget covers, in order of arrival."""
        return list(self._covered.get(budget, ()))
