"""Dynamic provisioning: the nodes that a class can provision volumes for, and the provisioned volumes.

Source: ``volumebinding.checkVolumeProvisions``, ``v1helper.MatchTopologySelectorTerms`` and the library of
external provisioners. Storage capacity (CSIStorageCapacity) is not considered.
"""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.kubernetes.admission import uid_for
from scheduler_core.kubernetes.model import (
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
    """Return whether a class provisions volumes."""
    return storage_class is not None and storage_class.provisioner not in ("", NO_PROVISIONER)


def allows(storage_class: StorageClass, node: Node) -> bool:
    """Return whether a class provisions volumes for a node, which must match an allowed topology, if any."""
    topologies = storage_class.allowed_topologies
    return not topologies or any(_is_in(topology, node) for topology in topologies)


def _is_in(topology: tuple[Requirement, ...], node: Node) -> bool:
    return all(node.meta.labels.get(one.key) in one.values for one in topology)


def selected_node(claim: PersistentVolumeClaim) -> str:
    """Return the selected node of a claim, "" without one."""
    return claim.meta.annotations.get(SELECTED_NODE, "")


def with_selected_node(claim: PersistentVolumeClaim, node: str) -> PersistentVolumeClaim:
    """Return the claim with this selected node; "" for none."""
    annotations = {name: text for name, text in claim.meta.annotations.items() if name != SELECTED_NODE}
    if node:
        annotations[SELECTED_NODE] = node
    return replace(claim, meta=replace(claim.meta, annotations=annotations))


def volume_for(
    claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node | None
) -> PersistentVolume:
    """Return the volume that a class provisions for a claim, reachable from the selected node, if any."""
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
    """Return a new volume's node affinity: the class's topology, otherwise the zone, as cloud providers do.

    Without a selected node it is the first of the class's topologies, with the first value of each label.
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
