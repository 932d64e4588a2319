"""The table of supported kinds: their API groups, whether they are namespaced, their reader.

Any version of a group is accepted, including old ones: the fields that scheduling reads have not moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.fields_cluster import (
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    POD_DISRUPTION_BUDGET,
    POD_GROUP,
    PRIORITY_CLASS,
    QUEUE,
    SERVICE,
    STORAGE_CLASS,
)
from scheduler_core.kubernetes.fields_pod import POD
from scheduler_core.kubernetes.fields_workload import WORKLOADS, by_count
from scheduler_core.kubernetes.readers import Reader


class Kind(Struct, frozen=True):
    """One row: a kind's API groups (the first is the current one), its scope, its reader, its version."""

    name: str
    groups: tuple[str, ...]
    namespaced: bool
    read: Reader
    version: str = "v1"

    @property
    def api_version(self) -> str:
        """The apiVersion with which objects of the kind are written."""
        return f"{self.groups[0]}/{self.version}" if self.groups[0] else self.version


_APPS = ("apps", "extensions")

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("Node", ("",), False, NODE),
        Kind("Pod", ("",), True, POD),
        Kind("Service", ("",), True, SERVICE),
        Kind("ReplicationController", ("",), True, WORKLOADS["ReplicationController"]),
        Kind("ReplicaSet", _APPS, True, by_count("ReplicaSet")),
        Kind("Deployment", _APPS, True, WORKLOADS["Deployment"]),
        Kind("StatefulSet", _APPS, True, WORKLOADS["StatefulSet"]),
        Kind("DaemonSet", _APPS, True, WORKLOADS["DaemonSet"]),
        Kind("Job", ("batch",), True, WORKLOADS["Job"]),
        Kind("PersistentVolume", ("",), False, PERSISTENT_VOLUME),
        Kind("PersistentVolumeClaim", ("",), True, PERSISTENT_VOLUME_CLAIM),
        Kind("StorageClass", ("storage.k8s.io",), False, STORAGE_CLASS),
        Kind("PriorityClass", ("scheduling.k8s.io",), False, PRIORITY_CLASS),
        Kind("PodDisruptionBudget", ("policy",), True, POD_DISRUPTION_BUDGET),
        Kind(
            "PodGroup",
            (
                "scheduling.sigs.k8s.io",
                "scheduling.x-k8s.io",
                "scheduling.incubator.k8s.io",
                "scheduling.sigs.dev",
                "scheduling.k8s.io",
                "scheduling.volcano.sh",
            ),
            True,
            POD_GROUP,
            "v1alpha1",
        ),
        Kind("Queue", ("scheduling.incubator.k8s.io", "scheduling.sigs.dev"), False, QUEUE),
    )
}


class ManifestKind(Struct, frozen=True):
    """A kind without a typed object: its API group and whether it is namespaced."""

    group: str
    namespaced: bool = False


_STORAGE, _DEVICES = "storage.k8s.io", "resource.k8s.io"

MANIFEST_KINDS: dict[str, ManifestKind] = {
    "Namespace": ManifestKind(""),
    "CSIDriver": ManifestKind(_STORAGE),
    "CSINode": ManifestKind(_STORAGE),
    "CSIStorageCapacity": ManifestKind(_STORAGE, namespaced=True),
    "VolumeAttachment": ManifestKind(_STORAGE),
    "DeviceClass": ManifestKind(_DEVICES),
    "ResourceClaim": ManifestKind(_DEVICES, namespaced=True),
    "ResourceClaimTemplate": ManifestKind(_DEVICES, namespaced=True),
    "ResourceSlice": ManifestKind(_DEVICES),
    "DeviceTaintRule": ManifestKind(_DEVICES),
}
"""Kinds that only kube-scheduler v1.37 reads, from their manifests."""


def is_manifest_kind(manifest: Mapping[str, Any]) -> bool:
    """Return whether a manifest, or a typeMeta, is of one of :data:`MANIFEST_KINDS`, of its group."""
    row = MANIFEST_KINDS.get(str(manifest.get("kind")))
    if row is None:
        return False
    group, slash, _ = str(manifest.get("apiVersion") or "").partition("/")
    return manifest.get("apiVersion") is None or (group if slash else "") == row.group


def is_custom(api_version: object) -> bool:
    """Return whether an apiVersion is of a group that Kubernetes itself does not have."""
    group, slash, _ = str(api_version).partition("/")
    return bool(slash) and "." in group and not f".{group}".endswith(".k8s.io")


# Kinds that are known and kept, but do not affect kube-scheduler v1.11's decisions.
KEPT_KINDS: dict[str, str] = {
    "Namespace": "namespaces need not be created",
    "DeschedulerPolicy": "SimulationSettings without descheduler do not run it",
    "ControllerRevision": "controllers read them where they start from the dump of a running cluster",
    "Status": "it is an answer of the API server, such as an error, and no object",
    "Table": "it is what kubectl prints, without the objects: add -o yaml to the command",
    "Kustomization": "nothing is built from it here: pass the output of `kubectl kustomize` or `flux build`",
    "Component": "nothing is built from it here: pass the output of `kubectl kustomize`",
}
