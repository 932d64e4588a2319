"""The eviction API: PodDisruptionBudgets allow or refuse (``registry/core/pod/storage/eviction.go``)."""

from __future__ import annotations

from scheduler_core.cluster.v1_37.loop import StatusError
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_of,
    generation,
    is_deleting,
    is_ready,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    phase_of,
    selects,
    spec_of,
    stamp,
    status_of,
    with_status,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.tainteviction import with_disruption_target
from scheduler_core.cluster.v1_37.watches import EvictionOutcome

SEVERAL = (
    "Internal error occurred: This pod has more than one PodDisruptionBudget, "
    "which the eviction subresource does not support."
)


def evict(server: ApiServer, key: str, uid: str, outcome: EvictionOutcome | None = None) -> None:
    """Evict a pod, if its budget allows it; ``outcome`` is an event of its own about that.

    Raises:
        StatusError: 404, 429 if the budget refuses, 500 if it has more than one.
    """
    pod = server.current("Pod", key, uid)
    if not _ignores_budgets(pod):
        budgets = budgets_of(server, pod)
        if len(budgets) > 1:
            raise StatusError(500, SEVERAL)
        if budgets and not _is_unhealthy_anyway(budgets[0], pod):
            _take(server, budgets[0], pod)
    reason, now = "EvictionByEvictionAPI", server.loop.wall_time
    server.change("Pod", key, lambda one: with_disruption_target(one, reason, now), "api", outcome=outcome)
    server.delete("Pod", key, "api", uid=uid)


def budgets_of(server: ApiServer, pod: Manifest) -> list[Manifest]:
    """Return the budgets that select a pod."""
    found = server.in_namespace("PodDisruptionBudget", namespace_of(pod))
    return [one for one in found if selects(spec_of(one).get("selector"), labels_of(pod))]


def _ignores_budgets(pod: Manifest) -> bool:
    return phase_of(pod) in ("Succeeded", "Failed", "Pending") or is_deleting(pod)


def _is_unhealthy_anyway(budget: Manifest, pod: Manifest) -> bool:
    """Return whether a pod that is not ready may go without asking (unhealthyPodEvictionPolicy)."""
    if is_ready(pod):
        return False
    if spec_of(budget).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = status_of(budget)
    return (status.get("currentHealthy") or 0) >= (status.get("desiredHealthy") or 0) > 0


def _refusal(budget: Manifest) -> str:
    """Return why a budget allows no eviction, without "The disruption budget NAME" in front."""
    status = status_of(budget)
    failed = condition_of(budget, "DisruptionAllowed") or {}
    if failed.get("reason") == "SyncFailed" and failed.get("message"):
        return f"does not allow evicting pods currently because it failed sync: {failed['message']}"
    healthy, wanted = status.get("currentHealthy") or 0, status.get("desiredHealthy") or 0
    if healthy <= wanted:
        return f"needs {wanted} healthy pods and has {healthy} currently"
    return "does not allow evicting pods currently"


def _unprocessed(budget: Manifest) -> str:
    """Return why the controller has not observed a budget: kubectl describe shows it as an event."""
    failed = condition_of(budget, "DisruptionAllowed") or {}
    if failed.get("reason") == "SyncFailed":
        why = failed.get("message") or "its sync failed"
        return f"the disruption controller cannot count its pods (CalculateExpectedPodCountFailed): {why}"
    return "the disruption controller has not observed its latest change yet"


def _take(server: ApiServer, budget: Manifest, pod: Manifest) -> None:
    """Take one of the allowed disruptions (checkAndDecrement)."""
    status = status_of(budget)
    if (status.get("observedGeneration") or 0) < generation(budget):
        raise StatusError(429, "is still being processed by the server.", _unprocessed(budget))
    allowed = status.get("disruptionsAllowed") or 0
    if allowed <= 0:
        raise StatusError(429, _refusal(budget))
    disrupted = {**(status.get("disruptedPods") or {}), name_of(pod): stamp(server.loop.wall_time)}
    fresh = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
    server.change("PodDisruptionBudget", key_of(budget), lambda one: with_status(one, fresh), "api")
