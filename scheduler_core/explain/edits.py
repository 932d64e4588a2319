"""Edits of manifests: what a user would type, as a merge patch, and the objects that the scheduler then sees.

An edit changes a manifest in place; the patch is the difference. The patch is parsed again by the reader of
patches and manifests, so that the change that is verified is the one that is shown.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.explain.world import ObjectsAtMoment
from scheduler_core.formats.difference import merge_patch
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.formats.patch import apply_patch
from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod, PriorityClass, Workload
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.kubernetes.support import part_of
from scheduler_core.scenario.load import read_objects

EFFORT = {
    "spelling": 0,  # nothing in the cluster has this name: it was never intended
    "uncordon": 1,
    "label": 1,
    "toleration": 1,
    "taint": 2,
    "selector": 2,
    "port": 2,
    "request": 2,
    "resize": 2,
    "fact": 3,  # a label that describes a machine: its zone, its architecture
    "affinity": 3,
    "allocatable": 3,
    "volume": 4,
    "class": 4,
    "claim": 4,  # created again: its volume stays behind
    "condition": 4,  # the kubelet reports it: the machine has to be repaired
    "victim": 4,
    "priority": 4,
    "delete": 5,
    "hardware": 5,  # of a kind that the machine has none of
    "node": 6,
    "moved": 9,  # a label by which a machine or a volume would be somewhere else
    "forgo": 7,  # a resource that the pod was given because it needs it
}
"""The cost of a change, by kind; the smallest change has the lowest sum over its edits."""

EditTarget = Literal["pod", "node", "pods", "storage"]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
Mutation = Callable[[Manifest], None]

# The fields that an edit may change, by kind; all others keep the cluster's values.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "Pod": ("containers", "init_containers", "tolerations", "node_selector", "affinity", "volumes"),
    "Node": ("allocatable", "taints", "unschedulable", "conditions"),
    "PersistentVolume": ("node_affinity",),
    "PersistentVolumeClaim": ("volume_name", "storage_class"),
    "StorageClass": ("binding_mode",),
}


class Edit(Struct, frozen=True):
    """One change of one object: ``mutate`` changes it, ``create`` adds it; with neither, it is deleted.

    ``size`` compares edits of equal effort: a resource's shortage as a share of the request.
    """

    kind: str
    key: str
    words: str
    cost: str  # a row of EFFORT
    side: EditTarget
    mutate: Mutation | None = None
    create: Manifest | None = None
    size: float = 0.0

    @property
    def effort(self) -> int:
        """The edit's cost."""
        return EFFORT[self.cost]


def apply(world: ObjectsAtMoment, edits: Iterable[Edit]) -> ObjectsAtMoment:
    """Return the world after the edits, each parsed back from its patch.

    Raises:
        BundleError: An edited manifest is not valid.
    """
    changed: dict[Key, KubernetesObject | None] = {}
    edited: dict[Key, Manifest] = {}
    for key, group in _grouped(edits).items():
        if group[0].create is not None:
            changed[key], edited[key] = _read(world, group[0].create, admission=False), group[0].create
        elif group[0].mutate is None:
            changed[key] = None
        else:
            changed[key], edited[key] = _edited(world, key, group)
    return replace(world.with_objects(changed), edited={**world.edited, **edited})


def _grouped(edits: Iterable[Edit]) -> dict[Key, list[Edit]]:
    groups: dict[Key, list[Edit]] = {}
    for edit in edits:
        groups.setdefault((edit.kind, edit.key), []).append(edit)
    return groups


def _edited(world: ObjectsAtMoment, key: Key, group: list[Edit]) -> tuple[KubernetesObject, Manifest]:
    """Return the object after its edits, and the patch that they are."""
    original = world.objects[key]
    document, admission = _source(world, key)
    owner = template_owner(world, key)
    if owner is not None and not _template_patch(world, owner, group):
        raise BundleError([Problem(f"the template of {' '.join(owner)} has nothing to be changed")])
    patch = _patch(document, group, pinned=is_daemon(original))
    patched = apply_patch(document, patch, "merge")
    read = _read(world, patched, admission=admission)
    noted = _annotations(patched) != _annotations(document)  # others may be newer than the manifest
    annotations = read.meta.annotations if noted else original.meta.annotations
    meta = replace(original.meta, labels=read.meta.labels, annotations=annotations)
    fields = {name: getattr(read, name) for name in FIELDS[key[0]]}
    return replace(original, meta=meta, **fields), patch


def _annotations(document: Mapping[str, Any]) -> Any:
    return (document.get("metadata") or {}).get("annotations")


def _source(world: ObjectsAtMoment, key: Key) -> tuple[Manifest, bool]:
    """Return the manifest that an object's edits start from, and whether it is read with admission.

    It is the given manifest if that still matches the object in the cluster, else one generated from the
    object.
    """
    known = world.sources.get(key)
    if known is None:
        known = world.sources[key] = _find_source(world, key)
    return known


def _find_source(world: ObjectsAtMoment, key: Key) -> tuple[Manifest, bool]:
    obj = world.objects[key]
    given = world.documents.get(key)
    if given is not None:
        for admission in (True, False):
            read = _read(world, given, admission=admission)
            same = all(getattr(read, name) == getattr(obj, name) for name in FIELDS[key[0]])
            if same and read.meta.labels == obj.meta.labels:
                return dict(given), admission
        if not isinstance(obj, (Node, Pod)):
            return dict(given), False
    return to_manifest(obj), False


def _read(world: ObjectsAtMoment, document: Mapping[str, Any], *, admission: bool) -> KubernetesObject:
    """Read one object; a pod's priority comes from the PriorityClasses of the world."""
    alone = copy.deepcopy(dict(document))
    if alone.get("kind") != "Pod":
        return read_objects([alone], admission=admission)[0]
    if isinstance(alone.get("spec"), dict):
        alone["spec"].pop("nodeName", None)  # its node is not in this bundle of one pod
    return read_objects([*map(class_manifest, world.classes), alone], admission=admission)[-1]


def is_daemon(obj: KubernetesObject) -> bool:
    """Return whether a DaemonSet made the pod: its controller writes the required node affinity."""
    return obj.meta.controller is not None and obj.meta.controller.kind == "DaemonSet"


def class_manifest(one: PriorityClass) -> Manifest:
    """Return the manifest of a PriorityClass."""
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    policy = {"preemptionPolicy": one.preemption_policy} if one.preemption_policy else {}
    default = {"globalDefault": True} if one.global_default else {}
    return {**head, "metadata": {"name": one.meta.name}, "value": one.value, **default, **policy}


def _patch(document: Manifest, group: Iterable[Edit], *, pinned: bool = False) -> Manifest:
    """Return the edits as a patch; a ``pinned`` pod keeps its required node affinity, whatever its template.

    Source: ``util.ReplaceDaemonSetPodNodeNameNodeAffinity``.
    """
    after = copy.deepcopy(document)
    for edit in group:
        assert edit.mutate is not None
        edit.mutate(after)
    required = part_of(document, "spec", "affinity", "nodeAffinity", REQUIRED) if pinned else None
    if required is not None:
        part(after, "spec", "affinity", "nodeAffinity")[REQUIRED] = required
    return merge_patch(document, after)


def _template_patch(world: ObjectsAtMoment, owner: Key, group: Iterable[Edit]) -> Manifest:
    """Return the edits as a patch of a controller's template; empty where it has not what they change."""
    try:
        return _patch(dict(world.documents[owner]["spec"]["template"]), group)
    except (KeyError, IndexError, TypeError):
        return {}


def patches(world: ObjectsAtMoment, edits: Iterable[Edit], *, templates: bool = True) -> list[Manifest]:
    """Return the requests for the API server, one entry per object.

    A pod that a controller created is patched in its controller's template, unless ``templates`` is off.
    """
    out: list[Manifest] = []
    for key, group in _grouped(edits).items():
        target = {"kind": key[0], "name": key[1]}
        if group[0].create is not None:
            out.append({"action": "create", **target, "object": group[0].create})
        elif group[0].mutate is None:
            out.append({"action": "delete", **target})
        else:
            out.append(_patch_of(world, key, group, template_owner(world, key) if templates else None))
    return out


def _patch_of(world: ObjectsAtMoment, key: Key, group: list[Edit], owner: Key | None) -> Manifest:
    if owner is None:
        document, _ = _source(world, key)
        body, target = _patch(document, group, pinned=is_daemon(world.objects[key])), key
    else:
        body, target = {"spec": {"template": _template_patch(world, owner, group)}}, owner
    return {"action": "patch", "kind": target[0], "name": target[1], "type": "merge", "patch": body}


def template_owner(world: ObjectsAtMoment, key: Key) -> Key | None:
    """Return the controller whose manifest holds the pod's template, ``None`` for a pod with its own."""
    obj: KubernetesObject | None = world.objects[key]
    if not isinstance(obj, Pod) or key in world.documents:
        return None
    return next((above for above in owners(world, key) if above in world.documents), None)


def owners(world: ObjectsAtMoment, key: Key) -> Iterator[Key]:
    """Yield the existing controllers above an object, the nearest first."""
    obj: KubernetesObject | None = world.objects[key]
    for _ in range(3):  # Pod, ReplicaSet, Deployment
        if obj is None or obj.meta.controller is None:
            return
        namespace = obj.meta.namespace
        above = (obj.meta.controller.kind, f"{namespace}/{obj.meta.controller.name}")
        obj = world.objects.get(above)
        if isinstance(obj, Workload):
            yield key_of(obj)
