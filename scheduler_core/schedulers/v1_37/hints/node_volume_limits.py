"""Hints of NodeVolumeLimits (plugins/nodevolumelimits/csi.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.schedulers.v1_37.attached_volumes import limits_of
from scheduler_core.schedulers.v1_37.csi_migration import IN_TREE, TranslationError, in_tree_source
from scheduler_core.schedulers.v1_37.hints.common import always, answer, names_claim, spec, status
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.pods import Pod


def _after_pod_deleted(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    if not (spec(event.old).get("nodeName") or status(event.old).get("nominatedNodeName")):
        return "QueueSkip"
    kinds = ("persistentVolumeClaim", "ephemeral", *IN_TREE)
    volumes = spec(event.old).get("volumes") or ()
    return answer(any(volume.get(kind) is not None for volume in volumes for kind in kinds))


def _after_claim_added(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    return answer(names_claim(pod, event.new))


def _after_attachment_deleted(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    attacher = spec(event.old).get("attacher") or ""
    return answer(any(_may_be_attached(volume, attacher) for volume in pod.volumes))


def _may_be_attached(volume: Mapping[str, Any], attacher: str) -> bool:
    """Return whether a pod's volume is a claim, or an in-tree one that the attacher serves or cannot read."""
    if volume.get("persistentVolumeClaim") is not None:
        return True
    found = in_tree_source(volume)
    if found is None:
        return False
    row, source = found
    try:
        if row.handle is not None:
            row.handle(source, {})
    except TranslationError:
        return True
    return row.driver == attacher


def _after_limits_changed(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    before, now = limits_of(event.old), limits_of(event.new)
    return answer(any(limit > before.get(driver, 0) for driver, limit in now.items()))


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
