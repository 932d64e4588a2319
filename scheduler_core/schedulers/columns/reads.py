"""The fields that a rule reads, by name; the pods' class key and the cache's invalidation follow from them.

A rule receives a pod's class instead of the pod, so it cannot read a field that no rule declares: two
pods that differ only in such a field belong to one class, and a result for one of them holds for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import attrgetter, is_
from typing import Any, NamedTuple

from msgspec import Struct

from scheduler_core.kubernetes.model import Affinity, Container, OwnerReference, Pod, Toleration

Read = Callable[[Pod], Any]


def _items(mapping: Mapping[str, Any]) -> Hashable:
    return tuple(sorted(mapping.items()))


def _containers(containers: Iterable[Container]) -> Hashable:
    return tuple((c.image, _items(c.requests), _items(c.limits), c.host_ports) for c in containers)


def _controller(owner: OwnerReference | None) -> Hashable:
    return None if owner is None else (owner.kind, owner.uid)


class PodField(NamedTuple):
    """A field of a pod: its value, and its hashable part of the class key."""

    read: Read
    key: Callable[[Pod], Hashable]


def _plain(read: Read) -> PodField:
    return PodField(read, read)


def _keyed(read: Read, key: Callable[[Any], Hashable]) -> PodField:
    return PodField(read, lambda pod: key(read(pod)))


POD_FIELDS: Mapping[str, PodField] = {
    "namespace": _plain(lambda pod: pod.meta.namespace),
    "labels": _keyed(lambda pod: pod.meta.labels, _items),
    "node_selector": _keyed(lambda pod: pod.node_selector, _items),
    "affinity": _keyed(lambda pod: pod.affinity, lambda found: None if found is None else repr(found)),
    "tolerations": _plain(lambda pod: pod.tolerations),
    "containers": _keyed(lambda pod: pod.containers, _containers),
    "init_containers": _keyed(lambda pod: pod.init_containers, _containers),
    "volumes": _plain(lambda pod: pod.volumes),
    "controller": _keyed(lambda pod: pod.meta.controller, _controller),
    "terminating": _plain(lambda pod: pod.meta.deletion_timestamp is not None),
    "annotations": _keyed(lambda pod: pod.meta.annotations, _items),
    "overhead": _keyed(lambda pod: pod.overhead, _items),
    "priority_class_name": _plain(lambda pod: pod.priority_class_name),
    "scheduler_name": _plain(lambda pod: pod.scheduler_name),
    "pod_group": _plain(lambda pod: pod.pod_group),
    "host_network": _plain(lambda pod: pod.host_network),
}
"""Every field of a pod that a rule may declare; none that distinguishes replicas (name, uid, node)."""

_CLASS = attrgetter(
    *(
        "meta.namespace",
        "meta.labels",
        "meta.annotations",
        "meta.owner_references",
        "meta.deletion_timestamp",
    ),
    *("node_selector", "affinity", "tolerations", "containers", "init_containers", "volumes", "overhead"),
    *("priority_class_name", "scheduler_name", "pod_group", "host_network"),
)
"""What ``POD_FIELDS`` read."""


def has_same_class(pod: Pod, other: Pod) -> bool:
    """Return whether two pods have the same objects as all fields that a rule may declare.

    False is inconclusive: equal fields may be different objects.
    """
    return all(map(is_, _CLASS(pod), _CLASS(other)))


CLASS_FIELDS = frozenset(
    {
        *("namespace", "labels", "node_selector", "affinity", "tolerations"),
        *("containers", "init_containers", "volumes", "controller", "terminating"),
    }
)
"""Those of :class:`~scheduler_core.schedulers.columns.podinfo.PodInfo`, always in the class key."""

NODE_FIELDS = frozenset(
    {"name", "labels", "annotations", "allocatable", "taints", "unschedulable", "conditions", "images"}
)
"""Every field of a node that a rule may declare."""

OBJECT_KINDS = frozenset(
    {"Pod", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "Service", "Workload"}
)
"""The other kinds that a rule may declare: pods, and the objects that a pod references or that select it."""


class UndeclaredFieldError(LookupError):
    """A rule reads a field of its pod that no rule declares."""


class Reads(Struct, frozen=True):
    """The fields of the pod and of the node, and the other kinds of objects, that a result may depend on.

    Raises ValueError for a name that is not in the tables above.
    """

    pod: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for what, names, known in (
            ("pod", self.pod, POD_FIELDS.keys()),
            ("node", self.node, NODE_FIELDS),
            ("objects", self.objects, OBJECT_KINDS),
        ):
            unknown = [name for name in names if name not in known]
            if unknown:
                raise ValueError(f"{what}: {', '.join(unknown)}; a rule can read {', '.join(sorted(known))}")

    def __or__(self, other: Reads) -> Reads:
        """Return the union of what two rules read."""
        return Reads(
            tuple(dict.fromkeys(self.pod + other.pod)),
            tuple(dict.fromkeys(self.node + other.node)),
            tuple(dict.fromkeys(self.objects + other.objects)),
        )


def class_fields(declared: Iterable[Reads]) -> tuple[str, ...]:
    """Return the fields of the class key for rules with these declarations, in table order."""
    names = CLASS_FIELDS.union(*(reads.pod for reads in declared))
    return tuple(name for name in POD_FIELDS if name in names)


class PodFields:
    """The fields of one pod in its class key; reading any other field raises UndeclaredFieldError."""

    __slots__ = ("_values",)

    def __init__(self, pod: Pod, names: Iterable[str]) -> None:
        self._values = {name: POD_FIELDS[name].read(pod) for name in names}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a special attribute, such as copying looks up
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise UndeclaredFieldError(
                f"no rule declares that it reads the pod's {name}: add it to the rule's `reads`"
            ) from None

    @property
    def node_selector(self) -> Mapping[str, str]:
        """``spec.nodeSelector``."""
        found: Mapping[str, str] = self._values["node_selector"]
        return found

    @property
    def affinity(self) -> Affinity | None:
        """``spec.affinity``."""
        found: Affinity | None = self._values["affinity"]
        return found

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        """``spec.tolerations``."""
        found: tuple[Toleration, ...] = self._values["tolerations"]
        return found
