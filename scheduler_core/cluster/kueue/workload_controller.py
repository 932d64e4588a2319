"""What the Workload controller writes when it looks at a Workload (workload_controller.Reconcile)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from scheduler_core.cluster.kueue.cache import Cache
from scheduler_core.cluster.kueue.status import (
    admission_synced,
    due_checks,
    evicted,
    unreserved,
    with_checks,
)
from scheduler_core.cluster.kueue.workload import (
    ADMITTED,
    DEACTIVATION_TARGET,
    EVICTED,
    FINISHED,
    QUOTA_RESERVED,
    REQUEUED,
    Workload,
)

Tell = Callable[[str, str, str], None]
"""Records an event of the Workload: type, reason, message."""

RESTARTED = {
    "ClusterQueueStopped": ("ClusterQueueRestarted", "The ClusterQueue was restarted after being stopped"),
    "LocalQueueStopped": ("LocalQueueRestarted", "The LocalQueue was restarted after being stopped"),
}


def reconciled(workload: Workload, cache: Cache, now: float, tell: Tell) -> Workload:
    """Return a Workload after one write of its controller, or as it is if there is nothing to write."""
    if workload.has(FINISHED):
        return workload
    for step in _STEPS:
        written = step(workload, cache, now, tell)
        if written != workload:
            return written
    return workload


def deadline_of(workload: Workload) -> float | None:
    """Return when the controller is to look again without a write: a backoff or the execution time ends."""
    if workload.has(FINISHED) or not workload.active:
        return None
    if workload.requeue_at is not None and workload.lacks(REQUEUED):
        return workload.requeue_at
    if workload.max_execution_seconds is not None and workload.has(ADMITTED):
        left = workload.max_execution_seconds - workload.past_execution_seconds
        return workload.conditions[ADMITTED].at + left
    return None


def _activity(workload: Workload, cache: Cache, now: float, tell: Tell) -> Workload:
    return _resumed(workload, cache, now) if workload.active else _deactivated(workload, now, tell)


def _resumed(workload: Workload, cache: Cache, now: float) -> Workload:
    """Let a Workload queue again whose reason to stay away is over."""
    held = workload.conditions.get(REQUEUED)
    if held is None or held.status:
        return workload
    if held.reason in RESTARTED:
        if _stop_policy(workload, cache, held.reason) != "None":
            return workload
        return workload.set(REQUEUED, True, *RESTARTED[held.reason], now)
    if held.reason.startswith("Deactivated"):
        return workload.set(REQUEUED, True, "Reactivated", "The workload was reactivated", now)
    if held.reason in ("AdmissionCheck", "PodsReadyTimeout"):
        if workload.requeue_at is not None and workload.requeue_at > now:
            return workload
        out = replace(workload, requeue_at=None)
        return out.set(REQUEUED, True, "BackoffFinished", "The workload backoff was finished", now)
    return workload


def _stop_policy(workload: Workload, cache: Cache, reason: str) -> str:
    local = cache.local_queues.get(workload.queue_key)
    if reason == "LocalQueueStopped":
        return local.stop_policy if local else "Hold"
    queue = cache.queues.get(cache.queue_of(workload))
    return queue.stop_policy if queue else "Hold"


def _deactivated(workload: Workload, now: float, tell: Tell) -> Workload:
    out = replace(workload, requeue_at=None).without(DEACTIVATION_TARGET)
    if workload.has(EVICTED):
        return out if out != workload else workload
    reason, message = "Deactivated", "The workload is deactivated"
    target = workload.conditions.get(DEACTIVATION_TARGET)
    if target is not None:
        reason, message = f"DeactivatedDueTo{target.reason}", f"{message} due to {target.message}"
    if workload.admission is not None:
        tell("Normal", f"EvictedDueTo{reason}", message)
    return evicted(out, reason, message, now)


def _checks(workload: Workload, cache: Cache, now: float, tell: Tell) -> Workload:
    del now, tell
    local = cache.local_queues.get(workload.queue_key)
    name = cache.queue_of(workload) if local is not None and local.stop_policy == "None" else ""
    return with_checks(workload, due_checks(cache.queues[name], workload)) if name else workload


def _admission(workload: Workload, cache: Cache, now: float, tell: Tell) -> Workload:
    if workload.has(ADMITTED) or (workload.has(EVICTED) and workload.has(QUOTA_RESERVED)):
        return workload
    name = cache.queue_of(workload)
    if name and not due_checks(cache.queues[name], workload) <= set(workload.checks):
        return workload
    out = admission_synced(workload, now)
    if out.has(ADMITTED) and workload.admission is not None:
        waited = now - workload.conditions[QUOTA_RESERVED].at
        tell("Normal", "Admitted", admitted_text(workload.admission.cluster_queue, waited))
    return out


def admitted_text(queue: str, waited: float) -> str:
    """Return the message of the event Admitted; ``waited`` is in seconds."""
    return f"Admitted by ClusterQueue {queue}, wait time since reservation was {waited:.0f}s"


def _evictions(workload: Workload, cache: Cache, now: float, tell: Tell) -> Workload:
    if not workload.has(QUOTA_RESERVED) or workload.has(EVICTED):
        return workload
    for step in (_by_checks, _by_local_queue, _by_cluster_queue, _by_execution_time):
        out = step(workload, cache, now, tell)
        if out != workload:
            return out
    return workload


def _by_checks(workload: Workload, cache: Cache, now: float, tell: Tell) -> Workload:
    del cache
    rejected = {name: one for name, one in workload.checks.items() if one.state == "Rejected"}
    if rejected:
        names = sorted(rejected)
        text = ", ".join(f"{name} was Rejected: {rejected[name].message}" for name in names)
        tell("Warning", "AdmissionCheckRejected", f"Deactivating workload because AdmissionCheck for {text}")
        target = f"Admission check(s): {','.join(names)}, were rejected"
        return _to_deactivate(workload, "AdmissionCheck", target, now)
    if any(one.state == "Retry" for one in workload.checks.values()):
        return _evict(workload, "AdmissionCheck", "At least one admission check is false", now, tell)
    return workload


def _to_deactivate(workload: Workload, reason: str, message: str, now: float) -> Workload:
    return replace(workload, active=False).set(DEACTIVATION_TARGET, True, reason, message, now)


def _evict(workload: Workload, reason: str, message: str, now: float, tell: Tell) -> Workload:
    tell("Normal", f"EvictedDueTo{reason}", message)
    return evicted(workload, reason, message, now)


def _by_local_queue(workload: Workload, cache: Cache, now: float, tell: Tell) -> Workload:
    local = cache.local_queues.get(workload.queue_key)
    policy = local.stop_policy if local else "None"
    return _by_stop(workload, policy, "LocalQueue", workload.queue, now, tell)


def _by_cluster_queue(workload: Workload, cache: Cache, now: float, tell: Tell) -> Workload:
    name = cache.queue_of(workload)
    policy = cache.queues[name].stop_policy if name else "None"
    return _by_stop(workload, policy, "ClusterQueue", name, now, tell)


def _by_stop(workload: Workload, policy: str, kind: str, name: str, now: float, tell: Tell) -> Workload:
    if workload.has(ADMITTED):
        if policy != "HoldAndDrain":
            return workload
        return _evict(workload, f"{kind}Stopped", f"The {kind} is stopped", now, tell)
    if policy == "None":
        return workload
    return unreserved(workload, "Inadmissible", f"{kind} {name} is stopped", now)


def _by_execution_time(workload: Workload, cache: Cache, now: float, tell: Tell) -> Workload:
    del cache
    most, deadline = workload.max_execution_seconds, deadline_of(workload)
    if most is None or deadline is None or deadline > now:
        return workload
    message = f"The maximum execution time ({most}s) exceeded"
    tell("Warning", "MaximumExecutionTimeExceeded", message)
    target = "exceeding the maximum execution time"
    return _to_deactivate(workload, "MaximumExecutionTimeExceeded", target, now)


def _hindrance(workload: Workload, cache: Cache, now: float, tell: Tell) -> Workload:
    """Say why a Workload without reservation cannot be admitted by its queues."""
    del tell
    if workload.has(QUOTA_RESERVED):
        return workload
    local = cache.local_queues.get(workload.queue_key)
    if local is None:
        message = f"LocalQueue {workload.queue} doesn't exist"
    elif local.stop_policy != "None":
        message = f"LocalQueue {workload.queue} is inactive"
    elif local.cluster_queue not in cache.queues:
        message = f"ClusterQueue {local.cluster_queue} doesn't exist"
    elif not cache.is_active(local.cluster_queue):
        message = f"ClusterQueue {local.cluster_queue} is inactive"
    else:
        return workload
    return unreserved(workload, "Inadmissible", message, now)


_STEPS = (_activity, _checks, _admission, _evictions, _hindrance)


def is_stopping(workload: Workload) -> bool:
    """Return whether a Workload is evicted and its job is to stop."""
    return workload.has(EVICTED) and workload.has(QUOTA_RESERVED) and not workload.has(FINISHED)
