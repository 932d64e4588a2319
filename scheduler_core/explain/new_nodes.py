"""Another node like one that exists, as a remedy: the same machine without its pods, but for its agents."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from scheduler_core.explain.edits import Edit
from scheduler_core.explain.world import ObjectsAtMoment, Standing
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod
from scheduler_core.kubernetes.quantity import format_resource

HOSTNAME = "kubernetes.io/hostname"
SHAPES_TRIED = 3
AGENTS = ("DaemonSet", "Node")  # owners of pods that every such node runs: of DaemonSets, and static ones
PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")  # taints of a node's state
OWN = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "managedFields",
    "selfLink",
    "annotations",
    "ownerReferences",
)
OWN_SPEC = ("providerID", "podCIDR", "podCIDRs", "unschedulable", "externalID")


def shapes(standing: Standing, rows: Sequence[int]) -> Iterator[int]:
    """Yield a row for each kind of node, a few at most, those with the fewest failures first."""
    seen: set[str] = set()
    for row in sorted(rows, key=lambda row: len(standing.failures(row))):
        shape = repr(_copy(standing.node(row), standing.world, "x"))
        if shape in seen:
            continue
        seen.add(shape)
        yield row
        if len(seen) == SHAPES_TRIED:
            return


def node_like(standing: Standing, row: int) -> Edit:
    """Return the edit that adds another node like the one of a row."""
    node, world = standing.node(row), standing.world
    name = _free(world, node.meta.name)
    basic = ", ".join(
        f"{amount} {format_resource(amount, node.allocatable.get(amount, 0))}" for amount in ("cpu", "memory")
    )
    words = f"add a node like {node.meta.name} ({basic})"
    return Edit("Node", name, words, "node", "node", create=_copy(node, world, name))


def with_agents(world: ObjectsAtMoment, standing: Standing, row: int, name: str) -> ObjectsAtMoment:
    """Return the world in which the new node runs copies of the other one's DaemonSet and static pods."""
    made: dict[Key, KubernetesObject | None] = {}
    edited: dict[Key, Manifest] = {}
    for state in standing.cluster.residents[row].values():
        owner = state.pod.meta.controller
        if owner is None or owner.kind not in AGENTS:
            continue
        short = f"{state.pod.meta.name}-{name}"
        meta = replace(state.pod.meta, name=short, uid="")
        pod: Pod = replace(state.pod, meta=meta, node_name=name)
        key: Key = ("Pod", pod.meta.key)
        made[key], edited[key] = pod, to_manifest(pod)
    return replace(world.with_objects(made), edited={**world.edited, **edited})


def _free(world: ObjectsAtMoment, name: str) -> str:
    return next(
        wanted
        for number in range(1, len(world.objects) + 2)
        if ("Node", wanted := f"{name}-{'new' if number == 1 else f'new-{number}'}") not in world.objects
    )


def _copy(node: Node, world: ObjectsAtMoment, name: str) -> Manifest:
    """Return the manifest of a node as it joins the cluster: ready, with a hostname of its own."""
    given: Mapping[str, Any] = world.documents.get(("Node", node.meta.name)) or to_manifest(node)
    made: Manifest = copy.deepcopy(dict(given))
    meta, labels = made.setdefault("metadata", {}), dict(node.meta.labels)
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    made["metadata"] = {**{key: meta[key] for key in meta if key not in OWN}, "name": name}
    made["metadata"] |= {"labels": labels} if labels else {}
    spec = {key: value for key, value in (made.pop("spec", None) or {}).items() if key not in OWN_SPEC}
    taints = [one for one in spec.pop("taints", None) or () if not str(one.get("key")).startswith(PASSING)]
    spec |= {"taints": taints} if taints else {}
    made |= {"spec": spec} if spec else {}
    status = made.get("status") or {}
    kept = {key: status[key] for key in ("allocatable", "capacity") if key in status}
    made["status"] = {**kept, "conditions": [{"type": "Ready", "status": "True"}]}
    return made
