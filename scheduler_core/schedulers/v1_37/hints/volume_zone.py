"""Hints of VolumeZone (plugins/volumezone/volume_zone.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.hints.common import always, answer, claim_names, names_claim
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.plugins.volume_zone import topologies_of
from scheduler_core.schedulers.v1_37.pods import Pod


def _after_class_added(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    return answer((event.new or {}).get("volumeBindingMode") == "WaitForFirstConsumer")


def _after_claim_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    return answer(names_claim(pod, event.new, ephemeral=False))


def _after_volume_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    return answer(event.old is None or topologies_of(event.old) != topologies_of(event.new))


def _until(pod: Pod) -> str:
    return f"the volume of {claim_names(pod)} changes, or a node of its zone is added or relabeled"


HINTS = Hints(
    "VolumeZone",
    (
        Registration("storage.k8s.io/StorageClass", frozenset({"Add"}), _after_class_added),
        Registration("Node", frozenset({"Add", "UpdateNodeLabel"}), always),
        Registration("PersistentVolumeClaim", frozenset({"Add", "Update"}), _after_claim_change),
        Registration("PersistentVolume", frozenset({"Add", "Update"}), _after_volume_change),
    ),
    _until,
)
