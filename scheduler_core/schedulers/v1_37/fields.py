"""The shapes of fields that only kube-scheduler v1.37 reads, from manifests: no typed reader checks them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import Decoded
from scheduler_core.kubernetes.fields_common import LABEL_SELECTOR
from scheduler_core.kubernetes.kinds import is_manifest_kind
from scheduler_core.kubernetes.readers import At, Report, once
from scheduler_core.kubernetes.shapes import ANY, QUANTITY, OneOf, Shape, Typed, Words, check
from scheduler_core.schedulers.v1_37.device_fields import device_shape
from scheduler_core.schedulers.v1_37.podgroups import read_disruption_mode

_SELECTOR = Typed(LABEL_SELECTOR)
_POLICY = Words(("Honor", "Ignore"))
_RESOURCES: Shape = {"requests": {ANY: QUANTITY}, "limits": {ANY: QUANTITY}}
_TERM: Shape = {"namespaceSelector": _SELECTOR, "matchLabelKeys": [str], "mismatchLabelKeys": [str]}
_TERMS: Shape = {
    "requiredDuringSchedulingIgnoredDuringExecution": [_TERM],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": _TERM}],
}
_DISK: Shape = {"volumeID": str, "readOnly": bool}
_SOURCES: Mapping[str, Shape] = {
    "awsElasticBlockStore": _DISK,
    "azureDisk": {"diskName": str, "diskURI": str, "kind": str, "readOnly": bool},
    "azureFile": dict,
    "cinder": _DISK,
    "csi": {"driver": str, "volumeHandle": str, "readOnly": bool},
    "gcePersistentDisk": {"pdName": str, "readOnly": bool},
    "iscsi": {"iqn": str, "readOnly": bool},
    "portworxVolume": _DISK,
    "rbd": {"monitors": [str], "pool": str, "image": str, "readOnly": bool},
    "vsphereVolume": dict,
}
"""Volume sources of pods and PersistentVolumes."""

_POD: Shape = {
    "volumes": [_SOURCES],
    "resources": _RESOURCES,
    "affinity": {"podAffinity": _TERMS, "podAntiAffinity": _TERMS},
    "resourceClaims": [{"name!": str, "resourceClaimName": str, "resourceClaimTemplateName": str}],
    "topologySpreadConstraints": [
        {
            "maxSkew!": int,
            "topologyKey!": str,
            "whenUnsatisfiable!": Words(("DoNotSchedule", "ScheduleAnyway")),
            "minDomains": int,
            "nodeAffinityPolicy": _POLICY,
            "nodeTaintsPolicy": _POLICY,
            "labelSelector": _SELECTOR,
            "matchLabelKeys": [str],
        }
    ],
}
_CONTAINER_STATUSES: Shape = [
    {"name!": str, "allocatedResources": {ANY: QUANTITY}, "resources": _RESOURCES},
]
_POD_STATUS: Shape = {
    "conditions": [{"type": str, "reason": str}],
    "initContainerStatuses": _CONTAINER_STATUSES,
    "containerStatuses": _CONTAINER_STATUSES,
    "allocatedResources": {ANY: QUANTITY},
    "resources": _RESOURCES,
    "resourceClaimStatuses": [{"name!": str, "resourceClaimName": str}],
}
_METADATA: Shape = {
    "name": str,
    "namespace": str,
    "uid": str,
    "labels": {ANY: str},
    "annotations": {ANY: str},
    "finalizers": [str],
    "ownerReferences": [{"apiVersion": str, "kind": str, "name": str, "uid": str, "controller": bool}],
}
_OTHER: Shape = {"metadata": _METADATA, "spec": dict, "status": dict}
_UNREAD: Mapping[str, Mapping[str, Shape]] = {
    "CSIStorageCapacity": {
        "storageClassName": str,
        "capacity": QUANTITY,
        "maximumVolumeSize": QUANTITY,
        "nodeTopology": _SELECTOR,
    },
    "CSIDriver": {"spec": {"attachRequired": bool, "storageCapacity": bool}},
    "CSINode": {"spec": {"drivers": [{"name!": str, "topologyKeys": [str], "allocatable": {"count": int}}]}},
    "VolumeAttachment": {"spec": {"attacher": str, "nodeName": str, "source": {"persistentVolumeName": str}}},
}
_KINDS: Mapping[str, Shape] = {
    "Pod": {"spec": Typed(once(lambda spec, at: check(spec, _POD, at))), "status": _POD_STATUS},
    "PersistentVolume": {"spec!": _SOURCES},
    "PersistentVolumeClaim": {"spec!": dict},
    "Node": {"status": {"declaredFeatures": [str]}},
    "PodGroup": {
        "spec": {
            "priority": int,
            "schedulingPolicy": OneOf(("basic", "gang"), {"basic": dict, "gang": {"minCount": int}}),
            "schedulingConstraints": {"topology": [{"key!": str}]},
            "disruptionMode": Typed(read_disruption_mode),
        }
    },
}


def check_v1_37_fields(decoded: Iterable[Decoded], unread: Iterable[BundleEntry], report: Report) -> None:
    """Report what v1.37 cannot read in manifests of kinds with a reader, and ``unread``, without one."""
    faultless: set[int] = set()  # identities of those that others may be like
    for read in decoded:
        if id(read.like) in faultless:
            continue
        noted, entry = report.noted, read.entry
        shape = _KINDS.get(entry.kind, {"spec": {"template": {"spec": _POD}}})
        check(entry.value, shape, At(report, None, entry))
        if report.noted == noted:
            faultless.add(id(read))
    for entry in unread:
        check_manifest(entry.value, At(report, None, entry))


def check_manifest(value: Mapping[str, Any], at: At) -> None:
    """Report what v1.37 cannot read in a manifest of a kind without a typed object.

    Other kinds are not read, whatever they hold; a custom resource may have the name of one that is.
    """
    if not is_manifest_kind(value):
        return
    fields = {**_UNREAD.get(str(value.get("kind")), {}), **device_shape(value, at)}
    usual = {name: shape for name, shape in _OTHER.items() if f"{name}!" not in fields}
    check(value, {**usual, **fields}, at)
