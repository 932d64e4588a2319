"""Hints of NodeVolumeLimits (plugins/nodevolumelimits/csi.go)."""

from __future__ import annotations

from scheduler_core.v1_37.change import Manifest
from scheduler_core.v1_37.hints.common import always, answer, names_claim, spec
from scheduler_core.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.v1_37.pods import Pod

MIGRATABLE = (
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cinder",
    "vsphereVolume",
    "portworxVolume",
)
"""In-tree volumes that a CSI driver serves."""


def _after_pod_deleted(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    kinds = ("persistentVolumeClaim", "ephemeral", *MIGRATABLE)
    volumes = spec(event.old).get("volumes") or ()
    return answer(any(volume.get(kind) is not None for volume in volumes for kind in kinds))


def _after_claim_added(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    return answer(names_claim(pod, event.new))


def _after_attachment_deleted(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del event, context
    return answer(bool(pod.claims))


def _after_limits_changed(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    before, now = _limits(event.old), _limits(event.new)
    return answer(any(limit > before[driver] for driver, limit in now.items() if driver in before))


def _limits(csi_node: Manifest | None) -> dict[str, int]:
    """Return the count of volumes by driver, where there is one."""
    return {
        driver["name"]: int(driver["allocatable"]["count"])
        for driver in spec(csi_node).get("drivers") or ()
        if (driver.get("allocatable") or {}).get("count") is not None
    }


HINTS = Hints(
    "NodeVolumeLimits",
    (
        Registration("storage.k8s.io/CSINode", frozenset({"Add"}), always),
        Registration("storage.k8s.io/CSINode", frozenset({"Update"}), _after_limits_changed),
        Registration("AssignedPod", frozenset({"Delete"}), _after_pod_deleted),
        Registration("PersistentVolumeClaim", frozenset({"Add"}), _after_claim_added),
        Registration("storage.k8s.io/VolumeAttachment", frozenset({"Delete"}), _after_attachment_deleted),
    ),
    "a pod with volumes of the same driver leaves a node, an attachment ends, or a limit is raised",
)
