"""The cluster: objects as the API server would store them, and the columns that follow them.

Writes go to the objects and return a :class:`ObjectWrite`; assumptions (a pod reserved on a node, a volume or
devices reserved for a claim) are kept next to the objects until they are written or taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from sys import intern
from typing import Any, ClassVar

import numpy as np

from scheduler_core.forks import Copier, Forkable, emptied, flat, nested, same
from scheduler_core.formats.patch import apply_patch
from scheduler_core.interrupts import look
from scheduler_core.schedulers.columns import placements
from scheduler_core.schedulers.columns.pairs import counted
from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.nodes import NodeTable
from scheduler_core.schedulers.v1_37.pod_log import PodLog
from scheduler_core.schedulers.v1_37.podclasses import PodClasses
from scheduler_core.schedulers.v1_37.podgroups import group_key
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import UNCONFIGURED, CompiledConfiguration
from scheduler_core.schedulers.v1_37.selector_counts import SelectedPods

CLUSTER_SCOPED = frozenset((
    "Namespace", "Node", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment",
    "DeviceClass", "ResourceSlice", "PriorityClass", "DeviceTaintRule",
))  # fmt: skip


def key_of(kind: str, namespace: str | None, name: str) -> str:
    """Return an object's key: its name, or ``namespace/name``."""
    return name if kind in CLUSTER_SCOPED else intern(f"{namespace or 'default'}/{name}")


def uid_of(manifest: Manifest) -> str:
    """Return an object's uid; without one it is made from kind, namespace and name."""
    meta, kind = manifest["metadata"], manifest["kind"]
    if meta.get("uid"):
        return str(meta["uid"])
    scope = "" if kind in CLUSTER_SCOPED else f"{meta.get('namespace') or 'default'}-"
    return f"uid-{kind.lower()}-{scope}{meta['name']}"


MAX_DERIVED = 512
SELECTING = frozenset({"ReplicationController", "ReplicaSet", "StatefulSet"})
"""Controllers of which nothing but the selector is read, by which their pods are spread."""


def _selects_alike(old: Manifest | None, new: Manifest) -> bool:
    return old is not None and _selector_of(old) == _selector_of(new)


def _selector_of(controller: Manifest) -> Any:
    return (controller.get("spec") or {}).get("selector")


class ClusterState(Forkable):
    """Objects, pods and node columns, always of one state."""

    FORKED: ClassVar[Mapping[str, Copier]] = {
        "configuration": same,
        "objects": nested,
        "pods": flat,
        "_absent": flat,
        "_groups": nested,
        "versions": flat,
        "_derived": emptied,
        "assumed_volumes": flat,
        "assumed_claims": flat,
        "assumed_devices": flat,
    }

    def __init__(self, configuration: CompiledConfiguration = UNCONFIGURED) -> None:
        self.configuration = configuration
        self.compiled = configuration.dialect.pod
        """Compiles a pod's manifest."""
        self.objects: dict[str, dict[str, Manifest]] = {}
        self.pods: dict[str, CompiledPod] = {}
        """Pods that are not finished, in order of creation; an assumed pod is here with its node."""
        self._last: CompiledPod | None = None
        """The pod that was compiled last."""
        self._absent: set[str] = set()
        self._groups: dict[str, dict[str, None]] = {}
        self.nodes = NodeTable()
        self.classes = PodClasses()
        self.log = PodLog()
        self.selected = SelectedPods(self.classes, self.log)
        self.versions: dict[str, int] = {}
        """Number of writes by kind."""
        self._derived: dict[Hashable, tuple[tuple[int, ...], Any]] = {}
        self.assumed_volumes: dict[str, Manifest] = {}
        """PersistentVolumes as reserved for claims, over the stored ones."""
        self.assumed_claims: dict[str, Manifest] = {}
        """PersistentVolumeClaims with a selected node, over the stored ones."""
        self.assumed_devices: dict[str, Mapping[str, Any]] = {}
        """Allocations of ResourceClaims that are in flight."""

    # Objects.

    def list(self, kind: str) -> Iterator[Manifest]:
        """Iterate over the objects of a kind in order of creation."""
        return iter(self.objects.get(kind, {}).values())

    def get(self, kind: str, namespace: str | None, name: str) -> Manifest | None:
        """Return a stored object."""
        return self.objects.get(kind, {}).get(key_of(kind, namespace, name))

    def create(self, manifest: Manifest) -> ObjectWrite:
        """Store a new object."""
        kind, meta = manifest["kind"], manifest["metadata"]
        key = key_of(kind, meta.get("namespace"), meta["name"])
        self._store(kind, key, manifest)
        return ObjectWrite(kind, key, None, manifest)

    def create_replicas(self, replicas: Iterable[tuple[Manifest, str]]) -> Iterator[CompiledPod]:
        """Store new pods that share all but their names and uids with waiting ones outside of PodGroups.

        ``replicas`` are manifests, each with the key of the pod that it is like.
        """
        stored = self.objects["Pod"]
        for manifest, like in replicas:
            pod = self.pods[like].replica(manifest)
            stored[pod.key] = manifest
            self.pods[pod.key] = pod
            self.versions["Pod"] += 1
            yield pod

    def replace(self, manifest: Manifest, *, like: CompiledPod | None = None) -> ObjectWrite:
        """Store a new state of an object. ``like``: a pod that differs in its node and conditions alone."""
        kind, meta = manifest["kind"], manifest["metadata"]
        key = key_of(kind, meta.get("namespace"), meta["name"])
        old = self.objects[kind][key]
        self._store(kind, key, manifest, like)
        return ObjectWrite(kind, key, old, manifest)

    def follow(self, kind: str, key: str, manifest: Manifest | None) -> None:
        """Store an object of a kind that no event is about as it is by now, ``None`` for a deleted one."""
        stored = self.objects.setdefault(kind, {})
        known = stored.get(key)
        if known is manifest:
            return
        if known is not None and (manifest is None or uid_of(known) != uid_of(manifest)):
            del stored[key]
            self.versions[kind] = self.versions.get(kind, 0) + 1
        if manifest is not None:
            self._store(kind, key, manifest)

    def patch(self, kind: str, namespace: str | None, name: str, patch: Mapping[str, Any]) -> ObjectWrite:
        """Apply a merge patch (RFC 7386) to a stored object. Raises KeyError if there is none."""
        key = key_of(kind, namespace, name)
        new = apply_patch(self.objects[kind][key], patch, "merge")
        return self.replace(new)

    def delete(self, kind: str, namespace: str | None, name: str) -> ObjectWrite:
        """Delete a stored object at once. Raises KeyError if there is none."""
        key = key_of(kind, namespace, name)
        old = self.objects[kind].pop(key)
        self.versions[kind] = self.versions.get(kind, 0) + 1
        if kind == "Pod":
            self._drop_pod(key)
        elif kind == "Node":
            self.nodes.remove(key)
        return ObjectWrite(kind, key, old, None)

    def _store(self, kind: str, key: str, manifest: Manifest, like: CompiledPod | None = None) -> None:
        stored = self.objects.setdefault(kind, {})
        if kind not in SELECTING or not _selects_alike(stored.get(key), manifest):
            self.versions[kind] = self.versions.get(kind, 0) + 1
        stored[key] = manifest
        if kind == "Pod":
            old = self.pods.get(key)
            if like is None and old is not None and old.node and old.holds_in(manifest):
                like = old
            self._put_pod(self._compiled(manifest) if like is None else like.rewritten(manifest), like)
        elif kind == "Node":
            self.nodes.put(manifest)

    def _compiled(self, manifest: Manifest) -> CompiledPod:
        """Return a pod, mostly a replica of the last one: a controller writes them one after the other."""
        last = self._last
        if last is not None and last.is_like(manifest):
            return last.replica(manifest)
        self._last = self.compiled(manifest)
        return self._last

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        """Return a namespace's labels; none if it is unknown."""
        found = self.objects.get("Namespace", {}).get(namespace)
        return (found["metadata"].get("labels") or {}) if found else {}

    def derived(self, kinds: tuple[str, ...], key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what is derived from objects of these kinds alone, recomputed after one was written."""
        state = tuple(self.versions.get(kind, 0) for kind in kinds)
        found = self._derived.get(key)
        if found is None or found[0] != state:
            if len(self._derived) >= MAX_DERIVED:
                self._derived.clear()
            found = self._derived[key] = state, make()
        return found[1]

    # Pods.

    def _put_pod(self, pod: CompiledPod, like: CompiledPod | None = None) -> None:
        look()
        old = self.pods.get(pod.key)
        if old is not None and old is like and pod.holds_as(old):
            self.pods[pod.key] = pod  # it was assumed there
            self.nodes.put_again(self.nodes.rows[pod.node], old, pod)
            return
        if old is not None and old.node:
            self._off(old)
        if pod.finished:
            self.pods.pop(pod.key, None)
            self._leave_group(pod)
            return
        self.pods[pod.key] = pod
        group = group_key(pod.manifest)
        if group is not None:
            self._groups.setdefault(group, {})[pod.key] = None
        if pod.node:
            self._on(pod)

    def _drop_pod(self, key: str) -> None:
        pod = self.pods.pop(key, None)
        if pod is None:
            return
        self._leave_group(pod)
        if pod.node:
            self._off(pod)

    def _leave_group(self, pod: CompiledPod) -> None:
        group = group_key(pod.manifest)
        if group is not None:
            self._groups.get(group, {}).pop(pod.key, None)

    def members(self, group: str) -> tuple[CompiledPod, ...]:
        """Return the pods of a PodGroup, bound and waiting, in order of creation."""
        return tuple(self.pods[key] for key in self._groups.get(group, ()))

    def _on(self, pod: CompiledPod) -> None:
        row = self.nodes.rows.get(pod.node)
        if row is None:
            row = self.nodes.unknown(pod.node)
        self.nodes.add_pod(row, pod)
        self.classes.change(row, pod, 1)
        self.log.append((row, pod, 1))

    def _off(self, pod: CompiledPod) -> None:
        row = self.nodes.rows[pod.node]
        self.nodes.remove_pod(row, pod)
        self.classes.change(row, pod, -1)
        self.log.append((row, pod, -1))

    def move_all(self, pods: Sequence[CompiledPod], rows: Sequence[int], sign: int) -> None:
        """Store waiting pods as they are once they are bound, in order; -1: bound ones as they waited.

        They hold nothing on the rows of their nodes but resources.
        """
        if len(pods) < placements.FEW:
            for pod in pods[::sign]:
                self._move(pod, sign)
            return
        keys = [pod.key for pod in pods]
        self.pods.update(zip(keys, pods))
        self.objects["Pod"].update(zip(keys, [pod.manifest for pod in pods]))
        self.versions["Pod"] += sign * len(pods)
        if sign > 0:
            self.nodes.list_all(pods, rows)
        else:
            self.nodes.unlist_all(rows)
        numbers: dict[int, int] = {}
        kinds = np.array([numbers.setdefault(id(pod.shared), len(numbers)) for pod in pods], np.int64)
        examples = dict(zip(kinds.tolist(), pods))
        for number, there, counts in counted(kinds, np.array(rows, np.int64), self.nodes.capacity):
            pod, changes = examples[number], sign * counts
            self.nodes.count_all(there, changes, pod)
            self.classes.change_all(there.tolist(), pod, changes.tolist())
        self.log.skip()

    def _move(self, pod: CompiledPod, sign: int) -> None:
        old = self.pods[pod.key]
        self.pods[pod.key], self.objects["Pod"][pod.key] = pod, pod.manifest
        self.versions["Pod"] += sign
        if sign > 0:
            self._on(pod)
        else:
            self._off(old)

    def assume(self, pod: CompiledPod, node: str) -> CompiledPod:
        """Count a waiting pod on a node without writing it; return the pod as assumed."""
        assumed = pod.placed(node)
        self.pods[pod.key] = assumed
        self._on(assumed)
        return assumed

    def forget(self, pod: CompiledPod) -> None:
        """Take an assumption back. ``pod`` is the pod as it was before."""
        self._off(self.pods[pod.key])
        self.pods[pod.key] = pod

    def forget_assumptions(self) -> None:
        """Count every pod and claim as it is stored."""
        for key in self._absent.copy():
            self.put_on(self.pods[key])
        for pod in [pod for pod in self.pods.values() if pod.manifest is not self.objects["Pod"][pod.key]]:
            self.replace(self.objects["Pod"][pod.key])
        for assumed in (self.assumed_volumes, self.assumed_claims, self.assumed_devices):
            assumed.clear()

    def take_off(self, pod: CompiledPod) -> None:
        """Leave an assigned pod out for a while, as if it were gone."""
        if pod.key not in self._absent:
            self._absent.add(pod.key)
            self._off(pod)

    def put_on(self, pod: CompiledPod) -> None:
        """Count a pod again that was left out."""
        if pod.key in self._absent:
            self._absent.discard(pod.key)
            self._on(pod)

    def present(self) -> Iterator[CompiledPod]:
        """Iterate over the pods but those left out."""
        return (pod for pod in self.pods.values() if pod.key not in self._absent)

    def bind(self, pod: CompiledPod, node: str, also: Mapping[str, Any] = {}) -> ObjectWrite:
        """Write a pod's node, and more of its status; binding clears its nomination."""
        return self.replace(self._bound(pod, node, also), like=self.pods.get(pod.key))

    def bound(self, pod: CompiledPod, node: str) -> CompiledPod:
        """Return a waiting pod as it is stored once it is bound to a node."""
        return pod.rewritten(self._bound(pod, node, {}))

    def _bound(self, pod: CompiledPod, node: str, also: Mapping[str, Any]) -> Manifest:
        stored = dict(self.objects["Pod"][pod.key])
        stored["spec"] = {**(stored.get("spec") or {}), "nodeName": node}
        status = {k: v for k, v in (stored.get("status") or {}).items() if k != "nominatedNodeName"}
        if "status" in stored or also:
            stored["status"] = {**status, **also}
        return stored

    def nominate(self, pod: CompiledPod, node: str) -> ObjectWrite:
        """Write or clear a pod's ``status.nominatedNodeName``."""
        stored = dict(self.objects["Pod"][pod.key])
        status = {k: v for k, v in (stored.get("status") or {}).items() if k != "nominatedNodeName"}
        if node:
            status["nominatedNodeName"] = node
        stored["status"] = status
        return self.replace(stored, like=self.pods.get(pod.key))

    @contextmanager
    def what_if(self, row: int) -> Iterator[NodeTable]:
        """Let the caller add and remove pods on a row, and restore it afterwards."""
        saved = self.nodes.save(row)
        try:
            yield self.nodes
        finally:
            self.nodes.restore(saved)
