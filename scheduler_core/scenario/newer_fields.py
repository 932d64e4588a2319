"""The shapes of fields that only kube-scheduler v1.37 reads, from manifests: no typed reader checks them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.formats.bundle import Entry
from scheduler_core.objects.quantity import parse_quantity
from scheduler_core.objects.reading import At, Report

ANY = "*"  # each field of an object
QUANTITY = "a quantity, such as 500m or 1Gi"

Shape = Any
"""A type, QUANTITY, a list with its items' shape, or the shapes of an object's fields; "!": required."""

_NAMES: Mapping[type, str] = {str: "a string", int: "an integer", dict: "an object"}
_SELECTOR: Shape = {
    "matchLabels": {ANY: str},
    "matchExpressions": [{"key": str, "operator": str, "values": [str]}],
}
_RESOURCES: Shape = {"requests": {ANY: QUANTITY}, "limits": {ANY: QUANTITY}}
_TERM: Shape = {"namespaceSelector": _SELECTOR, "matchLabelKeys": [str], "mismatchLabelKeys": [str]}
_TERMS: Shape = {
    "requiredDuringSchedulingIgnoredDuringExecution": [_TERM],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": _TERM}],
}
_POD: Shape = {
    "resources": _RESOURCES,
    "affinity": {"podAffinity": _TERMS, "podAntiAffinity": _TERMS},
    "resourceClaims": [{"name!": str, "resourceClaimName": str, "resourceClaimTemplateName": str}],
    "topologySpreadConstraints": [
        {
            "maxSkew!": int,
            "topologyKey!": str,
            "whenUnsatisfiable!": str,
            "minDomains": int,
            "nodeAffinityPolicy": str,
            "nodeTaintsPolicy": str,
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
_SELECTORS: Shape = [{"cel!": {"expression!": str}}]
_DEVICE_REQUEST: Shape = {"deviceClassName!": str, "selectors": _SELECTORS, "count": int}
_CLAIM: Shape = {
    "devices": {
        "requests": [
            {
                "name!": str,
                "exactly": _DEVICE_REQUEST,
                "firstAvailable": [{"name!": str, **_DEVICE_REQUEST}],
            }
        ],
        "constraints": [{"requests": [str], "matchAttribute": str, "distinctAttribute": str}],
    }
}
_METADATA: Shape = {
    "name": str,
    "namespace": str,
    "labels": {ANY: str},
    "annotations": {ANY: str},
    "finalizers": [str],
    "ownerReferences": [{"kind": str, "name": str, "uid": str}],
}
_OTHER: Shape = {"metadata": _METADATA, "spec": dict, "status": dict}
_UNREAD: Mapping[str, Mapping[str, Shape]] = {
    "CSIStorageCapacity": {
        "storageClassName": str,
        "capacity": QUANTITY,
        "maximumVolumeSize": QUANTITY,
        "nodeTopology": _SELECTOR,
    },
    "ResourceClaimTemplate": {
        "spec": {
            "metadata": {"labels": {ANY: str}, "annotations": {ANY: str}},
            "spec": _CLAIM,
        }
    },
    "ResourceClaim": {
        "spec!": _CLAIM,
        "status": {"reservedFor": [{"uid": str, "name": str}], "allocation": {"nodeSelector": dict}},
    },
    "DeviceClass": {"spec": {"selectors": _SELECTORS}},
    "CSINode": {"spec": {"drivers": [{"name!": str, "allocatable": {"count": int}}]}},
}
_KINDS: Mapping[str, Shape] = {
    "Pod": {"spec": _POD, "status": _POD_STATUS},
    "PersistentVolume": {"spec!": dict},
    "PersistentVolumeClaim": {"spec!": dict},
    "Node": {"status": {"declaredFeatures": [str]}},
    "PodGroup": {
        "spec": {
            "priority": int,
            "schedulingPolicy": {"gang": {"minCount": int}},
            "schedulingConstraints": {"topology": [{"key!": str}]},
            "disruptionMode": dict,
        }
    },
}


def check_newer_fields(entries: Iterable[Entry], unread: Iterable[Entry], report: Report) -> None:
    """Report what v1.37 cannot read in ``entries``, of kinds with a reader, and ``unread``, without one."""
    for entry in entries:
        shape = _KINDS.get(entry.kind, {"spec": {"template": {"spec": _POD}}})
        _check(entry.value, shape, At(report, None, entry))
    for entry in unread:
        check_manifest(entry.value, At(report, None, entry))


def check_manifest(value: Mapping[str, Any], at: At) -> None:
    """Report what v1.37 cannot read in a manifest of a kind without a typed object."""
    _check(value, {**_OTHER, **_UNREAD.get(str(value.get("kind")), {})}, at)


def _check(value: Any, shape: Shape, at: At) -> None:
    if value is None:
        return
    if isinstance(shape, Mapping):
        if not isinstance(value, Mapping):
            at.error("must be an object")
            return
        for key, inner in shape.items():
            name = key.rstrip("!")
            if name != key and value.get(name) is None:
                at.child(name).error("is required")
            for field in value if key == ANY else (name,):
                if key == ANY and value[field] is None:
                    at.child(field).error("must not be null")
                _check(value.get(field), inner, at.child(field))
    elif isinstance(shape, list):
        if not isinstance(value, list):
            at.error("must be a list")
            return
        for place, inner in enumerate(value):
            if inner is None:
                at.child(place).error("must not be null")
            _check(inner, shape[0], at.child(place))
    elif shape == QUANTITY:
        if not _is_quantity(value):
            at.error(f"must be {QUANTITY}")
    elif not isinstance(value, Mapping if shape is dict else shape) or isinstance(value, bool):
        at.error(f"must be {_NAMES[shape]}")


def _is_quantity(value: Any) -> bool:
    try:
        parse_quantity(str(value))
    except ValueError:
        return False
    return not isinstance(value, (bool, Mapping, list))
