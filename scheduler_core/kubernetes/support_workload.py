"""The fields of workload controllers that are reported or irrelevant, and the kinds without a reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.support import (
    INSTANT,
    ApiType,
    FieldTest,
    Reported,
    contains,
    differs_from,
    part_of,
    present,
)
from scheduler_core.kubernetes.support_cluster import whole

_PACE = "it sets the pace of replacement, not whether or where"
_HISTORY = "old revisions create no pods"
_OTHER_KINDS = "other kinds have them, or earlier releases"
_IN_TIME = frozenset({INSTANT})

_ROLLED = {_PACE: "minReadySeconds progressDeadlineSeconds", _HISTORY: "revisionHistoryLimit"}

BY_COUNT = ApiType(
    "ReplicaSetSpec, ReplicationControllerSpec",
    irrelevant={**_ROLLED, _OTHER_KINDS: "rollbackTo paused strategy updateStrategy"},
)
DEPLOYMENT = ApiType(
    "DeploymentSpec",
    irrelevant={**_ROLLED, _OTHER_KINDS: "rollbackTo updateStrategy"},
)
STATEFUL = ApiType(
    "StatefulSetSpec",
    (
        Reported(
            "ordinals",
            "pods, and the claims that they are given, are numbered from another start",
            when=lambda value, _: bool(part_of(value, "start")),
        ),
        Reported(
            "persistentVolumeClaimRetentionPolicy",
            "claims are deleted with their pods or the set, and recreated",
            when=contains("Delete"),
            honored_by=_IN_TIME,
        ),
    ),
    {
        **_ROLLED,
        "it is for DNS": "serviceName",
        _OTHER_KINDS: "rollbackTo paused strategy",
    },
)
DAEMON = ApiType(
    "DaemonSetSpec",
    irrelevant={**_ROLLED, _OTHER_KINDS: "rollbackTo paused strategy templateGeneration"},
)
STRATEGY = ApiType("DeploymentStrategy, StatefulSetUpdateStrategy, DaemonSetUpdateStrategy")
ROLLING = ApiType("RollingUpdate…")
JOB = ApiType(
    "JobSpec",
    (
        Reported(
            "managedBy",
            "another controller creates the pods",
            when=differs_from("kubernetes.io/job-controller"),
        ),
        Reported("scheduling", "the pods of the Job are a group with a policy of its own"),
        Reported(
            "activeDeadlineSeconds", "the pods end after that time and leave their nodes", honored_by=_IN_TIME
        ),
        Reported(
            "successPolicy", "the Job ends, with its pods, once some of them succeeded", honored_by=_IN_TIME
        ),
        Reported("podFailurePolicy", "it decides which failed pods are replaced", honored_by=_IN_TIME),
        Reported("backoffLimitPerIndex", "each index has its own number of retries", honored_by=_IN_TIME),
        Reported("maxFailedIndexes", "the Job ends once so many indexes failed", honored_by=_IN_TIME),
    ),
    {
        "a finished Job has no pods that run": "ttlSecondsAfterFinished",
        "the selector is used as given": "manualSelector",
        _PACE: "podReplacementPolicy",
    },
)
JOB_STATUS = ApiType(
    "JobStatus",
    irrelevant={
        "they follow from the pods": "active ready terminating uncountedTerminatedPods",
        "timestamps and reasons do not affect scheduling": "startTime completionTime",
        "they do not affect placement": "completedIndexes failedIndexes",
    },
)
WORKLOADS = tuple(
    whole(kind) for kind in ("ReplicationController", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet")
)
WHOLE_JOB = whole("Job", has_status=True)


class ReportedKind(Struct, frozen=True):
    """A kind without a reader that other clusters honor; like :class:`Reported`, for a whole manifest.

    ``taken`` is where it has an effect after all.
    """

    kind: str
    group: str
    effect: str
    when: FieldTest = present
    disks: bool = False
    taken: str = ""


def _limits_volumes(value: Any, manifest: Document) -> bool:
    del manifest
    drivers = part_of(value, "spec", "drivers")
    listed = drivers if isinstance(drivers, list) else []
    return any(part_of(driver, "allocatable", "count") is not None for driver in listed)


_DEVICES = "devices are allocated to pods that claim them"
REPORTED_KINDS: Mapping[str, ReportedKind] = {
    row.kind: row
    for row in (
        ReportedKind("LimitRange", "", "it sets default requests, and rejects pods beyond its limits"),
        ReportedKind("ResourceQuota", "", "it rejects pods beyond the quota of their namespace"),
        ReportedKind(
            "RuntimeClass", "node.k8s.io", "it adds overhead, a node selector and tolerations to its pods"
        ),
        ReportedKind(
            "CronJob",
            "batch",
            "it creates Jobs, and so pods, on a schedule",
            taken="v1.37 with controllers",
        ),
        ReportedKind("HorizontalPodAutoscaler", "autoscaling", "it changes the number of replicas"),
        ReportedKind("VerticalPodAutoscaler", "autoscaling.k8s.io", "it changes what pods request"),
        ReportedKind(
            "CSINode",
            "storage.k8s.io",
            "it limits the volumes of a driver on the node",
            _limits_volumes,
            disks=True,
        ),
        ReportedKind(
            "CSIDriver",
            "storage.k8s.io",
            "with storageCapacity a volume is provisioned only where there is room for it",
            lambda value, _: part_of(value, "spec", "storageCapacity") is True,
            disks=True,
        ),
        ReportedKind(
            "CSIStorageCapacity",
            "storage.k8s.io",
            "volumes are provisioned only where there is room for them",
            disks=True,
        ),
        ReportedKind("VolumeAttachment", "storage.k8s.io", "its volume counts on its node", disks=True),
        ReportedKind("ResourceClaim", "resource.k8s.io", _DEVICES),
        ReportedKind("ResourceClaimTemplate", "resource.k8s.io", _DEVICES),
        ReportedKind("ResourceSlice", "resource.k8s.io", _DEVICES),
        ReportedKind("DeviceClass", "resource.k8s.io", _DEVICES),
        ReportedKind(
            "DeviceTaintRule",
            "resource.k8s.io",
            "it keeps devices from claims that do not tolerate its taint",
        ),
        ReportedKind("Workload", "scheduling.k8s.io", "it defines how its groups of pods are placed"),
        ReportedKind("CompositePodGroup", "scheduling.k8s.io", "its groups of pods are placed together"),
        ReportedKind(
            "MutatingWebhookConfiguration",
            "admissionregistration.k8s.io",
            "webhooks change pods before they are scheduled",
            lambda value, _: any(word in str(part_of(value, "webhooks")) for word in ("'pods'", "'*'")),
        ),
    )
}
"""Kinds that are ignored although they may affect scheduling; no other kind without a reader can."""
