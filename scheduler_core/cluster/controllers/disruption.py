"""PodDisruptionBudgets: how many of the covered pods may currently be disrupted.

Source: ``pkg/controller/disruption``. A pod is healthy while it is Running and ready.
"""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.admission import healthy_pods
from scheduler_core.kubernetes.model import Pod, PodDisruptionBudget, Workload


def reconcile(budget: PodDisruptionBudget, store: Store, now: float) -> Reconciliation:
    """Update the budget's ``status.disruptionsAllowed``."""
    del now
    healthy, desired = health_of(budget, store)
    allowed = max(0, healthy - desired)
    if allowed == budget.disruptions_allowed:
        return ()
    return (Change("update", replace(budget, disruptions_allowed=allowed), "DisruptionsAllowed"),)


def health_of(budget: PodDisruptionBudget, store: Store) -> tuple[int, int]:
    """Return how many of the covered pods are healthy, and how many have to be."""
    found = [store.pod(name) for name in store.budgets.covered(budget.meta.key)]
    pods = [pod for pod in found if pod is not None]
    return healthy_pods(budget, pods, _scale(pods, store), healthy=_healthy)


def _healthy(pod: Pod) -> bool:
    return bool(pod.node_name) and pod.phase == "Running" and pod.ready


def _scale(pods: list[Pod], store: Store) -> dict[tuple[str, str, str], int]:
    scale = {}
    for owner in {(o.kind, p.meta.namespace, o.name) for p in pods if (o := p.meta.controller) is not None}:
        found = store.objects.get((owner[0], f"{owner[1]}/{owner[2]}"))
        if isinstance(found, Workload):
            scale[owner] = found.replicas
    return scale
