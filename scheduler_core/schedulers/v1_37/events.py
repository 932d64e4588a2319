"""Cluster events: what a write reports to the queue (pkg/scheduler/framework/events.go, eventhandlers.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scheduler_core.kubernetes.requests import amounts
from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.dialect import CURRENT, Dialect
from scheduler_core.schedulers.v1_37.interface import ClusterEvent
from scheduler_core.schedulers.v1_37.pod_changes import pod_actions

RESOURCES = {
    "CSINode": "storage.k8s.io/CSINode",
    "CSIDriver": "storage.k8s.io/CSIDriver",
    "CSIStorageCapacity": "storage.k8s.io/CSIStorageCapacity",
    "StorageClass": "storage.k8s.io/StorageClass",
    "VolumeAttachment": "storage.k8s.io/VolumeAttachment",
    "ResourceClaim": "resource.k8s.io/ResourceClaim",
    "ResourceSlice": "resource.k8s.io/ResourceSlice",
    "DeviceClass": "resource.k8s.io/DeviceClass",
    "PodGroup": "scheduling.k8s.io/PodGroup",
    "PersistentVolume": "PersistentVolume",
    "PersistentVolumeClaim": "PersistentVolumeClaim",
    "Node": "Node",
}
"""The resource part of an event's name, by kind; a kind that is missing is watched by nobody."""

FINISHED = ("Succeeded", "Failed")


def exists(pod: Manifest | None) -> bool:
    """Return whether the pod exists for the scheduler: its informer leaves finished pods out."""
    return pod is not None and (pod.get("status") or {}).get("phase") not in FINISHED


def assigned(pod: Manifest) -> bool:
    """Return whether the pod is bound to a node."""
    return bool((pod.get("spec") or {}).get("nodeName"))


def nominated_node(pod: Manifest | None) -> str:
    """Return ``status.nominatedNodeName`` of a pod that exists and waits, else an empty string."""
    if pod is None or not exists(pod) or assigned(pod):
        return ""
    return (pod.get("status") or {}).get("nominatedNodeName") or ""


def object_events(change: ObjectWrite) -> Iterator[ClusterEvent]:
    """Yield the events of a write to anything but a pod."""
    resource = RESOURCES.get(change.kind)
    if resource is None:
        return
    if change.new is None:
        yield ClusterEvent(resource, "Delete", change.old, None)
    elif change.old is None:
        yield ClusterEvent(resource, "Add", None, change.new)
    elif change.kind == "Node":
        for action in _node_actions(change.old, change.new):
            yield ClusterEvent(resource, action, change.old, change.new)
    else:
        yield ClusterEvent(resource, "Update", change.old, change.new)


def assigned_pod_events(old: Manifest, new: Manifest, dialect: Dialect = CURRENT) -> Iterator[ClusterEvent]:
    """Yield the events of an update of a bound pod (PodSchedulingPropertiesChange)."""
    for action in pod_actions(old, new, dialect.pod.read_held):
        yield ClusterEvent("AssignedPod", action, old, new)


def target_pod_events(old: Manifest, new: Manifest, dialect: Dialect = CURRENT) -> Iterator[ClusterEvent]:
    """Yield the events of an update of a waiting pod, which only it is asked about."""
    for action in pod_actions(old, new, dialect.pod.read_held):
        yield ClusterEvent("TargetPod", action, old, new, dialect.own_events)


def _node_actions(old: Manifest, new: Manifest) -> Iterator[str]:
    """Yield one action for each kind of change (NodeSchedulingPropertiesChange)."""
    for action, changed in _NODE_CHANGES:
        if changed(old, new):
            yield action


def _made_schedulable(old: Manifest, new: Manifest) -> bool:
    return bool(_spec(old).get("unschedulable")) and not _spec(new).get("unschedulable")


def _allocatable_changed(old: Manifest, new: Manifest) -> bool:
    before, now = _status(old).get("allocatable"), _status(new).get("allocatable")
    return amounts(before) != amounts(now)  # however they are written


def _labels_changed(old: Manifest, new: Manifest) -> bool:
    return labels_of(old) != labels_of(new)


def _taints_changed(old: Manifest, new: Manifest) -> bool:
    return (_spec(old).get("taints") or []) != (_spec(new).get("taints") or [])


def _conditions_changed(old: Manifest, new: Manifest) -> bool:
    return _conditions(old) != _conditions(new)


def _annotations_changed(old: Manifest, new: Manifest) -> bool:
    return (_metadata(old).get("annotations") or {}) != (_metadata(new).get("annotations") or {})


def _features_changed(old: Manifest, new: Manifest) -> bool:
    return (_status(old).get("declaredFeatures") or []) != (_status(new).get("declaredFeatures") or [])


_NODE_CHANGES: tuple[tuple[str, Callable[[Manifest, Manifest], bool]], ...] = (
    ("UpdateNodeTaint", _made_schedulable),
    ("UpdateNodeAllocatable", _allocatable_changed),
    ("UpdateNodeLabel", _labels_changed),
    ("UpdateNodeTaint", _taints_changed),
    ("UpdateNodeCondition", _conditions_changed),
    ("UpdateNodeAnnotation", _annotations_changed),
    ("UpdateNodeDeclaredFeature", _features_changed),
)


def labels_of(manifest: Manifest | None) -> dict[str, Any]:
    """Return ``metadata.labels``."""
    return dict(_metadata(manifest).get("labels") or {}) if manifest is not None else {}


def _conditions(node: Manifest) -> dict[str, str]:
    return {row.get("type", ""): row.get("status", "") for row in _status(node).get("conditions") or ()}


def _metadata(manifest: Manifest) -> Manifest:
    return manifest.get("metadata") or {}


def _spec(manifest: Manifest) -> Manifest:
    return manifest.get("spec") or {}


def _status(manifest: Manifest) -> Manifest:
    return manifest.get("status") or {}
