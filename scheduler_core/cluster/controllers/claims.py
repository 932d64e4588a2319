"""Claims and volumes: bind the smallest volume that fits, or a new one from the class's provisioner.

Source: ``pkg/controller/volume/persistentvolume``, ``syncUnboundClaim`` and ``index.go``. A claim of a class
with WaitForFirstConsumer is bound when a pod that uses it has a node, by a volume that the node may use.
The scheduler's PreBind calls :func:`bind` too.
"""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.model import Node, PersistentVolume, PersistentVolumeClaim, StorageClass
from scheduler_core.kubernetes.provisioning import PROVISIONED_BY, allows, provisions, volume_for
from scheduler_core.kubernetes.selectors import matches, term_matches


def reconcile(claim: PersistentVolumeClaim, store: Store, now: float) -> Reconciliation:
    """Bind a claim without a volume, unless it still waits for its first consumer or no volume fits."""
    del now
    if claim.volume_name:
        return _confirm(claim, store)
    if not waits(claim, store):
        return bind(claim, store, None)
    nodes = (store.nodes.get(pod.node_name) for pod in store.users(claim.meta.key) if not pod.terminal)
    node = next((node for node in nodes if node is not None), None)
    return bind(claim, store, node) if node is not None else ()


def waits(claim: PersistentVolumeClaim, store: Store) -> bool:
    """Return whether the claim is bound only once a pod that uses it has a node (WaitForFirstConsumer)."""
    found = _class_of(claim, store)
    return found is not None and found.binding_mode == "WaitForFirstConsumer"


def bind(claim: PersistentVolumeClaim, store: Store, node: Node | None) -> list[Change]:
    """Return the changes that bind the claim to a volume that ``node`` may use; empty if there is none."""
    names = store.volumes.volumes_for(claim)
    listed = (store.objects.get(("PersistentVolume", name)) for name in names)
    fitting = (v for v in listed if isinstance(v, PersistentVolume) and _fits(v, claim, node))
    volume = next(fitting, None)
    changes: list[Change] = []
    if volume is None:
        volume = _provisioned(claim, store, node)
        if volume is None:
            return []
        changes.append(Change("create", volume, "ProvisioningSucceeded"))
    elif volume.claim_ref != claim.meta.key or volume.phase != "Bound":
        taken = replace(volume, claim_ref=claim.meta.key, phase="Bound")
        changes.append(Change("update", taken, "Bound"))
    return [*changes, Change("update", replace(claim, volume_name=volume.meta.name), "Bound")]


def _confirm(claim: PersistentVolumeClaim, store: Store) -> Reconciliation:
    """Set the claimRef of the volume that a claim names (the claim was bound manually)."""
    volume = store.objects.get(("PersistentVolume", claim.volume_name))
    if isinstance(volume, PersistentVolume) and not volume.claim_ref:
        return (Change("update", replace(volume, claim_ref=claim.meta.key, phase="Bound"), "Bound"),)
    return ()


def released(claim: PersistentVolumeClaim, store: Store, now: float) -> Reconciliation:
    """Return the changes after a claim's deletion.

    A provisioned volume is deleted, one that an administrator created is Released.
    """
    del now
    changes = []
    for name in store.volumes.kept_for(claim.meta.key):
        volume = store.objects[("PersistentVolume", name)]
        if isinstance(volume, PersistentVolume) and name == claim.volume_name:
            if PROVISIONED_BY in volume.meta.annotations:
                changes.append(Change("delete", volume, "VolumeDeleted"))
            else:
                changes.append(Change("update", replace(volume, phase="Released"), "Released"))
    return changes


def _class_of(claim: PersistentVolumeClaim, store: Store) -> StorageClass | None:
    found = store.objects.get(("StorageClass", claim.storage_class or ""))
    return found if isinstance(found, StorageClass) else None


def _fits(volume: PersistentVolume, claim: PersistentVolumeClaim, node: Node | None) -> bool:
    return (
        volume.storage_class == (claim.storage_class or "")
        and volume.capacity >= claim.request
        and volume.phase not in ("Released", "Failed")
        and set(claim.access_modes) <= set(volume.access_modes)
        and (claim.selector is None or matches(claim.selector, volume.meta.labels))
        and (node is None or may_use(volume, node))
    )


def may_use(volume: PersistentVolume, node: Node) -> bool:
    """Return whether the volume's node affinity, if it has one, selects the node."""
    terms = volume.node_affinity
    return terms is None or any(term_matches(term, node) for term in terms)


def _provisioned(claim: PersistentVolumeClaim, store: Store, node: Node | None) -> PersistentVolume | None:
    """Return the volume that the class's provisioner creates, reachable from the node if one is given."""
    found = _class_of(claim, store)
    if found is None or not provisions(found) or (node is not None and not allows(found, node)):
        return None
    volume = volume_for(claim, found, node)
    return None if ("PersistentVolume", volume.meta.name) in store.objects else volume
