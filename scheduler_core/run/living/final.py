"""What a life ends with: the record's final, from the objects at the API server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from scheduler_core.cluster.v1_37.deployment_sizes import REVISION, revision_of
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    condition_of,
    controller_of,
    is_deleting,
    is_finished,
    is_ready,
    key_in,
    key_of,
    namespace_of,
    node_of,
    phase_of,
    ready_status,
    spec_of,
    status_of,
    taints_of,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.run.living.timeline import Timeline, taint_text

_COUNTS: dict[str, dict[str, str]] = {
    "Deployment": {
        "available": "availableReplicas",
        "ready": "readyReplicas",
        "replicas": "replicas",
        "updated": "updatedReplicas",
    },
    "ReplicaSet": {"available": "availableReplicas", "ready": "readyReplicas", "replicas": "replicas"},
    "StatefulSet": {
        "available": "availableReplicas",
        "current": "currentReplicas",
        "ready": "readyReplicas",
        "replicas": "replicas",
        "updated": "updatedReplicas",
    },
    "DaemonSet": {
        "available": "numberAvailable",
        "current": "currentNumberScheduled",
        "misscheduled": "numberMisscheduled",
        "ready": "numberReady",
        "unavailable": "numberUnavailable",
        "updated": "updatedNumberScheduled",
    },
    "Job": {"active": "active", "failed": "failed", "succeeded": "succeeded"},
}
"""The counts of each kind's status, and their fields."""

_OPTIONAL = {
    "terminating": "terminating",
    "completedIndexes": "completedIndexes",
    "failedIndexes": "failedIndexes",
}
_BUDGET = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")
Facts = dict[str, Any]


def final(server: ApiServer, timeline: Timeline, drains: list[Facts], time: float) -> Facts:
    """Return the record's ``final`` at a time."""
    out: Facts = {
        "time": round(time),
        "workloads": dict(sorted(_workloads(server, timeline).items())),
        "nodes": {node["metadata"]["name"]: _node(server, node) for node in server.of_kind("Node")},
    }
    budgets = {key_of(one): _budget(one) for one in server.of_kind("PodDisruptionBudget")}
    claims = {
        key_of(one): spec_of(one).get("volumeName") or "" for one in server.of_kind("PersistentVolumeClaim")
    }
    for name, found in (("budgets", budgets), ("claims", claims), ("drains", drains)):
        if found:
            out[name] = found
    return out


def _workloads(server: ApiServer, timeline: Timeline) -> dict[str, Facts]:
    pods: dict[str, list[Manifest]] = {}
    for pod in server.of_kind("Pod"):
        pods.setdefault(timeline.about(pod)["workload"], []).append(pod)
    found = {name: _pods(timeline, listed) for name, listed in pods.items()}
    for kind in _COUNTS:
        for obj in server.of_kind(kind):
            if kind == "ReplicaSet" and _is_of_deployment(server, obj):
                continue
            name = f"{kind}/{key_of(obj)}"
            found[name] = {**found.get(name, {"pods": 0, "ready": 0}), **_workload(server, obj)}
    return found


def _is_of_deployment(server: ApiServer, one: Manifest) -> bool:
    owner = controller_of(one)
    return (
        owner is not None
        and server.get(owner["kind"], key_in(owner["kind"], namespace_of(one), owner["name"])) is not None
    )


def _pods(timeline: Timeline, pods: Iterable[Manifest]) -> Facts:
    listed = list(pods)
    live = [pod for pod in listed if not is_finished(pod)]
    active = [pod for pod in live if not is_deleting(pod)]
    out: Facts = {"pods": len(active), "ready": sum(map(is_ready, active))}
    finished = Counter(phase_of(pod) for pod in listed if is_finished(pod) and not is_deleting(pod))
    terminating = sum(is_deleting(pod) for pod in listed)
    indexes = {str(i): node_of(pod) for pod in live if (i := timeline.about(pod)["index"]) is not None}
    pending = Counter(_why_pending(pod) for pod in active if not node_of(pod))
    nodes = Counter(node_of(pod) for pod in live if node_of(pod))
    parts = {"terminating": terminating, "finished": dict(finished), "nodes": dict(nodes), "indexes": indexes}
    out |= {name: part for name, part in {**parts, "pending": dict(pending)}.items() if part}
    return out


def _why_pending(pod: Manifest) -> str:
    return str((condition_of(pod, "PodScheduled") or {}).get("message") or "")


def _workload(server: ApiServer, obj: Manifest) -> Facts:
    kind, status = obj["kind"], status_of(obj)
    counts: Facts = {name: status.get(field) or 0 for name, field in _COUNTS[kind].items()}
    counts |= {
        name: status[field] for name, field in _OPTIONAL.items() if kind == "Job" and status.get(field)
    }
    desired = _desired(obj)
    out: Facts = {"status": counts} if desired is None else {"desired": desired, "status": counts}
    if kind == "StatefulSet":
        for field in ("currentRevision", "updateRevision"):
            counts[field] = _number(server, obj, status.get(field) or "")
    if kind == "Deployment":
        sets = sorted(server.controlled(obj, "ReplicaSet"), key=revision_of)
        out["revisions"] = [_revision(one) for one in sets]
    rows = status.get("conditions") or ()
    conditions = {row["type"]: f"{row['status']} {row.get('reason', '')}".strip() for row in rows}
    return {**out, "conditions": conditions} if conditions else out


def _desired(obj: Manifest) -> int | None:
    spec = spec_of(obj)
    if obj["kind"] == "DaemonSet":
        return int(status_of(obj).get("desiredNumberScheduled") or 0)
    if obj["kind"] == "Job":
        return spec.get("completions")
    return int(spec["replicas"])


def _number(server: ApiServer, owner: Manifest, name: str) -> str:
    found = server.get("ControllerRevision", f"{namespace_of(owner)}/{name}")
    return "" if found is None else str(found["revision"])


def _revision(one: Manifest) -> Facts:
    status = status_of(one)
    return {
        "revision": annotations_of(one).get(REVISION, ""),
        "image": spec_of(spec_of(one)["template"])["containers"][0].get("image", ""),
        "replicas": spec_of(one)["replicas"],
        "ready": status.get("readyReplicas") or 0,
        "available": status.get("availableReplicas") or 0,
    }


def _budget(budget: Manifest) -> Facts:
    return {field: status_of(budget).get(field) or 0 for field in _BUDGET}


def _node(server: ApiServer, node: Manifest) -> Facts:
    pods = [pod for pod in server.pods_of_node(node["metadata"]["name"]) if not is_finished(pod)]
    out: Facts = {"ready": ready_status(node), "pods": len(pods)}
    if spec_of(node).get("unschedulable"):
        out["unschedulable"] = True
    if taints := sorted(map(taint_text, taints_of(node))):
        out["taints"] = taints
    return out
