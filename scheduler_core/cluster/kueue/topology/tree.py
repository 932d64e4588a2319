"""The domains of a topology under one flavor: blocks, racks, nodes, and what is free at the lowest level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.kueue.objects import Amounts, ResourceFlavor, Topology
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    is_finished,
    labels_of,
    name_of,
    node_of,
    ready_status,
    spec_of,
    status_of,
)
from scheduler_core.kubernetes.requests import amounts, spec_requests

HOSTNAME = "kubernetes.io/hostname"
PLACED = tuple(f"kueue.x-k8s.io/podset-{how}-topology" for how in ("required", "preferred", "unconstrained"))
"""The annotations of pods that topology-aware scheduling places, which counts them by their Workload."""

LeafKey = tuple[str, ...]
"""A lowest domain as assignments name it: the values of all levels, or the host name alone."""


class Domain(Struct, frozen=True, eq=False):
    """A value of a level below the values of the levels above; a leaf has no children.

    ``node`` is the leaf's, if leaves are nodes. ``free``: what its nodes can allocate, less what pods that
    topology-aware scheduling did not place hold there.
    """

    values: tuple[str, ...]
    children: tuple[Domain, ...] = ()
    key: LeafKey = ()
    node: Manifest | None = None
    free: Amounts = {}


class TopologyTree(Struct, frozen=True):
    """The domains of a flavor's nodes, ``roots`` in the order of their values, and its leaves by key."""

    name: str
    levels: tuple[str, ...]
    tolerations: tuple[Mapping[str, Any], ...]
    roots: tuple[Domain, ...]
    leaves: Mapping[LeafKey, Domain]

    @property
    def has_node_leaves(self) -> bool:
        """Whether the lowest level is the node, so that taints and selectors of nodes count."""
        return self.levels[-1] == HOSTNAME

    @property
    def assigned_levels(self) -> tuple[str, ...]:
        """The levels whose values an assignment names."""
        return self.levels[-1:] if self.has_node_leaves else self.levels

    def level(self, key: str) -> int | None:
        """Return the depth of a level, 0 for the highest."""
        return self.levels.index(key) if key in self.levels else None


def build_tree(
    flavor: ResourceFlavor, topology: Topology, nodes: Iterable[Manifest], held: Mapping[str, Amounts]
) -> TopologyTree:
    """Build a flavor's tree; ``held`` is what other pods hold, with a ``pods`` each, by the node's name."""
    leaves: dict[tuple[str, ...], Domain] = {}
    has_node_leaves = topology.levels[-1:] == (HOSTNAME,)
    for node in sorted(nodes, key=name_of):
        if not _belongs(node, flavor, topology):
            continue
        values = tuple(labels_of(node)[level] for level in topology.levels)
        key = values[-1:] if has_node_leaves else values
        found = leaves.get(key) or Domain(values, key=key, node=node if has_node_leaves else None, free={})
        add(found.free, amounts(status_of(node).get("allocatable")))
        subtract(found.free, held.get(name_of(node), {}))
        leaves[key] = found
    ordered = sorted(leaves.values(), key=lambda leaf: leaf.values)
    roots = _grouped(ordered, 0, len(topology.levels))
    return TopologyTree(topology.name, topology.levels, flavor.tolerations, roots, leaves)


def held_by_others(pods: Iterable[Manifest]) -> dict[str, Amounts]:
    """Return what pods that no topology placed hold, with a ``pods`` each, by the name of their node."""
    held: dict[str, Amounts] = {}
    for pod in pods:
        if not node_of(pod) or is_finished(pod) or any(key in annotations_of(pod) for key in PLACED):
            continue
        total = held.setdefault(node_of(pod), {})
        add(total, spec_requests(spec_of(pod)))
        add(total, {"pods": 1})
    return held


def _belongs(node: Manifest, flavor: ResourceFlavor, topology: Topology) -> bool:
    """Return whether a node is ready, takes pods, and has the flavor's labels and those of all levels."""
    labels = labels_of(node)
    return (
        ready_status(node) == "True"
        and not spec_of(node).get("unschedulable")
        and all(labels.get(key) == value for key, value in flavor.node_labels.items())
        and all(level in labels for level in topology.levels)
    )


def _grouped(leaves: list[Domain], depth: int, levels: int) -> tuple[Domain, ...]:
    """Return the domains of one level over leaves that are sorted by their values."""
    if depth == levels - 1:
        return tuple(leaves)
    below: dict[tuple[str, ...], list[Domain]] = {}
    for leaf in leaves:
        below.setdefault(leaf.values[: depth + 1], []).append(leaf)
    return tuple(Domain(values, _grouped(part, depth + 1, levels)) for values, part in below.items())


def add(total: Amounts, more: Mapping[str, int], times: int = 1) -> None:
    """Add amounts, ``times`` over, to ``total``."""
    for resource, amount in more.items():
        total[resource] = total.get(resource, 0) + amount * times


def subtract(total: Amounts, less: Mapping[str, int]) -> None:
    """Take amounts from ``total``, which may become negative."""
    add(total, less, -1)
