"""A Deployment's status: counts, availability, and progress (``deployment/progress.go``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.cluster.v1_37.deployment_sizes import fenceposts, total
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_in,
    generation,
    second,
    spec_of,
    stamp,
    status_of,
)

DEADLINE_NEVER = 2**31 - 1
AVAILABLE, PROGRESSING, FAILURE = "Available", "Progressing", "ReplicaFailure"
Status = dict[str, Any]


def _sum(statuses: Sequence[Status], field: str) -> int:
    total = 0
    for one in statuses:
        total += one.get(field) or 0
    return total


def _condition(
    kind: str, now: float, status: str, reason: str, known: dict[str, Any] | None = None
) -> dict[str, Any]:
    at = stamp(now)
    since = known["lastTransitionTime"] if known and known["status"] == status else at
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "lastUpdateTime": at,
        "lastTransitionTime": since,
    }


def progressing(now: float, status: str, reason: str, known: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a condition Progressing; ``known`` is the one before."""
    return _condition(PROGRESSING, now, status, reason, known)


def _set(conditions: Sequence[dict[str, Any]], row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return conditions with one set, unless its status and reason are known (SetDeploymentCondition)."""
    known = condition_in(conditions, row["type"])
    if known is not None and known["status"] == row["status"] and known["reason"] == row["reason"]:
        return list(conditions)
    return [*(one for one in conditions if one["type"] != row["type"]), row]


def next_status(owner: Manifest, everyone: Sequence[Manifest], new: Manifest | None, now: float) -> Status:
    """Return the status but for the progress (calculateStatus)."""
    statuses = [status_of(one) for one in everyone]
    available = _sum(statuses, "availableReplicas")
    status: Status = {
        "observedGeneration": generation(owner),
        "replicas": _sum(statuses, "replicas"),
        "updatedReplicas": _sum([status_of(new)] if new is not None else [], "replicas"),
        "readyReplicas": _sum(statuses, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, total(everyone) - available),
        "terminatingReplicas": _sum(statuses, "terminatingReplicas"),
    }
    if (collisions := status_of(owner).get("collisionCount")) is not None:
        status["collisionCount"] = collisions
    conditions = status_of(owner).get("conditions") or []
    least = spec_of(owner)["replicas"] - fenceposts(owner)[1]
    enough = available >= least
    reason = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
    known = condition_in(conditions, AVAILABLE)
    row = _condition(AVAILABLE, now, "True" if enough else "False", reason, known)
    return {**status, "conditions": _set(conditions, row)}


def is_complete(owner: Manifest, status: Status) -> bool:
    """Return whether all replicas are updated and available, and no others are left (DeploymentComplete)."""
    wanted = spec_of(owner)["replicas"]
    counts = [status.get(field) or 0 for field in ("updatedReplicas", "replicas", "availableReplicas")]
    return counts == [wanted] * 3 and (status.get("observedGeneration") or 0) >= generation(owner)


def _progresses(before: Status, after: Status) -> bool:
    def old(status: Status) -> int:
        return int((status.get("replicas") or 0) - (status.get("updatedReplicas") or 0))

    fields = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return old(after) < old(before) or any((after.get(f) or 0) > (before.get(f) or 0) for f in fields)


def rollout_status(owner: Manifest, everyone: Sequence[Manifest], new: Manifest | None, now: float) -> Status:
    """Return the status with its condition Progressing (syncRolloutStatus)."""
    status = next_status(owner, everyone, new, now)
    conditions = status["conditions"]
    deadline = spec_of(owner).get("progressDeadlineSeconds", DEADLINE_NEVER)
    if deadline == DEADLINE_NEVER:
        return {**status, "conditions": [one for one in conditions if one["type"] != PROGRESSING]}
    known = condition_in(status_of(owner).get("conditions") or (), PROGRESSING)
    done = known is not None and known["reason"] == "NewReplicaSetAvailable"
    if status["replicas"] == status["updatedReplicas"] and done:
        return status
    if is_complete(owner, status):
        conditions = _set(conditions, progressing(now, "True", "NewReplicaSetAvailable", known))
    elif _progresses(status_of(owner), status):
        row = progressing(now, "True", "ReplicaSetUpdated", known)
        conditions = [*(one for one in conditions if one["type"] != PROGRESSING), row]
    elif known is not None and not done and _is_over(known, deadline, now):
        conditions = _set(conditions, progressing(now, "False", "ProgressDeadlineExceeded", known))
    return {**status, "conditions": conditions}


def with_failure(status: Status, everyone: Sequence[Manifest], new: Manifest | None) -> Status:
    """Return a status with the failure of the new set, else of an old one (getReplicaFailures)."""
    row = None
    for one in [*([new] if new is not None else []), *everyone]:
        row = row or condition_in(status_of(one).get("conditions") or (), FAILURE)
    if row is None:
        return {**status, "conditions": [one for one in status["conditions"] if one["type"] != FAILURE]}
    failure = {**row, "lastUpdateTime": row["lastTransitionTime"]}
    return {**status, "conditions": _set(status["conditions"], failure)}


def _is_over(known: dict[str, Any], deadline: int, now: float) -> bool:
    return known["reason"] == "ProgressDeadlineExceeded" or second(known["lastUpdateTime"]) + deadline < now
