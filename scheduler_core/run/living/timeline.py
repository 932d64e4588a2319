"""What happens in a life, by second: the record's timeline, from the writes at the API server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from scheduler_core.cluster.v1_37.daemon_nodes import target_of
from scheduler_core.cluster.v1_37.deployment_sizes import REVISION
from scheduler_core.cluster.v1_37.job_pods import INDEX
from scheduler_core.cluster.v1_37.kubelet import MIRROR
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    condition_of,
    controller_of,
    is_deleting,
    is_finished,
    is_ready,
    key_in,
    labels_of,
    namespace_of,
    node_of,
    phase_of,
    ready_status,
    spec_of,
    status_of,
    taints_of,
    uid_of,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite
from scheduler_core.run.plane.reasons import REFUSED

_ORDER = ("revision", "node", "reason", "by", "replicas", "from", "message")
_REPORTED = ("NewReplicaSetAvailable", "ProgressDeadlineExceeded")
Entry = dict[str, Any]


class Timeline:
    """The entries of a life so far; an observer of the API server that comes before all others."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.entries: Counter[tuple[tuple[str, Any], ...]] = Counter()
        self.labels: dict[str, Entry] = {}
        """By uid: what entries say about a pod, also after it was adopted or orphaned."""
        self._ran: set[str] = set()
        self._failed: set[str] = set()
        for pod in server.of_kind("Pod"):
            self._note_past(pod)

    def add(self, what: str, **fields: Any) -> None:
        """Add an entry at this second; fields that are ``None`` or "" are left out."""
        entry: Entry = {"time": round(self.server.loop.now), "what": what}
        entry |= {key: value for key, value in fields.items() if value not in (None, "")}
        self.entries[tuple(sorted(entry.items()))] += 1

    def document(self) -> list[Entry]:
        """Return the entries as the record has them, equal ones counted."""
        found = [
            {**dict(entry), "count": count} if count > 1 else dict(entry)
            for entry, count in self.entries.items()
        ]
        return sorted(found, key=_order)

    def observe(self, write: StoredWrite) -> None:
        """Add what a write shows, or an eviction came to that a budget refused."""
        if write.outcome is not None and write.outcome.reason == REFUSED:
            self._add(write.new or {}, "refused", message=write.outcome.message)
        see = self._seen.get(write.kind)
        if see is not None:
            see(self, write)

    def _note_past(self, pod: Manifest) -> None:
        """Note what entries would have said about a pod of a cluster that runs."""
        self.about(pod)
        if phase_of(pod) == "Running":
            self._ran.add(uid_of(pod))
        if _is_unschedulable(pod):
            self._failed.add(uid_of(pod))

    def _top(self, obj: Manifest) -> str:
        """Return ``Kind/namespace/name`` of the controller at an object's top."""
        owner, namespace = None if MIRROR in annotations_of(obj) else controller_of(obj), namespace_of(obj)
        if owner is None:
            return f"{obj['kind']}/{namespace}/{obj['metadata']['name']}"
        found = self.server.get(owner["kind"], key_in(owner["kind"], namespace, owner["name"]))
        return f"{owner['kind']}/{namespace}/{owner['name']}" if found is None else self._top(found)

    # --- pods

    def about(self, pod: Manifest) -> Entry:
        """Return what an entry says about a pod: workload, index, revision, node."""
        uid = uid_of(pod)
        found = self.labels.get(uid)
        if found is None:
            found = self.labels[uid] = {"index": _index(pod), "workload": self._top(pod)}
        return {
            **found,
            "revision": self._revision(pod),
            "node": target_of(pod) if _is_daemon(pod) else node_of(pod),
        }

    def _revision(self, pod: Manifest) -> Any:
        owner = controller_of(pod)
        if owner is None:
            return None
        if owner["kind"] == "ReplicaSet":
            found = self.server.get("ReplicaSet", key_in("ReplicaSet", namespace_of(pod), owner["name"]))
            known = self.labels[uid_of(pod)]
            if found is not None:
                known["_revision"] = annotations_of(found).get(REVISION)
            return known.get("_revision")
        name = labels_of(pod).get("controller-revision-hash")
        if name is None:
            return None
        prefixed = name if owner["kind"] == "StatefulSet" else f"{owner['name']}-{name}"
        found = self.server.get("ControllerRevision", f"{namespace_of(pod)}/{prefixed}")
        known = self.labels[uid_of(pod)]
        if found is not None:
            known["_revision"] = str(found["revision"])
        return known.get("_revision")

    def _pod(self, write: StoredWrite) -> None:
        old, new = write.old, write.new
        if old is None:
            assert new is not None
            self._add(new, "created")
            if node_of(new):
                self._add(new, "bound")
            return
        if new is None:
            if not is_deleting(old):
                self._deleting(old, write.by)
            self._add(old, "deleted")
            return
        if not node_of(old) and node_of(new):
            self._add(new, "bound")
        if not is_deleting(old) and is_deleting(new):
            self._deleting(new, write.by)
        self._conditions(old, new, write.by)

    def _add(self, pod: Manifest, what: str, **fields: Any) -> None:
        about = {key: value for key, value in self.about(pod).items() if not key.startswith("_")}
        if not node_of(pod) and what not in ("created", "bound", "unschedulable", "deleting", "deleted"):
            about.pop("node")
        self.add(what, **{**about, **fields})

    def _deleting(self, pod: Manifest, by: str) -> None:
        if by == "scheduler":
            self._add(pod, "preempted")
        elif by in ("tainteviction", "api"):
            self._add(pod, "evicted", by="taint" if by == "tainteviction" else by)
        else:
            self._add(pod, "deleting", by=by)

    def _conditions(self, old: Manifest, new: Manifest, by: str) -> None:
        uid = uid_of(new)
        if uid not in self._failed and _is_unschedulable(new):
            self._failed.add(uid)
            self._add(new, "unschedulable", message=(condition_of(new, "PodScheduled") or {})["message"])
        before, after = (status_of(pod).get("nominatedNodeName") or "" for pod in (old, new))
        if after and after != before:
            self._add(new, "nominated", node=after)
        elif before and not after and not node_of(new):
            self._add(new, "unnominated", node=before)
        if is_finished(new) and not is_finished(old):
            if not is_deleting(new):
                self._add(new, "finished", reason=phase_of(new))
        elif phase_of(new) == "Running" and is_ready(new) != is_ready(old) and not is_deleting(new):
            self._readiness(new, by)

    def _readiness(self, pod: Manifest, by: str) -> None:
        if not is_ready(pod):
            self._add(pod, "notready", by=by)
        else:
            self._add(pod, "ready" if uid_of(pod) in self._ran else "running")
            self._ran.add(uid_of(pod))

    # --- workloads

    def _replica_set(self, write: StoredWrite) -> None:
        old, new = write.old, write.new
        one = new or old
        assert one is not None
        before, after = (0 if obj is None else spec_of(obj)["replicas"] for obj in (old, new))
        owner = controller_of(one)
        if after == before or owner is None or owner["kind"] != "Deployment":
            return
        workload = f"Deployment/{namespace_of(one)}/{owner['name']}"
        fields = {"from": before, "replicas": after, "revision": annotations_of(one).get(REVISION)}
        self.add("scaled", workload=workload, **fields)

    def _deployment(self, write: StoredWrite) -> None:
        reasons = [
            (condition_of(obj, "Progressing") or {}).get("reason") if obj is not None else None
            for obj in (write.old, write.new)
        ]
        if reasons[1] in _REPORTED and reasons[0] != reasons[1]:
            self.add("progress", workload=f"Deployment/{write.key}", reason=reasons[1])

    def _job(self, write: StoredWrite) -> None:
        old, new = write.old, write.new
        workload = f"Job/{write.key}"
        if new is None:
            self.add("job-deleted", workload=workload, by=write.by)
        if new is None:
            return
        if old is None:
            owner = controller_of(new)
            if owner is not None and owner["kind"] == "CronJob":
                self.add("job-created", workload=f"CronJob/{namespace_of(new)}/{owner['name']}")
        for row in status_of(new).get("conditions") or ():
            known = condition_of(old, row["type"]) if old is not None else None
            if known is None or known["status"] != row["status"]:
                self.add(
                    "condition", workload=workload, reason=f"{row['type']}={row['status']} {row['reason']}"
                )

    def _budget(self, write: StoredWrite) -> None:
        if write.new is None:
            return
        before = status_of(write.old).get("disruptionsAllowed") if write.old is not None else None
        after = status_of(write.new).get("disruptionsAllowed")
        if after is not None and after != before:
            self.add("budget", workload=f"PodDisruptionBudget/{write.key}", replicas=after)

    # --- nodes and claims

    def _node(self, write: StoredWrite) -> None:
        old, new, node = write.old, write.new, write.key
        if new is None:
            self.add("node-deleted", node=node)
            return
        if old is None:
            if self.server.loop.now > 0.5:
                self.add("node-created", node=node)
        elif ready_status(old) != ready_status(new):
            self.add("node-ready", node=node, reason=ready_status(new))
        before, after = (_taints(obj) for obj in (old, new))
        for taint in after - before:
            self.add("tainted", node=node, reason=taint)
        for taint in before - after:
            self.add("untainted", node=node, reason=taint)

    def _claim(self, write: StoredWrite) -> None:
        phases = [status_of(obj).get("phase") if obj is not None else None for obj in (write.old, write.new)]
        if phases[1] == "Bound" != phases[0]:
            self.add("claim-bound", workload=f"PersistentVolumeClaim/{write.key}")

    _seen: ClassVar[dict[str, Any]] = {
        "Pod": _pod,
        "ReplicaSet": _replica_set,
        "Deployment": _deployment,
        "Job": _job,
        "PodDisruptionBudget": _budget,
        "Node": _node,
        "PersistentVolumeClaim": _claim,
    }


def _is_daemon(pod: Manifest) -> bool:
    return (controller_of(pod) or {}).get("kind") == "DaemonSet"


def _is_unschedulable(pod: Manifest) -> bool:
    row = condition_of(pod, "PodScheduled") or {}
    return row.get("reason") == "Unschedulable" and row.get("status") == "False"


def _order(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    others = (str(entry.get(field, "")) for field in _ORDER)
    return entry["time"], entry["what"], entry.get("workload", ""), entry.get("index", -1), *others


def _taints(node: Manifest | None) -> set[str]:
    return set() if node is None else {taint_text(one) for one in taints_of(node)}


def taint_text(taint: Mapping[str, Any]) -> str:
    """Return ``key=value:effect``."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def _index(pod: Manifest) -> Any:
    owner = controller_of(pod)
    if owner is None:
        return None
    written = pod["metadata"]["name"].rpartition("-")[2] if owner["kind"] == "StatefulSet" else ""
    written = annotations_of(pod).get(INDEX, "") if owner["kind"] == "Job" else written
    return int(written) if written.isdecimal() else None
