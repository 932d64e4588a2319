"""A change of the cluster as the invalidation table reads it: the verb, the object, and what changed.

The builders are pure functions of the object before and after. ``facts`` are the names that the table's
conditions test: on UPDATE the aspects that changed, on ADD and DELETE those that the object has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from scheduler_core.kubernetes.model import (
    KubernetesObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Service,
    StorageClass,
)
from scheduler_core.schedulers.columns.columns import REGION_LABEL, ZONE_LABEL

EventVerb = Literal["ADD", "UPDATE", "DELETE"]
Aspects = Mapping[str, Callable[[Any], Any]]

ZONE_LABELS = (ZONE_LABEL, REGION_LABEL)
CONDITION_TYPES = ("Ready", "OutOfDisk", "NetworkUnavailable")  # the conditions that CheckNodeCondition reads

ASSUMED, ELSEWHERE = "assumed", "bound elsewhere"  # facts about a pod that is added to a node


class InvalidationEvent(Struct, frozen=True):
    """One change. ``node`` is the pod's node or the node itself, "" where the event has none.

    On ADD a pod was assumed on ``node`` or was bound there by another scheduler; the facts record which.
    Pods without a node cause no events, because no cached result depends on them.
    ``binds`` are the claims (``namespace/name``) that were bound to volumes when the pod was assumed.
    """

    resource: str
    operation: EventVerb
    key: str
    node: str = ""
    old: KubernetesObject | None = None
    new: KubernetesObject | None = None
    facts: frozenset[str] = frozenset()
    binds: tuple[str, ...] = ()

    @property
    def object(self) -> KubernetesObject | None:
        """The object after the change, or before its deletion."""
        return self.old if self.new is None else self.new

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pod before and after the change, as far as it exists."""
        return tuple(pod for pod in (self.old, self.new) if isinstance(pod, Pod))

    def __str__(self) -> str:
        where = f" on {self.node}" if self.node and self.node != self.key else ""
        facts = self.facts if self.operation == "UPDATE" else self.facts & {ELSEWHERE}
        what = f" ({', '.join(sorted(facts))})" if facts else ""
        return f"{self.resource}/{self.operation} {self.key}{where}{what}"


def pod_added(pod: Pod, node: str, *, binds: tuple[str, ...] = ()) -> InvalidationEvent:
    """Create the event of a pod that this scheduler assumed on a node (scheduler.assume)."""
    return InvalidationEvent("Pod", "ADD", pod.meta.key, node, None, pod, frozenset({ASSUMED}), binds)


def pod_came(pod: Pod, node: str) -> InvalidationEvent:
    """Create the event of a pod that another scheduler bound to a node (factory.addPodToCache).

    Claims that waited for a pod are bound by the scheduler that schedules it, so the event binds none.
    """
    return InvalidationEvent("Pod", "ADD", pod.meta.key, node, None, pod, frozenset({ELSEWHERE}))


def pod_deleted(pod: Pod, node: str) -> InvalidationEvent:
    """Create the event of a pod that left its node: deleted, evicted or finished."""
    return InvalidationEvent("Pod", "DELETE", pod.meta.key, node, pod, None)


def pod_updated(old: Pod, new: Pod, node: str) -> InvalidationEvent:
    """Create the event of a pod that was updated on its node."""
    return InvalidationEvent("Pod", "UPDATE", new.meta.key, node, old, new, _changed(POD_ASPECTS, old, new))


def pod_changed(
    old: Pod | None, old_node: str, new: Pod | None, new_node: str
) -> tuple[InvalidationEvent, ...]:
    """Return the events of an outside change of a pod; one that changes nodes is a DELETE and an ADD.

    A node is "" if the pod is on none; a finished pod is on none.
    """
    if old is not None and new is not None and old_node and old_node == new_node:
        return (pod_updated(old, new, new_node),)
    left = (pod_deleted(old, old_node),) if old is not None and old_node else ()
    came = (pod_came(new, new_node),) if new is not None and new_node else ()
    return (*left, *came)


def object_changed(old: KubernetesObject | None, new: KubernetesObject | None) -> InvalidationEvent | None:
    """Create the event of any object but a pod; ``None`` for a kind that no predicate depends on."""
    obj = old if new is None else new
    if obj is None or type(obj) not in ASPECTS:
        return None
    resource, aspects = ASPECTS[type(obj)]
    node = obj.meta.name if isinstance(obj, Node) else ""
    if old is None or new is None:
        facts = frozenset(name for name, read in aspects.items() if read(obj))
        return InvalidationEvent(
            resource, "DELETE" if new is None else "ADD", obj.meta.key, node, old, new, facts
        )
    facts = _changed(aspects, old, new)
    if isinstance(old, Node) and isinstance(new, Node):
        facts |= _missed(NODE_ONE_SIDED, old.meta.labels, new.meta.labels)
    if isinstance(old, PersistentVolume) and isinstance(new, PersistentVolume):
        facts |= _missed(VOLUME_ONE_SIDED, new.meta.labels, old.meta.labels)
    return InvalidationEvent(resource, "UPDATE", obj.meta.key, node, old, new, facts)


def _changed(aspects: Aspects, old: Any, new: Any) -> frozenset[str]:
    return frozenset(name for name, read in aspects.items() if read(old) != read(new))


def _missed(
    facts: Mapping[str, tuple[str, ...] | None], walked: Mapping[str, str], other: Mapping[str, str]
) -> frozenset[str]:
    """Compare labels as v1.11 does: it iterates over the labels of one side only."""
    changed = {key for key, value in walked.items() if other.get(key, "") != value}
    return frozenset(
        name for name, keys in facts.items() if (changed if keys is None else changed.intersection(keys))
    )


def _zones(obj: Node | PersistentVolume) -> dict[str, str]:
    return {key: obj.meta.labels[key] for key in ZONE_LABELS if key in obj.meta.labels}


def _conditions(node: Node) -> tuple[object, ...]:
    # in order, because it is the order of the reasons
    return tuple(c for c in node.conditions if c.type in CONDITION_TYPES)


def _condition(kind: str) -> Callable[[Node], str]:
    def status(node: Node) -> str:
        return next((c.status for c in reversed(node.conditions) if c.type == kind), "")

    return status


POD_ASPECTS: Aspects = {
    "requests": lambda pod: ([c.requests for c in pod.containers], [c.requests for c in pod.init_containers]),
    "labels": lambda pod: pod.meta.labels,
    "host ports": lambda pod: [c.host_ports for c in pod.containers],
    "volumes": lambda pod: pod.volumes,
    "required affinity": lambda pod: pod.affinity and (pod.affinity.pod_required, pod.affinity.anti_required),
}
"""The aspects of a pod on a node that affect other pods. Requests count per container, limits never."""

NODE_ASPECTS: Aspects = {
    "allocatable": lambda node: node.allocatable,
    "labels": lambda node: node.meta.labels,
    "zone or region label": _zones,
    "taints": lambda node: node.taints,
    "conditions": _conditions,
    "memory pressure": _condition("MemoryPressure"),
    "disk pressure": _condition("DiskPressure"),
    "PID pressure": _condition("PIDPressure"),
    "unschedulable": lambda node: node.unschedulable,
}

NODE_ONE_SIDED: Mapping[str, tuple[str, ...] | None] = {
    "labels it had": None,
    "zone or region label it had": ZONE_LABELS,
}
"""The label changes that v1.11's invalidateCachedPredicatesOnNodeUpdate detects: not those of new labels."""

VOLUME_ASPECTS: Aspects = {
    "zone or region label": _zones,
    "node affinity": lambda volume: volume.node_affinity,
    "source": lambda volume: volume.source,
    "what claims match": lambda volume: (
        volume.storage_class,
        volume.capacity,
        sorted(volume.access_modes),
        volume.claim_ref,
        volume.phase,
        volume.node_affinity,
        volume.meta.labels,
    ),
}

VOLUME_ONE_SIDED: Mapping[str, tuple[str, ...] | None] = {"zone or region label it has": ZONE_LABELS}
"""The label changes that v1.11's invalidatePredicatesForPvUpdate detects: not those of removed labels."""

CLAIM_ASPECTS: Aspects = {
    "volumeName": lambda claim: claim.volume_name,
    "what volumes match": lambda claim: (
        claim.storage_class,
        claim.request,
        sorted(claim.access_modes),
        claim.selector,
    ),
}

ASPECTS: Mapping[type, tuple[str, Aspects]] = {
    Node: ("Node", NODE_ASPECTS),
    PersistentVolume: ("PersistentVolume", VOLUME_ASPECTS),
    PersistentVolumeClaim: ("PersistentVolumeClaim", CLAIM_ASPECTS),
    Service: ("Service", {"selector": lambda service: service.selector}),
    StorageClass: ("StorageClass", {"volumeBindingMode": lambda kind: kind.binding_mode}),
}
"""The aspects of each kind that predicates read; none of workloads, budgets and priority classes."""
