"""Predicates on the volumes in use on a node: disk conflicts and the number of attached volumes."""

from __future__ import annotations

import numpy as np

from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.storage import ATTACH_KINDS, disks_conflict
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.predicate import FITS, PredicateResult, failing
from scheduler_core.schedulers.quirks import quirk
from scheduler_core.schedulers.v1_11.predicates.rule import FilterPlugin, OrderPlace, Reason, Rule

_MIGRATED = "volumes that a CSI driver took over are counted as what their manifests say"


class NoDiskConflict:
    """Disks that another pod of the node holds (predicates.NoDiskConflict)."""

    scope = Scope.NODE
    reads = Reads(pod=("volumes",), objects=("Pod",))
    reason = "node(s) had no available disk"

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where a disk is in use and cannot be shared."""
        if not pod.volumes:
            return FITS
        wanted = view.cluster.use_of(pod).disks
        if not wanted:
            return FITS
        index = view.cluster.disk_nodes
        nodes = {node for disk, _ in wanted for node in index.get(disk, ())}
        taken = np.zeros(view.size, np.bool_)
        for row in {*view.row_numbers(nodes), *view.changes.uses}:
            use = view.use(row)
            taken[row] = use is not None and disks_conflict(wanted, use.disks)
        return failing(taken, view, self.reason)


@quirk("volume-limit-without-new-volume")
class MaxVolumeCount:
    """Distinct volumes of one kind on a node (predicates.MaxPDVolumeCountChecker)."""

    scope = Scope.NODE
    reads = Reads(pod=("namespace", "volumes"), objects=("Pod", "PersistentVolume", "PersistentVolumeClaim"))
    reason = "node(s) exceed max volume count"

    def __init__(self, kind: str, limit: int, *, even_without_new: bool = True) -> None:
        self.kind = ATTACH_KINDS.index(kind)
        self.limit = limit
        self.even_without_new = even_without_new

    def under(self, quirks: frozenset[str]) -> MaxVolumeCount:
        """Return the check with these quirks in force."""
        even = "volume-limit-without-new-volume" in quirks
        if even is self.even_without_new:
            return self
        return MaxVolumeCount(ATTACH_KINDS[self.kind], self.limit, even_without_new=even)

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where the node's volumes plus the pod's new ones exceed the limit.

        In v1.11 a node that already exceeds the limit fails even a pod without new volumes.
        """
        if not pod.volumes:
            return FITS
        wanted = view.cluster.use_of(pod).attached[self.kind]
        if not wanted:
            return FITS
        total = view.take(view.cluster.attached_counts[self.kind]) + len(wanted)
        exempt = np.zeros(view.size, np.bool_)
        index = view.cluster.volume_nodes
        nodes = {node for volume in wanted for node in index.get(volume, ())}
        for row in {*view.row_numbers(nodes), *view.changes.uses}:
            use = view.use(row)
            there = use.attached[self.kind] if use is not None else {}
            new = sum(volume not in there for volume in wanted)
            total[row] = len(there) + new
            exempt[row] = not new and not self.even_without_new
        return failing((total > self.limit) & ~exempt, view, self.reason)


_COUNTED = (
    "pv-count",
    "pv-missing",
    "pv-update-source",
    "pvc-count",
    "pvc-any",
    "pvc-update-volume-name",
    "pvc-update-volume-name-no-zone",
    "pod-add-volume-count",
    "pod-came-volume-count",
    "pod-bound-claims",
    "pod-update-volumes",
    "pod-delete-volume-count",
)

RULES = (
    Rule(
        key="NoDiskConflict",
        check=NoDiskConflict(),
        text="No pod on the node uses a disk (GCE PD, EBS, RBD or iSCSI) that cannot be mounted twice.",
        v1_11=OrderPlace(80, "Walks through the volumes of the pods on the node."),
        proposal=OrderPlace(60, "Disks are a resource too, and follow the other resources."),
        default=True,
        plugin=FilterPlugin("VolumeRestrictions", "ReadWriteOncePod is not read"),
        reasons=(Reason(NoDiskConflict.reason, finding="disks"),),
        invalidated_by=(
            "pod-add-disk",
            "pod-update-volumes",
            "pod-delete-disk",
        ),
    ),
    Rule(
        key="MaxEBSVolumeCount",
        check=MaxVolumeCount("ebs", 39),
        text="With this pod's, the node has at most 39 EBS volumes attached.",
        v1_11=OrderPlace(130, "Counts volumes, and looks claims up to do so."),
        proposal=OrderPlace(110, "", "MaxPDVolumeCountPredicate"),
        default=True,
        plugin=FilterPlugin("EBSLimits", _MIGRATED),
        reasons=(Reason(MaxVolumeCount.reason, finding="volume_count"),),
        aspect="aws_ebs",
        invalidated_by=_COUNTED,
    ),
    Rule(
        key="MaxGCEPDVolumeCount",
        check=MaxVolumeCount("gce", 16),
        text="With this pod's, the node has at most 16 GCE persistent disks attached.",
        v1_11=OrderPlace(140, "As the one before, for another kind of disk."),
        proposal=OrderPlace(110, "", "MaxPDVolumeCountPredicate"),
        default=True,
        plugin=FilterPlugin("GCEPDLimits", _MIGRATED),
        reasons=(Reason(MaxVolumeCount.reason, finding="volume_count"),),
        aspect="gce_pd",
        invalidated_by=_COUNTED,
    ),
    Rule(
        key="MaxAzureDiskVolumeCount",
        check=MaxVolumeCount("azure", 16),
        text="With this pod's, the node has at most 16 Azure disks attached.",
        v1_11=OrderPlace(150, "As the one before, for another kind of disk."),
        proposal=OrderPlace(110, "", "MaxPDVolumeCountPredicate"),
        default=True,
        plugin=FilterPlugin("AzureDiskLimits", _MIGRATED),
        reasons=(Reason(MaxVolumeCount.reason, finding="volume_count"),),
        aspect="azure_disk",
        invalidated_by=_COUNTED,
    ),
)
