"""The conditions of the invalidation table, and the nodes and predicates that a row applies to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

import numpy as np
from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import PersistentVolume, PersistentVolumeClaim, Pod, Volume
from scheduler_core.schedulers.columns.events import ASSUMED, ELSEWHERE, InvalidationEvent
from scheduler_core.schedulers.columns.storage import disks
from scheduler_core.schedulers.v1_11.equivalence.topology import RowTopology
from scheduler_core.schedulers.v1_11.predicates import RULES

COUNTED: Mapping[str, str] = {rule.key: rule.aspect for rule in RULES if "pv-count" in rule.invalidated_by}
"""The predicates that count volumes of one type, with the type's field of a volume."""

VOLUME_COUNTS = tuple(COUNTED)


class InvalidatedNodes(Enum):
    """The nodes on which a row invalidates."""

    NODE = "the node of the event"
    DOMAIN = "the nodes that share a topology value with it"
    DOMAIN_OR_ALL = "the nodes that share a topology value with it; all nodes where that is unclear"
    ALL = "all nodes"


class RowCondition(Struct, frozen=True):
    """When a row applies; ``text`` is printed on the reference page."""

    text: str
    holds: Callable[[InvalidationEvent, RowTopology], bool]


ALWAYS = RowCondition("", lambda event, topology: True)  # noqa: ARG005 -- all conditions share one signature


def changed(*facts: str, text: str = "") -> RowCondition:
    """Return the condition that the event has one of these facts: a change, or a property of the object."""
    names = frozenset(facts)
    description = text or f"{' or '.join(facts)} changed"
    return RowCondition(description, lambda event, topology: bool(names & event.facts))  # noqa: ARG005


# Pods


def _requires(pod: Pod) -> bool:
    return pod.affinity is not None and bool(pod.affinity.pod_required or pod.affinity.anti_required)


def affinity_in_play(event: InvalidationEvent, topology: RowTopology) -> bool:
    """Return whether the pod, or any pod seen in the run, has required (anti-)affinity."""
    return topology.seen.any_terms or any(_requires(pod) for pod in event.pods)


def labels_matter(event: InvalidationEvent, topology: RowTopology) -> bool:
    """Return whether the pod has required (anti-)affinity itself or is selected by another pod's."""
    return any(_requires(pod) or any(topology.seen.selecting(pod)) for pod in event.pods)


def assumed_with_counted_volume(event: InvalidationEvent, topology: RowTopology) -> bool:
    """Return whether a pod that this scheduler assumed has a volume of a counted type, or a claim."""
    return ASSUMED in event.facts and has_counted_volume(event, topology)


def came_with_counted_volume(event: InvalidationEvent, topology: RowTopology) -> bool:
    """Return whether a pod not bound by this scheduler has a volume of a counted type, or a claim."""
    return ELSEWHERE in event.facts and has_counted_volume(event, topology)


def has_counted_volume(event: InvalidationEvent, topology: RowTopology) -> bool:
    """Return whether a pod has a volume of a counted type, or a claim, which may be bound to one."""
    return bool(volume_counts(event, topology))


def holds_ports(event: InvalidationEvent, topology: RowTopology) -> bool:  # noqa: ARG001
    """Return whether a pod has host ports before or after the update.

    An update removes a pod from its node and adds it again (schedulercache.UpdatePod), and used ports are a
    set: a port that the removal of another holder had freed is taken again.
    """
    return any(container.host_ports for pod in event.pods for container in pod.containers)


def binds_claims(event: InvalidationEvent, topology: RowTopology) -> bool:  # noqa: ARG001
    """Return whether claims that waited for the pod (WaitForFirstConsumer) were bound with it."""
    return bool(event.binds)


def has_special_volume(event: InvalidationEvent, topology: RowTopology) -> bool:  # noqa: ARG001
    """Return whether a pod has a GCE PD, EBS, ISCSI or RBD volume of its own."""
    return any(disks(pod) for pod in event.pods)


def takes_disk(event: InvalidationEvent, topology: RowTopology) -> bool:
    """Return whether a pod uses a disk that may conflict with another pod.

    A disk that every pod so far uses read-only, where its type allows sharing, never conflicts.
    """
    return any(
        not (shares and topology.seen.always_shared(disk))
        for pod in event.pods
        for disk, shares in disks(pod)
    )


# Volumes and claims


def counted_type(event: InvalidationEvent, topology: RowTopology) -> bool:
    """Return whether a volume is an EBS volume, a GCE PD or an Azure disk."""
    return bool(volume_counts(event, topology))


def claim_is_bound(event: InvalidationEvent, topology: RowTopology) -> bool:
    """Return whether a claim is bound to a volume of a counted type, or to an unknown volume."""
    return bool(volume_counts(event, topology))


def volume_counts(event: InvalidationEvent, topology: RowTopology) -> tuple[str, ...]:
    """Return the Max…VolumeCount predicates that an object of the event counts for.

    A pod's claim may be bound to any type, and so may a bound claim whose volume does not exist.
    """
    found: set[str] = set()
    for obj in (event.old, event.new):
        match obj:
            case Pod():
                for volume in obj.volumes:
                    found.update(VOLUME_COUNTS if volume.claim is not None else _counts(volume))
            case PersistentVolume():
                found.update(_counts(obj.source))
            case PersistentVolumeClaim() if obj.volume_name:
                bound = topology.volume(obj.volume_name)
                found.update(VOLUME_COUNTS if bound is None else _counts(bound.source))
    return tuple(key for key in VOLUME_COUNTS if key in found)


def _counts(volume: Volume) -> tuple[str, ...]:
    return tuple(key for key, field in COUNTED.items() if getattr(volume, field) is not None)


# Nodes

CONDITION_PREDICATES: Mapping[str, str] = {
    rule.aspect: rule.key for rule in RULES if "node-update-conditions" in rule.invalidated_by
}
"""The fact that a condition changed, to the predicate that reads the condition."""


def condition_checks(event: InvalidationEvent, topology: RowTopology) -> tuple[str, ...]:  # noqa: ARG001
    """Return the predicates that read a changed condition."""
    return tuple(key for fact, key in CONDITION_PREDICATES.items() if fact in event.facts)


# Scopes


def rows_of(scope: InvalidatedNodes, event: InvalidationEvent, topology: RowTopology) -> IntVector | None:
    """Return the rows within a scope for an event, ascending; ``None`` for all nodes.

    The domain is unclear if a required affinity term selects the pod: if it was the first or the last such
    pod, pods that match their own terms may be placed anywhere, or no longer may. Otherwise the pod's
    addition, deletion or change affects only anti-affinity, which is limited to the pod's own domains.
    """
    if scope is InvalidatedNodes.ALL:
        return None
    row = topology.row(event.node)
    own = np.array([row] if row >= 0 else [], np.int64)
    if scope is InvalidatedNodes.NODE:
        return own
    seen = topology.seen
    if scope is InvalidatedNodes.DOMAIN_OR_ALL and any(seen.selecting(pod)[0] for pod in event.pods):
        return None
    keys = seen.keys if scope is InvalidatedNodes.DOMAIN else seen.anti_affinity_keys
    return np.union1d(own, topology.sharing(event.node, keys))
