"""Hints of VolumeRestrictions (plugins/volumerestrictions/volume_restrictions.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.v1_37.hints.common import always, answer, names_claim
from scheduler_core.v1_37.interface import Event, HintAnswer, HintContext, Registration
from scheduler_core.v1_37.pods import Pod


def _same_disk(own: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two volumes cannot be on one node (isVolumeConflict)."""
    for kind, identity in (("gcePersistentDisk", "pdName"), ("iscsi", "iqn")):
        left, right = own.get(kind), other.get(kind)
        if left and right and left.get(identity) == right.get(identity):
            return not (left.get("readOnly") and right.get("readOnly"))
    left, right = own.get("awsElasticBlockStore"), other.get("awsElasticBlockStore")
    if left and right:
        return bool(left.get("volumeID") == right.get("volumeID"))
    left, right = own.get("rbd"), other.get("rbd")
    if not left or not right:
        return False
    same = all((left.get(name) or "") == (right.get(name) or "") for name in ("pool", "image"))
    shared = set(left.get("monitors") or ()) & set(right.get("monitors") or ())
    return bool(same and shared and not (left.get("readOnly") and right.get("readOnly")))


def _after_pod_deleted(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    assert event.old is not None  # only registered for Delete
    deleted = Pod(event.old)
    if deleted.namespace != pod.namespace:
        return "QueueSkip"
    if any(_same_disk(own, other) for own in pod.volumes for other in deleted.volumes):
        return "Queue"
    return answer(not _named(pod).isdisjoint(_named(deleted)))


def _named(pod: Pod) -> set[str]:
    """Return the claims that the pod names; those of ephemeral volumes are made for it alone."""
    return {name for name, ephemeral in pod.claims if not ephemeral}


def _after_claim_added(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    return answer(names_claim(pod, event.new, ephemeral=False))


EVENTS = (
    Registration("AssignedPod", frozenset({"Delete"}), _after_pod_deleted),
    Registration("Node", frozenset({"Add"}), always),
    Registration("PersistentVolumeClaim", frozenset({"Add"}), _after_claim_added),
)
