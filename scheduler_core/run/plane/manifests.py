"""The manifests of what the API server has, for kube-scheduler v1.37: it reads fields without a typed object.

They follow the typed objects: an operation changes a manifest as it is written, a controller by what differs
between the typed objects before and after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from scheduler_core.forks import Copier, Forkable, flat, nested, same
from scheduler_core.formats.difference import merge_patch
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.formats.patch import PatchError, apply_patch
from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import (
    KubernetesObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    Workload,
)
from scheduler_core.kubernetes.provisioner import PROVISIONED_BY
from scheduler_core.run.control import Manager
from scheduler_core.run.v1_37.manifests import ScenarioManifests
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.v1_37.change import ObjectWrite
from scheduler_core.schedulers.v1_37.state import key_of as stored_key
from scheduler_core.schedulers.v1_37.volumes import BIND_COMPLETED

WRITTEN = (Pod, Workload, Node, PersistentVolumeClaim, PersistentVolume)
"""What controllers and the kubelet change."""


class StoredManifests(Forkable):
    """The manifests by kind and key; ``manager`` has the operation that is being applied."""

    FORKED: ClassVar[Mapping[str, Copier]] = {"objects": nested, "made": same, "_typed": flat}

    def __init__(
        self, scenario: Scenario, manager: Manager, objects: Iterable[KubernetesObject] | None = None
    ) -> None:
        """Start with the scenario as far as the API server has its ``objects``; empty for ``None``."""
        self.objects: dict[str, dict[str, Document]] = {}
        self.made = ScenarioManifests(scenario)
        self._manager = manager
        self._typed: dict[Key, KubernetesObject] = {}
        if objects is not None:
            self._start(scenario, objects)

    def _start(self, scenario: Scenario, objects: Iterable[KubernetesObject]) -> None:
        for manifest in self.made.initial(self):
            self._store(manifest)
        self._typed.update((key_of(obj), obj) for obj in scenario.objects)
        there = {key_of(obj): obj for obj in objects}
        for key in [key for key in self._typed if key not in there]:
            self.written(*key, None)
        for key, obj in there.items():
            self.written(*key, obj)

    def list(self, kind: str) -> Iterator[Document]:
        """Iterate over the manifests of a kind in order of creation."""
        return iter(self.table(kind).values())

    def table(self, kind: str) -> Mapping[str, Document]:
        """Return the manifests of a kind by key, in order of creation."""
        return self.objects.get(kind, {})

    def kinds(self) -> Sequence[str]:
        """Return the kinds of which there are manifests."""
        return list(self.objects)

    def stored(self) -> Iterator[Document]:
        """Iterate over all manifests as they are stored."""
        for table in self.objects.values():
            yield from table.values()

    def get(self, kind: str, namespace: str | None, name: str) -> Document | None:
        """Return a stored manifest."""
        return self.of(kind, stored_key(kind, namespace, name))

    def of(self, kind: str, key: str) -> Document | None:
        """Return the manifest of an object, None if there is none that v1.37 reads."""
        return self.table(kind).get(key)

    def create(self, manifest: Document) -> ObjectWrite:
        """Store a new object that has no typed one, or whose typed one is stored already."""
        return self.replace(manifest)

    def replace(self, manifest: Document) -> ObjectWrite:
        """Store a new state of an object that its typed one does not show."""
        kind, meta = str(manifest["kind"]), manifest["metadata"]
        key = stored_key(kind, meta.get("namespace"), meta["name"])
        old = self.of(kind, key)
        self._store(manifest)
        return ObjectWrite(kind, key, old, dict(manifest))

    def delete(self, kind: str, namespace: str | None, name: str) -> ObjectWrite:
        """Delete an object that has no typed one. Raises KeyError if there is none."""
        key = stored_key(kind, namespace, name)
        return ObjectWrite(kind, key, self.objects[kind].pop(key), None)

    def _store(self, manifest: Document) -> None:
        meta = manifest["metadata"]
        kind = str(manifest["kind"])
        self.objects.setdefault(kind, {})[stored_key(kind, meta.get("namespace"), meta["name"])] = manifest

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Follow a write at the API server."""
        previous = self._typed.pop((kind, key), None)
        if obj is None:
            self.objects.get(kind, {}).pop(key, None)
            return
        self._typed[kind, key] = obj
        if previous is not None and previous.meta.uid != obj.meta.uid:
            self.objects.get(kind, {}).pop(key, None)
            previous = None
        made = self._made(kind, key, previous, obj)
        if made is not None:
            self._store(made)

    def _made(
        self, kind: str, key: str, previous: KubernetesObject | None, obj: KubernetesObject
    ) -> Document | None:
        stored, landing = self.of(kind, key), self._manager.landing
        if landing is not None and (landing.kind, landing.key) == (kind, key):
            try:
                made = self.made.changed(landing, self, obj)
            except PatchError:  # it applies to the typed object only, where its error was reported
                made = None
            if made is not None:
                return made
        if stored is None:
            made = self.made.created(obj, self) if isinstance(obj, WRITTEN) else None
            return made if made is None or not isinstance(obj, PersistentVolume) else _with_source(made)
        return followed(stored, previous, obj)

    def operated(self, operation: Operation) -> Document | None:
        """Apply an operation on a kind without a typed object; return what is stored then."""
        if operation.action == "delete":
            self.objects.get(operation.kind, {}).pop(operation.key, None)
            return None
        made = self.made.operated(operation, self)
        if made is not None:
            self._store(made)
        return made


def _with_source(volume: Document) -> Document:
    """Return a provisioned volume as one of its driver, by which NodeVolumeLimits counts it."""
    meta = volume["metadata"]
    driver = (meta.get("annotations") or {}).get(PROVISIONED_BY)
    if driver is None:
        return volume
    return {**volume, "spec": {**volume["spec"], "csi": {"driver": driver, "volumeHandle": meta["name"]}}}


def followed(stored: Document, previous: KubernetesObject | None, obj: KubernetesObject) -> Document:
    """Return a manifest with the changes between two versions of its typed object."""
    if previous is None or previous is obj:
        return stored
    if isinstance(obj, PodDisruptionBudget):
        status: Mapping[str, object] = stored.get("status") or {}
        return {**stored, "status": {**status, "disruptionsAllowed": obj.disruptions_allowed}}
    if not isinstance(obj, WRITTEN):
        return stored
    if isinstance(obj, Pod) and isinstance(previous, Pod) and _differ_in_life_alone(previous, obj):
        return _lived(stored, previous, obj)
    patch = merge_patch(to_manifest(previous), to_manifest(obj))
    if isinstance(obj, PersistentVolumeClaim) and (patch.get("spec") or {}).get("volumeName"):
        patch["status"] = {"phase": "Bound"}  # the volume controller's part
        patch.setdefault("metadata", {}).setdefault("annotations", {})[BIND_COMPLETED] = "yes"
    if not patch:
        return stored
    changed: Document = apply_patch(stored, patch, "merge")
    return changed


_LIFE = {
    "node_name": ("spec", "nodeName"),
    "phase": ("status", "phase"),
    "nominated_node_name": ("status", "nominatedNodeName"),
    "start_time": ("status", "startTime"),
}
"""What scheduler and kubelet change of a pod, and where its manifest has it."""

_KEPT = tuple(
    name for name in Pod.__struct_fields__ if name not in _LIFE and name not in ("ready", "restarts")
)


def _differ_in_life_alone(previous: Pod, pod: Pod) -> bool:
    """Return whether two versions of a pod share all that only users and controllers change."""
    return all(getattr(previous, name) is getattr(pod, name) for name in _KEPT)


def _lived(stored: Document, previous: Pod, pod: Pod) -> Document:
    """Return a pod's manifest with what scheduler and kubelet have changed: as the merge patch would."""
    made = {**stored}
    for name, (part, field) in _LIFE.items():
        value = getattr(pod, name)
        if value == getattr(previous, name):
            continue
        made[part] = {**(made.get(part) or {})}
        if value:
            made[part][field] = value
        else:
            made[part].pop(field, None)
    return made
