"""Another node like one that exists, as a remedy: the same machine without its pods, but for its agents."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from scheduler_core.explain.edits import Edit
from scheduler_core.explain.resources import amounts
from scheduler_core.explain.rules import PodOnNode
from scheduler_core.explain.world import NodeVerdicts, ObjectsAtMoment
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.kubernetes.quantity import format_resource
from scheduler_core.schedulers.v1_11.predicates.general import INSUFFICIENT
from scheduler_core.schedulers.v1_11.predicates.interpod import GENERAL_REASON

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
PARTS = ("metadata", "spec", "status")
AMOUNTS = ("allocatable", "capacity")
UNITS = {"cpu": 1000, "memory": 2**30, "ephemeral-storage": 2**30}
"""In which the amounts of machines grow."""
MOST_LARGER = 10  # resources in which a new node is larger than those that there are
OWN_SPEC = ("providerID", "podCIDR", "podCIDRs", "unschedulable", "externalID")


def shapes(standing: NodeVerdicts, rows: Sequence[int]) -> Iterator[int]:
    """Yield a row for each kind of node, a few at most, those with the fewest failures first."""
    seen: set[str] = set()
    for row in sorted(rows, key=lambda row: len(standing.failures(row))):
        shape = repr(_joining(standing, row, "x"))
        if shape in seen:
            continue
        seen.add(shape)
        yield row
        if len(seen) == SHAPES_TRIED:
            return


def node_like(standing: NodeVerdicts, row: int, larger: Mapping[str, int]) -> Edit:
    """Return the edit that adds another node like the one of a row, but with ``larger`` amounts."""
    node, world = standing.node(row), standing.world
    name = _free(world, node.meta.name)
    asked = (name for name, _ in standing.pod.info.scalar_request if node.allocatable.get(name))
    basic = ", ".join(
        f"{name} {format_resource(name, node.allocatable.get(name, 0))}" for name in ("cpu", "memory", *asked)
    )
    words = f"add a node like {node.meta.name} ({basic})"
    made, size = _joining(standing, row, name), 0.0
    if larger:
        shown = {resource: format_resource(resource, amount) for resource, amount in larger.items()}
        listed = ", ".join(f"{amount} {resource}" for resource, amount in shown.items())
        words, size = f"{words}, but with {listed}", 1.0
        for given in made["status"]:
            if given in AMOUNTS:
                made["status"][given] = {**made["status"][given], **shown}
    return Edit("Node", name, words, "node", "node", create=made, size=size)


def enlarged(place: PodOnNode) -> Mapping[str, int]:
    """Return the amounts with which a new node would hold the pod; empty if it lacks anything else."""
    out: dict[str, int] = {}
    for failure in place.standing.failures(place.row):
        for reason in failure.reasons:
            if reason == GENERAL_REASON:
                continue
            if not reason.startswith(INSUFFICIENT) or failure.error is not None:
                return {}
            have = amounts(place, reason.removeprefix(INSUFFICIENT))
            if not have.allocatable and place.standing.served_by(have.name):
                return {}
            unit = UNITS.get(have.name, 1)
            out[have.name] = -(-(have.allocatable + have.short) // unit) * unit
    return out if len(out) <= MOST_LARGER else {}


def with_agents(world: ObjectsAtMoment, standing: NodeVerdicts, row: int, name: str) -> ObjectsAtMoment:
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


def _joining(standing: NodeVerdicts, row: int, name: str) -> Manifest:
    node = standing.node(row)
    given = standing.world.documents.get(("Node", node.meta.name)) or to_manifest(node)
    return joining(given, node.meta.labels, name)


def joining(given: Mapping[str, Any], own_labels: Mapping[str, str], name: str) -> Manifest:
    """Return a node like another as it joins the cluster: ready, with a hostname of its own."""
    meta, status, labels = given.get("metadata", {}), given.get("status") or {}, dict(own_labels)
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    made: Manifest = {key: value for key, value in given.items() if key not in PARTS}
    made["metadata"] = {**{key: meta[key] for key in meta if key not in OWN}, "name": name}
    made["metadata"] |= {"labels": labels} if labels else {}
    spec = {key: value for key, value in (given.get("spec") or {}).items() if key not in OWN_SPEC}
    taints = [one for one in spec.pop("taints", None) or () if not str(one.get("key")).startswith(PASSING)]
    spec |= {"taints": taints} if taints else {}
    made |= {"spec": spec} if spec else {}
    kept = {key: status[key] for key in AMOUNTS if key in status}
    made["status"] = {**kept, "conditions": [{"type": "Ready", "status": "True"}]}
    return copy.deepcopy(made)
