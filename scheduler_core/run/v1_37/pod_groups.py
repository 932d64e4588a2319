"""The PodGroups of scheduling.k8s.io after a cycle, as its record keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.groups.conditions import group_conditions
from scheduler_core.schedulers.v1_37.podgroups import NATIVE as NATIVE_API
from scheduler_core.schedulers.v1_37.podgroups import group_of, min_count, topology_key
from scheduler_core.schedulers.v1_37.state import ClusterState

GROUPS_KEPT = 60  # of a cycle, that of its pod among them
MEMBERS_KEPT = 100  # of a group


class NativePodGroup(Struct, frozen=True):
    """A PodGroup after a cycle: ``members`` are its first pods with their nodes, "" for none yet.

    ``min_count`` is that of a gang, None with the basic policy; ``conditions`` are texts by type.
    """

    key: str
    min_count: int | None
    topology: str | None
    members: tuple[tuple[str, str], ...]
    count: int
    assigned: int
    conditions: Mapping[str, str] = field(default_factory=dict)


def native_groups(cluster: ClusterState, entity: str) -> tuple[tuple[NativePodGroup, ...], int]:
    """Return the PodGroups after a cycle of ``entity``, that one first, and how many there are."""
    known = {key: one for key, one in cluster.objects.get("PodGroup", {}).items() if _is_native(one)}
    order = sorted(known, key=lambda key: (key != entity, key))
    return tuple(_group(cluster, key, known[key]) for key in islice(order, GROUPS_KEPT)), len(known)


def _is_native(manifest: Manifest) -> bool:
    return group_of(manifest) == NATIVE_API


def _group(cluster: ClusterState, key: str, manifest: Manifest) -> NativePodGroup:
    members = [(pod.key, pod.node or "") for pod in cluster.members(key)]
    return NativePodGroup(
        key,
        min_count(manifest) if _is_gang(manifest) else None,
        topology_key(manifest),
        tuple(members[:MEMBERS_KEPT]),
        len(members),
        _assigned(members),
        group_conditions(manifest),
    )


def _is_gang(manifest: Manifest) -> bool:
    return bool(((manifest.get("spec") or {}).get("schedulingPolicy") or {}).get("gang"))


def _assigned(members: Iterable[tuple[str, str]]) -> int:
    return sum(bool(node) for _, node in members)
