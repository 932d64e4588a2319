"""The transitions of a Workload's status: reservation, admission, eviction and return."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from scheduler_core.cluster.kueue.objects import ClusterQueue
from scheduler_core.cluster.kueue.workload import (
    ADMITTED,
    EVICTED,
    PREEMPTED,
    QUOTA_RESERVED,
    REQUEUED,
    Assigned,
    CheckState,
    Workload,
    WorkloadCondition,
)


def reserved(workload: Workload, admission: Assigned, now: float) -> Workload:
    """Return it with quota reserved; what evicted it before is past."""
    message = f"Quota reserved in ClusterQueue {admission.cluster_queue}"
    out = replace(workload, admission=admission).set(QUOTA_RESERVED, True, "QuotaReserved", message, now)
    for kind in (EVICTED, PREEMPTED):
        old = out.conditions.get(kind)
        if old is not None and old.status:
            out = out.set(kind, False, "QuotaReserved", f"Previously: {old.message}", now)
    return out


def unreserved(workload: Workload, reason: str, message: str, now: float) -> Workload:
    """Return it without reservation, for a reason (UnsetQuotaReservationWithCondition)."""
    old = workload.conditions.get(QUOTA_RESERVED)
    new = WorkloadCondition(False, reason, message, old.at if old is not None and not old.status else now)
    out = workload
    if new != old:
        out = replace(out, conditions={**out.conditions, QUOTA_RESERVED: new})
    if out.admission is not None:
        out = replace(out, admission=None)
    return admission_synced(out, now) if out.has(ADMITTED) else out


def admission_synced(workload: Workload, now: float) -> Workload:
    """Return it with the condition Admitted that reservation and checks ask for (SyncAdmittedCondition)."""
    has_reservation = workload.has(QUOTA_RESERVED)
    is_ready = all(one.state == "Ready" for one in workload.checks.values())
    if workload.has(ADMITTED) == (has_reservation and is_ready):
        return workload
    if has_reservation and is_ready:
        return workload.set(ADMITTED, True, "Admitted", "The workload is admitted", now)
    since = workload.conditions[ADMITTED].at
    past = workload.past_execution_seconds + int(now - since)
    reason, message = _NOT_ADMITTED[has_reservation, is_ready]
    return replace(workload.set(ADMITTED, False, reason, message, now), past_execution_seconds=past)


_NOT_ADMITTED = {
    (False, False): (
        "NoReservationUnsatisfiedChecks",
        "The workload has no reservation and not all checks ready",
    ),
    (False, True): ("NoReservation", "The workload has no reservation"),
    (True, False): ("UnsatisfiedChecks", "The workload has not all checks ready"),
}


def evicted(workload: Workload, reason: str, message: str, now: float) -> Workload:
    """Return it evicted, its admission checks reset."""
    checks = {name: _reset(one) for name, one in workload.checks.items()}
    return replace(workload, checks=checks, unhealthy=()).set(EVICTED, True, reason, message, now)


def _reset(check: CheckState) -> CheckState:
    if check.state == "Pending":
        return check
    return CheckState("Pending", f"Reset to Pending after eviction. Previously: {check.state}")


def returned(workload: Workload, now: float) -> Workload:
    """Return an evicted Workload whose job has stopped: its quota is free, and it may queue again."""
    why = workload.conditions[EVICTED]
    queues = why.reason in ("Preempted", "NodeFailures")
    out = workload.set(REQUEUED, queues, why.reason, why.message, now)
    return unreserved(out, "Pending", why.message, now)


def due_checks(queue: ClusterQueue, workload: Workload) -> set[str]:
    """Return the admission checks of a queue that a Workload needs (AdmissionChecksForWorkload)."""
    if not any(queue.checks.values()):
        return set(queue.checks)
    if workload.admission is None:
        return set()
    assigned = {flavor for one in workload.admission.pod_sets for flavor in one.flavors.values()}
    return {name for name, flavors in queue.checks.items() if not flavors or assigned & set(flavors)}


def with_checks(workload: Workload, names: set[str]) -> Workload:
    """Return it with exactly these admission checks; new ones are pending."""
    checks: Mapping[str, CheckState] = {
        name: workload.checks.get(name) or CheckState() for name in sorted(names)
    }
    return workload if checks == dict(workload.checks) else replace(workload, checks=checks)
