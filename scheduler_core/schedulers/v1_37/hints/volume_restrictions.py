"""Hints of VolumeRestrictions (plugins/volumerestrictions/volume_restrictions.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.hints.common import always, answer, claim_names, names_claim
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.plugins.volume_restrictions import disks_conflict
from scheduler_core.schedulers.v1_37.pods import Pod


def _after_pod_deleted(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    assert event.old is not None  # only registered for Delete
    deleted = Pod(event.old)
    if deleted.namespace != pod.namespace:
        return "QueueSkip"
    if any(disks_conflict(volume, deleted) for volume in pod.volumes):
        return "Queue"
    return answer(not _named(pod).isdisjoint(_named(deleted)))


def _named(pod: Pod) -> set[str]:
    """Return the claims that the pod names; those of ephemeral volumes are made for it alone."""
    return {name for name, ephemeral in pod.claims if not ephemeral}


def _after_claim_added(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    return answer(names_claim(pod, event.new, ephemeral=False))


def _until(pod: Pod) -> str:
    return f"the pod that uses {claim_names(pod)} is deleted, or a node is added"


HINTS = Hints(
    "VolumeRestrictions",
    (
        Registration("AssignedPod", frozenset({"Delete"}), _after_pod_deleted),
        Registration("Node", frozenset({"Add"}), always),
        Registration("PersistentVolumeClaim", frozenset({"Add"}), _after_claim_added),
    ),
    _until,
)
