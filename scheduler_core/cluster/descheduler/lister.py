"""What the descheduler lists of a cluster, and the eviction API behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.cluster.descheduler.facts import NodeFacts, PodFacts
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    selects,
    spec_of,
    status_of,
)
from scheduler_core.kubernetes.requests import Amounts


class EvictionRefusedError(Exception):
    """The eviction API refused: a PodDisruptionBudget allows no disruption, or the pod is gone."""

    def __init__(self, message: str, *, by_budget: bool) -> None:
        super().__init__(message)
        self.by_budget = by_budget


Evict = Callable[[PodFacts, str], Manifest | None]
"""Evicts a pod for a reason; returns what remains of it while it terminates. Raises EvictionRefusedError."""


def pretend_gone(pod: PodFacts, why: str) -> None:
    """Evict in a dry run of the current edition: the pod leaves the listing, and no budget is asked."""
    del pod, why


def pretend_done(pod: PodFacts, why: str) -> Manifest:
    """Evict in a dry run of v0.9.0: the pod stays in the listing, where later strategies find it again."""
    del why
    return pod.manifest


class Listing:
    """The nodes by name, the pods of a node by namespace and name, and what filters look up.

    ``now`` is in seconds since 1970. An evicted pod leaves the listing, or is replaced by what remains of it.
    ``compiled`` keeps pods by key from one listing to the next.
    """

    def __init__(
        self,
        objects: Mapping[str, Iterable[Manifest]],
        now: float,
        evict: Evict,
        compiled: dict[str, PodFacts] | None = None,
    ) -> None:
        self.now, self._compiled = now, compiled
        self.objects = {kind: list(of) for kind, of in objects.items()}
        self.nodes = sorted(map(NodeFacts, self.objects.get("Node", ())), key=lambda node: node.name)
        self._evict = evict
        self._pods: dict[str, dict[str, PodFacts]] = defaultdict(dict)
        self._owned: dict[str, int] = defaultdict(int)
        self._requested: dict[str, Amounts] = {}
        for manifest in sorted(self.objects.get("Pod", ()), key=_by_name):
            self._add(self._facts(manifest))

    def _facts(self, manifest: Manifest) -> PodFacts:
        """Compile a pod, unless an earlier listing compiled this version of it."""
        if self._compiled is None:
            return PodFacts(manifest)
        key = key_of(manifest)
        found = self._compiled.get(key)
        if found is None or found.manifest is not manifest:
            found = self._compiled[key] = PodFacts(manifest)
        return found

    def _add(self, pod: PodFacts) -> None:
        self._pods[pod.node][pod.key] = pod
        for owner in pod.owners:
            self._owned[owner.get("uid") or ""] += 1

    def pods_on(self, node: str) -> list[PodFacts]:
        """Return the pods of a node that have neither succeeded nor failed."""
        return [pod for pod in self._pods[node].values() if not pod.is_finished]

    def all_pods_on(self, node: str) -> list[PodFacts]:
        """Return the pods of a node, whatever their phase."""
        return list(self._pods[node].values())

    def requested_on(self, node: str) -> Amounts:
        """Return what the pods of a node request, and under ``pods`` how many they are."""
        if node not in self._requested:
            pods = self.pods_on(node)
            self._requested[node] = {**total_requests(pods), "pods": len(pods)}
        return self._requested[node]

    def owned_by(self, uid: str) -> int:
        """Return how many pods have an owner, wherever they are and whatever their phase."""
        return self._owned[uid]

    def has_budget(self, pod: PodFacts) -> bool:
        """Return whether a PodDisruptionBudget selects a pod."""
        return any(budget_selects(one, pod) for one in self.objects.get("PodDisruptionBudget", ()))

    def namespace_labels(self, name: str) -> Mapping[str, str] | None:
        """Return the labels of a namespace, ``None`` without such an object."""
        found = (one for one in self.objects.get("Namespace", ()) if name_of(one) == name)
        return next(map(labels_of, found), None)

    def storage_class_of(self, namespace: str, claim: str) -> str | None:
        """Return the storage class of a claim, ``None`` if it has none or does not exist."""
        claims = self.objects.get("PersistentVolumeClaim", ())
        found = (one for one in claims if key_of(one) == f"{namespace}/{claim}")
        return next((spec_of(one).get("storageClassName") or None for one in found), None)

    def evict(self, pod: PodFacts, why: str) -> None:
        """Evict a pod for a reason.

        Raises:
            EvictionRefusedError: It stays, or is gone already.
        """
        if pod.key not in self._pods[pod.node]:
            raise EvictionRefusedError(f'pods "{pod.name}" not found', by_budget=False)
        remains = self._evict(pod, why)
        self._requested.pop(pod.node, None)
        del self._pods[pod.node][pod.key]
        for owner in pod.owners:
            self._owned[owner.get("uid") or ""] -= 1
        if remains is not None:
            self._add(PodFacts(remains))


def _by_name(pod: Manifest) -> tuple[str, str]:
    return namespace_of(pod) or "default", name_of(pod)


def total_requests(pods: Iterable[PodFacts]) -> Amounts:
    """Return the sum of what pods request."""
    total: Amounts = {}
    for pod in pods:
        for name, amount in pod.requests.items():
            total[name] = total.get(name, 0) + amount
    return total


def budget_selects(budget: Manifest, pod: PodFacts) -> bool:
    """Return whether a PodDisruptionBudget selects a pod; in v1beta1 an empty selector selects none."""
    selector = spec_of(budget).get("selector")
    if not selector and budget.get("apiVersion") == "policy/v1beta1":
        return False
    return (namespace_of(budget) or "default") == pod.namespace and selects(selector, pod.labels)


class DisruptionsAllowed:
    """An eviction API that counts down ``status.disruptionsAllowed`` of every budget that selects the pod."""

    def __init__(self, budgets: Sequence[Manifest]) -> None:
        self.budgets = budgets
        self.allowed: dict[str, Any] = {
            key_of(one): status_of(one).get("disruptionsAllowed") or 0 for one in budgets
        }

    def evict(self, pod: PodFacts, why: str) -> None:
        """Take one disruption of each budget. Raises EvictionRefusedError if one has none left."""
        del why
        matching = [key_of(one) for one in self.budgets if budget_selects(one, pod)]
        for key in matching:
            if self.allowed[key] <= 0:
                name = key.partition("/")[2]
                raise EvictionRefusedError(
                    f"the disruption budget {name} allows no disruption", by_budget=True
                )
        for key in matching:
            self.allowed[key] -= 1
