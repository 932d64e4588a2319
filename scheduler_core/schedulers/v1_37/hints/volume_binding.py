"""Hints of VolumeBinding (plugins/volumebinding/volume_binding.go)."""

from __future__ import annotations

from scheduler_core.kubernetes.quantity import parse_resource
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.csi_migration import MIGRATED_PLUGINS
from scheduler_core.schedulers.v1_37.hints.common import (
    always,
    answer,
    claim_names,
    metadata,
    names_claim,
    spec,
)
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.pods import Pod
from scheduler_core.schedulers.v1_37.volumes import volume_limit


def _after_class_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    if event.old is None:
        return "Queue"
    now = (event.new or {}).get("allowedTopologies") or []
    return answer(now != (event.old.get("allowedTopologies") or []))


def _after_claim_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    return answer(names_claim(pod, event.new))


def _after_csi_node_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    if event.old is None:
        return "Queue"
    return answer(_migrated(event.old) != _migrated(event.new))


def _migrated(csi_node: Manifest | None) -> str:
    return (metadata(csi_node).get("annotations") or {}).get(MIGRATED_PLUGINS) or ""


def _after_capacity_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    if event.old is None:
        return "Queue"
    before, now = _largest_volume(event.old), _largest_volume(event.new)
    return answer(now is not None and (before is None or now > before))


def _largest_volume(capacity: Manifest | None) -> int | None:
    """Return the bytes of the largest volume that fits; None if nothing is known (volumeLimit)."""
    text = volume_limit(capacity or {})
    return None if text is None else parse_resource("storage", str(text))


def _after_driver_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    inline = {(volume.get("csi") or {}).get("driver") for volume in pod.volumes if volume.get("csi")}
    was, now = bool(spec(event.old).get("storageCapacity")), bool(spec(event.new).get("storageCapacity"))
    return answer(metadata(event.new).get("name") in inline and was and not now)


_ADD_UPDATE = frozenset({"Add", "Update"})


def _until(pod: Pod) -> str:
    return (
        f"{claim_names(pod)} is created or bound, or a volume, storage class, storage capacity or node that "
        "could serve it is added or changed"
    )


HINTS = Hints(
    "VolumeBinding",
    (
        Registration("storage.k8s.io/StorageClass", _ADD_UPDATE, _after_class_change),
        Registration("PersistentVolumeClaim", _ADD_UPDATE, _after_claim_change),
        Registration("PersistentVolume", _ADD_UPDATE, always),
        Registration("Node", frozenset({"Add", "UpdateNodeLabel"}), always),
        Registration("storage.k8s.io/CSINode", _ADD_UPDATE, _after_csi_node_change),
        Registration("storage.k8s.io/CSIDriver", frozenset({"Update"}), _after_driver_change),
        Registration("storage.k8s.io/CSIStorageCapacity", _ADD_UPDATE, _after_capacity_change),
    ),
    _until,
)
