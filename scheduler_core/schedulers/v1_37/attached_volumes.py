"""Which CSI volumes pods and VolumeAttachments hold on a node, and how many its drivers allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.csi_migration import (
    BY_PLUGIN,
    IN_TREE,
    TranslationError,
    in_tree_source,
    is_migrated_on,
)
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.volumes import class_name, not_owned

Volume = tuple[str, str]
"""Driver and handle."""


class VolumeError(ValueError):
    """The volumes of a pod cannot be counted."""


class MissingClaimError(VolumeError):
    """A waiting pod names a claim that does not exist."""


def volumes_of(
    cluster: ClusterState, pod: CompiledPod, *, migrated: frozenset[str], waiting: bool = False
) -> set[Volume]:
    """Return the CSI volumes that a pod attaches to a node (filterAttachableVolumes).

    ``migrated`` are the in-tree plugins whose volumes count as their drivers' there (:func:`migrated_on`).
    ``waiting``: the pod is not on the node yet; claims
    of other pods that do not exist are left out.

    Raises:
        MissingClaimError: A claim of a waiting pod does not exist.
        VolumeError: An inline volume cannot be translated, or an ephemeral one finds another pod's claim.
    """
    found = set()
    for volume in pod.volumes:
        if volume.get("persistentVolumeClaim") or volume.get("ephemeral") is not None:
            claim = _claim(cluster, pod, volume, waiting=waiting)
            one = None if claim is None else _of_claim(cluster, claim, migrated=migrated)
        else:
            one = _inline(volume, migrated)
        if one is not None:
            found.add(one)
    return found


def migrated_on(cluster: ClusterState, csi_node: Manifest | None) -> frozenset[str]:
    """Return the in-tree plugins whose volumes count as their drivers' on a node (isCSIMigrationOn).

    They are five on every node with a CSINode, but for those of which the release asks its annotation.
    """
    if csi_node is None:
        return frozenset()
    asked = cluster.configuration.dialect.migrates_if_annotated
    return frozenset(
        row.plugin
        for row in IN_TREE.values()
        if row.handle is not None and (row.plugin not in asked or is_migrated_on(csi_node, row.plugin))
    )


def _claim(
    cluster: ClusterState, pod: CompiledPod, volume: Mapping[str, Any], *, waiting: bool
) -> Manifest | None:
    named = volume.get("persistentVolumeClaim")
    name = named["claimName"] if named else f"{pod.name}-{volume['name']}"
    claim = cluster.get("PersistentVolumeClaim", pod.namespace, name)
    if claim is None and waiting:
        problem = f'looking up PVC {pod.namespace}/{name}: persistentvolumeclaim "{name}" not found'
        raise MissingClaimError(problem)
    problem = "" if named or claim is None else not_owned(pod, claim)
    if problem:
        raise VolumeError(problem)
    return claim


def _inline(volume: Mapping[str, Any], migrated: frozenset[str]) -> Volume | None:
    """Return the driver's volume of an in-tree volume in a pod (checkAttachableInlineVolume)."""
    try:
        return _translated(volume, {}, migrated)
    except TranslationError as error:
        text = f"converting volume({volume['name']}) from inline to csi: {error}"
        raise VolumeError(text) from None


def _translated(
    owner: Mapping[str, Any], labels: Mapping[str, str], migrated: frozenset[str]
) -> Volume | None:
    found = in_tree_source(owner)
    if found is None or found[0].plugin not in migrated:
        return None
    row, source = found
    assert row.handle is not None
    return row.driver, row.handle(source, labels)


def _of_claim(cluster: ClusterState, claim: Manifest, *, migrated: frozenset[str]) -> Volume | None:
    """Return the volume of a claim, as it is or as its class will make it (getCSIDriverInfo)."""
    bound = cluster.get("PersistentVolume", None, claim["spec"].get("volumeName") or "")
    if bound is None:
        return _of_class(cluster, claim, migrated=migrated)
    return _of_volume(bound, migrated=migrated)


def _of_class(cluster: ClusterState, claim: Manifest, *, migrated: frozenset[str]) -> Volume | None:
    """Return the volume that a claim will get from its class, with a handle of its own."""
    storage_class = cluster.get("StorageClass", None, class_name(claim))
    driver = (storage_class or {}).get("provisioner")
    row = BY_PLUGIN.get(driver or "")
    if row is not None:
        driver = row.driver if row.plugin in migrated else None
    meta = claim["metadata"]
    return (driver, f"claim:{meta.get('namespace') or 'default'}/{meta['name']}") if driver else None


def _of_volume(volume: Manifest, *, migrated: frozenset[str]) -> Volume | None:
    """Return driver and handle of a PersistentVolume; None if it is none of a CSI driver here."""
    spec = volume["spec"]
    csi = spec.get("csi")
    if csi is not None:
        return (csi["driver"], csi["volumeHandle"]) if csi.get("driver") and csi.get("volumeHandle") else None
    try:
        found = _translated(spec, volume["metadata"].get("labels") or {}, migrated)
    except TranslationError:
        return None
    return found if found and found[1] else None


def attachments(cluster: ClusterState) -> dict[str, set[Volume]]:
    """Return the CSI volumes of the VolumeAttachments by node (getNodeVolumeAttachmentInfo)."""
    out: dict[str, set[Volume]] = {}
    for attachment in cluster.list("VolumeAttachment"):
        spec = attachment["spec"]
        name = (spec.get("source") or {}).get("persistentVolumeName")
        volume = None if name is None else cluster.get("PersistentVolume", None, name)
        if spec.get("attacher") and volume is not None and volume["spec"].get("csi") is not None:
            handle = volume["spec"]["csi"].get("volumeHandle") or ""
            out.setdefault(spec.get("nodeName") or "", set()).add((spec["attacher"], handle))
    return out


def limits_of(csi_node: Manifest | None) -> dict[str, int]:
    """Return the limits that a node's drivers published."""
    counts = {driver["name"]: driver.get("allocatable") or {} for driver in _drivers(csi_node)}
    return {name: int(given["count"]) for name, given in counts.items() if given.get("count") is not None}


def missing_driver(cluster: ClusterState, csi_node: Manifest | None, volumes: set[Volume]) -> str | None:
    """Return a driver that a node must have for the volumes, and has not (checkCSIDriverOnNode).

    Only drivers whose CSIDriver has ``preventPodSchedulingIfMissing`` are checked, or by the release all that
    have a CSIDriver; the first by name is returned, where upstream takes any.
    """
    optional = cluster.configuration.dialect.driver_may_be_missing
    installed = {driver["name"] for driver in _drivers(csi_node)}
    for name in sorted({driver for driver, _ in volumes} - installed):
        found = cluster.get("CSIDriver", None, name)
        spec = (found or {}).get("spec") or {}
        if spec.get("preventPodSchedulingIfMissing") or (found is not None and not optional):
            return name
    return None


def _drivers(csi_node: Manifest | None) -> list[Mapping[str, Any]]:
    return ((csi_node or {}).get("spec") or {}).get("drivers") or []
