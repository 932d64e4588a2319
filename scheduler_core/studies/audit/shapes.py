"""Nodes to add: the shapes that there are, and how many of each until pods fit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from scheduler_core.explain.new_nodes import joining
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.run.v1_37.loop import V1_37Stepper
from scheduler_core.studies.audit.cluster import AuditedCluster, stays
from scheduler_core.studies.audit.room import Fill, Vacancies
from scheduler_core.studies.audit.symmetry import ZONES
from scheduler_core.studies.audit.words import amounts, count

SHAPES = 3
"""Shapes of nodes that are tried."""
MOST_ADDED = 50
"""Nodes that are added at most."""
BETWEEN_PODS = ("affinity", "topologySpreadConstraints")
"""What a pod says of others, so that where these are matters."""


class Shape(Struct, frozen=True):
    """A kind of node: one that is like it, with the pods that each such node runs, and its words."""

    node: Document
    agents: tuple[Document, ...]
    words: str
    model: str


def room_of(cluster: AuditedCluster) -> Vacancies:
    """Return a copy of the cluster at rest for further pods."""
    run = cluster.rest.run
    assert isinstance(run, V1_37Stepper)
    return Vacancies(run)


def shapes(cluster: AuditedCluster, room: Vacancies) -> list[Shape]:
    """Return the kinds of nodes, the most frequent first, at most :data:`SHAPES`."""
    found: dict[str, list[Document]] = {}
    for node in cluster.nodes:
        given = room.node(node.meta.name)
        if given is not None:
            found.setdefault(_likeness(given, node), []).append(given)
    frequent = sorted(found.values(), key=lambda nodes: -len(nodes))[:SHAPES]
    return [_shape(cluster, room, nodes[0]) for nodes in frequent]


def _likeness(given: Document, node: Node) -> str:
    """Return what tells a node from others as it joins: amounts of memory as far as people compare them."""
    made = joining(given, node.meta.labels, "x")
    rest = {
        name: value for name, value in node.allocatable.items() if name not in ("memory", "ephemeral-storage")
    }
    memory = node.allocatable.get("memory", 0) >> 26
    return json.dumps([made["metadata"], made.get("spec"), rest, memory], sort_keys=True, default=str)


def _shape(cluster: AuditedCluster, room: Vacancies, node: Document) -> Shape:
    name = node["metadata"]["name"]
    staying = [pod for pod in cluster.pods_on[name] if stays(pod)]
    agents = tuple(one for pod in staying if (one := room.pod(pod.meta.key)) is not None)
    held = next(one for one in cluster.nodes if one.meta.name == name).allocatable
    basic = {key: held[key] for key in ("cpu", "memory", *sorted(held)) if key in held and _tells(key)}
    zone = next((labels[key] for key in ZONES if (labels := _labels(node)).get(key)), "")
    where = f"zone {zone}, " if zone else ""
    return Shape(node, agents, f"a node like {name} ({where}{amounts(basic)})", name)


def _labels(node: Document) -> Mapping[str, str]:
    found: Mapping[str, str] = node["metadata"].get("labels") or {}
    return found


def _tells(resource: str) -> bool:
    return resource in ("cpu", "memory") or ("/" in resource and "hugepages" not in resource)


def put(room: Vacancies, shape: Shape, number: int) -> str:
    """Add a node of a shape with its agents; return its name."""
    name = f"{shape.model}-new-{number}"
    room.add(joining(shape.node, shape.node["metadata"].get("labels") or {}, name))
    for one in shape.agents:
        meta = {**one["metadata"], "name": f"{one['metadata']['name']}-new-{number}", "uid": ""}
        room.add({**one, "metadata": meta, "spec": {**one["spec"], "nodeName": name}})
    return name


def one_more(cluster: AuditedCluster, room: Vacancies, manifest: Document, fill: Fill) -> Iterator[str]:
    """Yield how many more a node of each shape would hold; ``room`` is full already."""
    if not fill.stop:
        return
    apart = any(manifest["spec"].get(name) for name in BETWEEN_PODS)
    for number, shape in enumerate(shapes(cluster, room_of(cluster)), 1):
        if apart and number > 1:  # where another one was added may tell on this one
            room = room_of(cluster)
            room.fill(manifest, most=fill.placed)
        put(room, shape, number)
        yield f"{shape.words} would hold {room.fill(manifest).placed:,} more"


def fewest_nodes(cluster: AuditedCluster, manifest: Document, replicas: int) -> Iterator[str]:
    """Yield for each shape how many nodes of it have to be added until as many more of a pod fit."""
    for shape in shapes(cluster, room_of(cluster)):
        room = room_of(cluster)
        missing = replicas - room.fill(manifest, most=replicas).placed
        added = 0
        while missing > 0 and added < MOST_ADDED:
            added += 1
            put(room, shape, added)
            placed = room.fill(manifest, most=missing).placed
            if not placed:
                break
            missing -= placed
        yield added_words(shape, added, missing)


def added_words(shape: Shape, added: int, missing: int) -> str:
    """Return what so many nodes of a shape come to, with so many pods that still have no place."""
    if missing > 0 and not added:
        return f"{shape.words}: does not help"
    if missing > 0:
        return f"{shape.words}: not with {count(added, 'node')} more ({count(missing, 'pod')} would be left)"
    return f"{shape.words}: {count(added, 'more node')}" if added else f"{shape.words}: none is needed"


def placing_all(cluster: AuditedCluster, shape: Shape, pods: Sequence[Pod]) -> tuple[int, int]:
    """Return how many nodes of a shape were added until all pods were placed, or one more placed none."""
    room = room_of(cluster)
    left = [one for pod in pods if (one := room.pod(pod.meta.key)) is not None]
    added = 0
    while left and added < MOST_ADDED:
        put(room, shape, added + 1)
        still = [one for one in left if not room.fill(one, most=1).placed]
        if len(still) == len(left):
            break
        added, left = added + 1, still
    return added, len(left)
