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
_POD: Shape = {
    "resources": {"requests": {ANY: QUANTITY}, "limits": {ANY: QUANTITY}},
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
_OTHER: Shape = {
    "metadata": {"name": str, "namespace": str, "labels": {ANY: str}},
    "spec": dict,
    "status": dict,
}
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
            "spec": {"devices": dict},
        }
    },
}
_KINDS: Mapping[str, Shape] = {
    "Pod": {"spec": _POD},
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
                _check(value.get(field), inner, at.child(field))
    elif isinstance(shape, list):
        if not isinstance(value, list):
            at.error("must be a list")
            return
        for place, inner in enumerate(value):
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
