"""What the scheduler writes to a pod whose attempt failed: its condition and its nomination."""

from __future__ import annotations

from typing import Any

from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.state import ClusterState, key_of

CONDITION = "PodScheduled"


def write_failure(cluster: ClusterState, attempt: PodAttempt, *, error: bool) -> ObjectWrite | None:
    """Patch the pod's status after a failed attempt (handleSchedulingFailure); None if nothing changes."""
    stored = cluster.objects["Pod"].get(attempt.pod.key)
    if stored is None:
        return None
    condition = {
        "type": CONDITION,
        "status": "False",
        "reason": "SchedulerError" if error else "Unschedulable",
        "message": attempt.message or "",
    }
    return write_status(cluster, stored, condition, attempt.nominated)


def write_status(
    cluster: ClusterState, stored: Manifest, condition: dict[str, Any] | None, nominated: str | None
) -> ObjectWrite | None:
    """Patch a pod's condition and nomination; ``nominated`` None leaves the nomination as it is."""
    status = dict(stored.get("status") or {})
    conditions = list(status.get("conditions") or ())
    changed = False
    if condition is not None and not any(_same(row, condition) for row in conditions):
        conditions = [row for row in conditions if row.get("type") != condition["type"]]
        status["conditions"] = [*conditions, condition]
        changed = True
    if nominated is not None and (status.get("nominatedNodeName") or "") != nominated:
        status.pop("nominatedNodeName", None)
        if nominated:
            status["nominatedNodeName"] = nominated
        changed = True
    if not changed:
        return None
    meta = stored["metadata"]
    pod = cluster.pods.get(key_of("Pod", meta.get("namespace"), meta["name"]))
    return cluster.replace({**stored, "status": status}, like=pod)


def _same(row: Manifest, condition: dict[str, Any]) -> bool:
    return all(row.get(key) == value for key, value in condition.items())


def disrupted(victim: Manifest) -> ObjectWrite:
    """Return the patch of a victim's conditions that goes before its deletion, which alone is stored."""
    status = dict(victim.get("status") or {})
    status["conditions"] = [*(status.get("conditions") or ()), _TARGET]
    meta = victim["metadata"]
    key = key_of("Pod", meta.get("namespace"), meta["name"])
    return ObjectWrite("Pod", key, victim, {**victim, "status": status})


_TARGET = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
