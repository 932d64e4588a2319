"""The shapes of the API group resource.k8s.io, by its version, as far as kube-scheduler v1.37 reads it.

Source: ``staging/src/k8s.io/api/resource``, and ``pkg/apis/resource/validation`` for what the API server
refuses; a count of 0 and an empty allocationMode are defaulted there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.device_versions import ALPHA, FLAT, GROUP, VERSIONS
from scheduler_core.kubernetes.readers import At
from scheduler_core.kubernetes.shapes import ANY, NAME, QUANTITY, Absent, Admitted, OneOf, Shape, Whole, Words


def _refusal_of(expression: str) -> str:
    from scheduler_core.schedulers.v1_37.cel.estimate import refusal_of

    return refusal_of(expression)


def _limitation_of(expression: str) -> str:
    from scheduler_core.schedulers.v1_37.cel.estimate import limitation_of

    return limitation_of(expression)


_OPERATOR = Words(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
_REQUIREMENTS: Shape = [{"key!": str, "operator!": _OPERATOR, "values": [str]}]
_NODE_SELECTOR: Shape = {
    "nodeSelectorTerms": [{"matchExpressions": _REQUIREMENTS, "matchFields": _REQUIREMENTS}]
}
_SELECTORS: Shape = [{"cel!": {"expression!": Admitted(_refusal_of, _limitation_of)}}]
_EFFECT = Words(("NoSchedule", "NoExecute", "None"))
_ASKED: Mapping[str, Shape] = {
    "selectors": _SELECTORS,
    "allocationMode": Words(("ExactCount", "All", "")),
    "count": Whole(0),
    "adminAccess": bool,
    "tolerations": [
        {
            "key": str,
            "operator": Words(("Exists", "Equal", "")),
            "value": str,
            "effect": Words((*_EFFECT.words, "")),
        }
    ],
    "capacity": {"requests": {ANY: QUANTITY}},
}
_ALTERNATIVES: Shape = [{"name!": NAME, "deviceClassName!": NAME, **_ASKED}]
_REQUEST = OneOf(
    ("exactly", "firstAvailable"),
    {
        "name!": NAME,
        "exactly": {"deviceClassName!": NAME, **_ASKED},
        "firstAvailable": _ALTERNATIVES,
        "deviceClassName": Absent(f"belongs into exactly: only {FLAT} has it here"),
    },
)
_FLAT_REQUEST = OneOf(
    ("deviceClassName", "firstAvailable"),
    {
        "name!": NAME,
        "deviceClassName": NAME,
        **_ASKED,
        "firstAvailable": _ALTERNATIVES,
        "exactly": Absent(
            f"is not a field of {FLAT}: write its fields beside name, or apiVersion {GROUP}/v1"
        ),
    },
)
_VALUES: Mapping[str, Shape] = {"bool": bool, "int": int, "string": str, "version": str}
_COUNTERS: Shape = {ANY: {"value!": QUANTITY}}
_RANGE: Shape = {"min": QUANTITY, "max": QUANTITY, "step": QUANTITY}
_POLICY: Shape = {"default": QUANTITY, "validRange": _RANGE, "validValues": [QUANTITY]}
_DEVICE: Mapping[str, Shape] = {
    "attributes": {ANY: OneOf(tuple(_VALUES), _VALUES)},
    "capacity": {ANY: {"value!": QUANTITY, "requestPolicy": _POLICY}},
    "consumesCounters": [{"counterSet!": NAME, "counters": _COUNTERS}],
    "allowMultipleAllocations": bool,
    "bindsToNode": bool,
    "nodeName": str,
    "nodeSelector": _NODE_SELECTOR,
    "allNodes": bool,
    "taints": [{"key!": NAME, "value": str, "effect!": _EFFECT}],
}
_NEW_DEVICE: Shape = {
    "name!": NAME,
    **_DEVICE,
    "basic": Absent(f"is of {FLAT}: later versions have its fields beside name"),
}
_FLAT_DEVICE: Shape = {
    "name!": NAME,
    "basic": _DEVICE,
    **{name: Absent(f"belongs into basic in {FLAT}") for name in _DEVICE},
}
_STATUS: Shape = {
    "reservedFor": [{"uid": str, "name": str}],
    "allocation": {
        "nodeSelector": _NODE_SELECTOR,
        "devices": {
            "results": [
                {
                    "request": str,
                    "driver!": NAME,
                    "pool!": NAME,
                    "device!": NAME,
                    "adminAccess": bool,
                    "shareID": str,
                    "consumedCapacity": {ANY: QUANTITY},
                }
            ]
        },
    },
}


def _kinds(request: Shape, device: Shape) -> Mapping[str, Mapping[str, Shape]]:
    claim = {
        "devices": {
            "requests": [request],
            "constraints": [{"requests": [str], "matchAttribute": NAME, "distinctAttribute": NAME}],
        }
    }
    return {
        "DeviceClass": {"spec": {"selectors": _SELECTORS, "extendedResourceName": str}},
        "DeviceTaintRule": {
            "spec!": {
                "deviceSelector": {
                    "driver": str,
                    "pool": str,
                    "device": str,
                    "deviceClassName": str,
                    "selectors": _SELECTORS,
                },
                "taint!": {"key!": NAME, "value": str, "effect!": _EFFECT},
            }
        },
        "ResourceClaim": {"spec!": claim, "status": _STATUS},
        "ResourceClaimTemplate": {
            "spec": {"metadata": {"labels": {ANY: str}, "annotations": {ANY: str}}, "spec": claim}
        },
        "ResourceSlice": {
            "spec!": {
                "driver!": NAME,
                "pool!": {"name!": NAME, "generation": Whole(0), "resourceSliceCount": Whole(1)},
                "nodeName": str,
                "nodeSelector": _NODE_SELECTOR,
                "allNodes": bool,
                "perDeviceNodeSelection": bool,
                "sharedCounters": [{"name!": NAME, "counters": _COUNTERS}],
                "devices": [device],
            }
        },
    }


_NEW, _FLAT = _kinds(_REQUEST, _NEW_DEVICE), _kinds(_FLAT_REQUEST, _FLAT_DEVICE)


def device_shape(manifest: Mapping[str, Any], at: At) -> Mapping[str, Shape]:
    """Return the fields that a manifest of the group has to have; a version that is not read is an error."""
    kind, version = str(manifest.get("kind")), manifest.get("apiVersion")
    if kind not in _NEW:
        return {}
    if str(version).startswith(f"{GROUP}/") and version not in VERSIONS:
        at.child("apiVersion").error(f"{kind} of {version} is not read: write {', '.join(VERSIONS)}")
        return {}
    if kind == "ResourceSlice":
        _check_counters(manifest.get("spec"), at.child("spec"))
    return (_FLAT if version in (FLAT, ALPHA) else _NEW)[kind]


def _check_counters(spec: Any, at: At) -> None:
    """Report devices beside counter sets, which earlier releases have in one slice."""
    if isinstance(spec, Mapping) and spec.get("sharedCounters") and spec.get("devices"):
        at.child("devices").warn(
            "kube-scheduler v1.37 allocates no device of a ResourceSlice that has sharedCounters: move the "
            "counter sets to a ResourceSlice of their own"
        )
