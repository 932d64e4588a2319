"""Nodes and zones that are alike: what is lost with one of them is what is lost with any of them.

Nodes are alike if nothing that scheduler and controllers read tells them apart, but their names: labels,
taints, amounts, and pods of the same workloads in the same state. Names only break ties.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from scheduler_core.audit.cluster import AuditedCluster
from scheduler_core.kubernetes.model import Node, Pod

HOSTNAME = "kubernetes.io/hostname"
ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
Classes = list[tuple[str, ...]]


def zones_of(nodes: Iterable[Node]) -> Mapping[str, list[Node]]:
    """Return the nodes by zone; those without one are left out."""
    found: dict[str, list[Node]] = {}
    for node in nodes:
        zone = next((node.meta.labels[key] for key in ZONES if node.meta.labels.get(key)), "")
        if zone:
            found.setdefault(zone, []).append(node)
    return found


def zone_key(nodes: Iterable[Node]) -> str:
    """Return the label that the zones are values of."""
    return next((key for key in ZONES if any(key in node.meta.labels for node in nodes)), ZONES[0])


def node_classes(cluster: AuditedCluster) -> Classes:
    """Return the names of nodes that are alike, each class in the order of the nodes."""
    return _classes({node.meta.name: _signature(cluster, node) for node in cluster.nodes})


def zone_classes(cluster: AuditedCluster) -> Classes:
    """Return the zones that are alike: as many nodes of each class, but for the zone."""
    zones = zones_of(cluster.nodes)
    return _classes(
        {
            zone: tuple(sorted(hash(_signature(cluster, node, without=ZONES)) for node in nodes))
            for zone, nodes in zones.items()
        }
    )


def _classes(signatures: Mapping[str, Hashable]) -> Classes:
    found: dict[Hashable, list[str]] = {}
    for name, signature in signatures.items():
        found.setdefault(signature, []).append(name)
    return [tuple(names) for names in found.values()]


def _signature(cluster: AuditedCluster, node: Node, without: Sequence[str] = ()) -> Hashable:
    labels = {key: value for key, value in node.meta.labels.items() if key not in (HOSTNAME, *without)}
    own = [key for key, value in labels.items() if value == node.meta.name]
    residents = sorted(hash(_resident(cluster, pod)) for pod in cluster.pods_on[node.meta.name])
    return (
        frozenset((key, value) for key, value in labels.items() if key not in own),
        frozenset(own),
        node.taints,
        node.unschedulable,
        frozenset(node.allocatable.items()),
        node.conditions,
        tuple(residents),
    )


def _resident(cluster: AuditedCluster, pod: Pod) -> Hashable:
    owner = pod.meta.controller
    claims = tuple(volume.claim for volume in pod.volumes if volume.claim)
    named = pod.meta.key if owner is None or claims else ""
    return (cluster.top(pod), owner, named, pod.phase, pod.ready, frozenset(pod.meta.labels.items()))
