"""Volumes that a class's provisioner makes: for which nodes, and what they look like.

Source: ``volumebinding.checkVolumeProvisions``, ``v1helper.MatchTopologySelectorTerms`` and the library of
external provisioners. Storage capacity (CSIStorageCapacity) does not count.
"""

from __future__ import annotations

from dataclasses import replace

from scheduler_core.objects.admission import uid_for
from scheduler_core.objects.model import (
    Node,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Requirement,
    StorageClass,
    Volume,
)

NO_PROVISIONER = "kubernetes.io/no-provisioner"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


def provisions(storage_class: StorageClass | None) -> bool:
    """Tell whether a class makes volumes."""
    return storage_class is not None and storage_class.provisioner not in ("", NO_PROVISIONER)


def allows(storage_class: StorageClass, node: Node) -> bool:
    """Tell whether a class makes volumes for a node: one of its topologies, if there are any, is its own."""
    topologies = storage_class.allowed_topologies
    return not topologies or any(_is_in(topology, node) for topology in topologies)


def _is_in(topology: tuple[Requirement, ...], node: Node) -> bool:
    return all(node.meta.labels.get(one.key) in one.values for one in topology)


def selected_node(claim: PersistentVolumeClaim) -> str:
    """Return the node that a scheduler chose for a claim, "" if none has."""
    return claim.meta.annotations.get(SELECTED_NODE, "")


def with_selected_node(claim: PersistentVolumeClaim, node: str) -> PersistentVolumeClaim:
    """Return the claim with the node that was chosen for it, or without any."""
    annotations = {name: text for name, text in claim.meta.annotations.items() if name != SELECTED_NODE}
    if node:
        annotations[SELECTED_NODE] = node
    return replace(claim, meta=replace(claim.meta, annotations=annotations))


def volume_for(
    claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node | None
) -> PersistentVolume:
    """Return the volume that a class makes for a claim, in reach of the node that was chosen, if one was."""
    uid = claim.meta.uid or uid_for("PersistentVolumeClaim", claim.meta.namespace, claim.meta.name)
    name = f"pvc-{uid}"
    meta = ObjectMeta(
        name,
        uid=uid_for("PersistentVolume", "", name),
        annotations={PROVISIONED_BY: storage_class.provisioner},
    )
    return PersistentVolume(
        meta,
        Volume(),
        _reach(storage_class, node),
        claim.storage_class or "",
        claim.request,
        claim.access_modes,
        claim.meta.key,
        "Bound",
    )


def _reach(storage_class: StorageClass, node: Node | None) -> tuple[NodeSelectorTerm, ...] | None:
    """Return a new volume's node affinity: the topology it is made in, else the zone, as clouds do.

    Without a node to go by it is the first of the class's topologies, and of each label its first value.
    """
    topologies = storage_class.allowed_topologies
    if node is None:
        found = {one.key: one.values[0] for one in topologies[0]} if topologies else {}
    else:
        labels = node.meta.labels
        topology = next((one for one in topologies if _is_in(one, node)), ())
        keys = [one.key for one in topology] or [key for key in _ZONES if key in labels][:1]
        found = {key: labels[key] for key in keys if key in labels}
    if not found:
        return None
    return (NodeSelectorTerm(tuple(Requirement(key, "In", (value,)) for key, value in found.items())),)
