"""NodeVolumeLimits: how many volumes of a CSI driver a node can attach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from scheduler_core.v1_37.change import Manifest
from scheduler_core.v1_37.plugins.base import (
    OK,
    SKIPPED,
    Codes,
    Context,
    Plugin,
    Rows,
    Status,
    unresolvable,
)
from scheduler_core.v1_37.pods import Pod
from scheduler_core.v1_37.state import Cluster
from scheduler_core.v1_37.status import UNSCHEDULABLE
from scheduler_core.v1_37.volumes import annotations_of, class_name

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"

_EXCEEDED = Status(UNSCHEDULABLE, ("node(s) exceed max volume count",))

Volume = tuple[str, str]
"""Driver and handle."""

_INLINE: Mapping[str, tuple[str, str, Callable[[Mapping[str, Any]], str]]] = {
    "gcePersistentDisk": (
        "kubernetes.io/gce-pd",
        "pd.csi.storage.gke.io",
        lambda disk: f"projects/UNSPECIFIED/zones/UNSPECIFIED/disks/{disk['pdName']}",
    ),
    "awsElasticBlockStore": ("kubernetes.io/aws-ebs", "ebs.csi.aws.com", lambda disk: disk["volumeID"]),
}
_MIGRATED = {in_tree: driver for in_tree, driver, _ in _INLINE.values()}


def is_migratable(volume: Mapping[str, Any]) -> bool:
    """Return whether an inline volume is of an in-tree plugin that has a CSI driver."""
    return any(volume.get(kind) for kind in _INLINE)


def volumes_of(cluster: Cluster, pod: Pod, csi_node: Manifest | None) -> set[Volume]:
    """Return the CSI volumes that a pod attaches to a node (filterAttachableVolumes)."""
    migrated = set(annotations_of(csi_node).get(MIGRATED_PLUGINS, "").split(",")) if csi_node else set()
    found = set()
    for volume in pod.volumes:
        for kind, (in_tree, driver, handle) in _INLINE.items():
            if volume.get(kind) and in_tree in migrated:
                found.add((driver, handle(volume[kind])))
    for name, _ in pod.claims:
        claim = cluster.get("PersistentVolumeClaim", pod.namespace, name)
        volume_ = None if claim is None else _of_claim(cluster, claim, migrated)
        if volume_ is not None:
            found.add(volume_)
    return found


def _of_claim(cluster: Cluster, claim: Manifest, migrated: set[str]) -> Volume | None:
    bound = cluster.get("PersistentVolume", None, claim["spec"].get("volumeName") or "")
    if bound is not None:
        return _of_volume(bound, migrated)
    storage_class = cluster.get("StorageClass", None, class_name(claim))
    provisioner = (storage_class or {}).get("provisioner")
    if not provisioner:
        return None
    if provisioner in _MIGRATED:
        if provisioner not in migrated:
            return None
        provisioner = _MIGRATED[provisioner]
    meta = claim["metadata"]
    return provisioner, f"claim:{meta.get('namespace') or 'default'}/{meta['name']}"


def _of_volume(volume: Manifest, migrated: set[str]) -> Volume | None:
    spec = volume["spec"]
    if spec.get("csi"):
        return spec["csi"]["driver"], spec["csi"]["volumeHandle"]
    for kind, (in_tree, driver, handle) in _INLINE.items():
        if spec.get(kind) and in_tree in migrated:
            return driver, handle(spec[kind])
    return None


def limits_of(csi_node: Manifest | None) -> dict[str, int]:
    """Return the limits that a node's drivers published."""
    out = {}
    for driver in ((csi_node or {}).get("spec") or {}).get("drivers") or ():
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None:
            out[driver["name"]] = int(count)
    return out


class NodeVolumeLimits(Plugin):
    """``allocatable.count`` of the CSINode's drivers."""

    key = "NodeVolumeLimits"

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Skip without claims and migratable volumes."""
        pod = ctx.pod
        return (OK if pod.claims or any(map(is_migratable, pod.volumes)) else SKIPPED), None

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse nodes that the pod's volumes are too many for (1), all if a claim is missing (2)."""
        codes = np.zeros(len(rows), np.int64)
        if self._missing(ctx) is not None:
            codes[:] = 2
            return codes
        attached: dict[str, set[Volume]] = {}
        for attachment in ctx.cluster.list("VolumeAttachment"):
            spec = attachment["spec"]
            volume = ctx.cluster.get(
                "PersistentVolume", None, (spec.get("source") or {}).get("persistentVolumeName") or ""
            )
            if volume is not None and volume["spec"].get("csi"):
                handle = volume["spec"]["csi"]["volumeHandle"]
                attached.setdefault(spec["nodeName"], set()).add((spec["attacher"], handle))
        for place, row in enumerate(rows):
            codes[place] = self._exceeds(ctx, row, attached)
        return codes

    @staticmethod
    def _missing(ctx: Context) -> str | None:
        pod = ctx.pod
        return next(
            (
                name
                for name, _ in pod.claims
                if ctx.cluster.get("PersistentVolumeClaim", pod.namespace, name) is None
            ),
            None,
        )

    @staticmethod
    def _exceeds(ctx: Context, row: int, attached: Mapping[str, set[Volume]]) -> bool:
        node = ctx.nodes.nodes[row]
        csi_node = ctx.cluster.get("CSINode", None, node.name)
        limits = limits_of(csi_node)
        if not limits:
            return False
        fresh = volumes_of(ctx.cluster, ctx.pod, csi_node)
        used = {volume for pod in node.pods for volume in volumes_of(ctx.cluster, pod, csi_node)}
        counts = Counter(driver for driver, _ in used | attached.get(node.name, set()))
        more = Counter(driver for driver, _ in fresh - used)  # one that is attached, but unused, counts twice
        return any(driver in limits and counts[driver] + new > limits[driver] for driver, new in more.items())

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return the one reason, or which claim is missing."""
        del row
        if code == 1:
            return _EXCEEDED
        name = self._missing(ctx)
        text = f'looking up PVC {ctx.pod.namespace}/{name}: persistentvolumeclaim "{name}" not found'
        return unresolvable(text)


PLUGIN = NodeVolumeLimits()
