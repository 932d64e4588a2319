"""Versions of the API group resource.k8s.io: v1beta1 writes requests and devices in another shape than v1.

v1beta2 has the shape of v1, v1alpha3 that of v1beta1; DeviceClass has the same one in all of them. v1alpha1
and v1alpha2 are another API, without devices, which Kubernetes 1.32 removed.

Source: ``pkg/apis/resource/v1beta1/conversion.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.kubernetes.manifests import Document, Manifest

GROUP = "resource.k8s.io"
FLAT = f"{GROUP}/v1beta1"
ALPHA = f"{GROUP}/v1alpha3"
"""Of the shape of v1beta1; DeviceTaintRules also select by class and expression in it."""
VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta2", FLAT, ALPHA)
"""The versions that are read, the newest first."""
WITHDRAWN = (f"{GROUP}/v1alpha1", f"{GROUP}/v1alpha2")
"""Versions of the API that was removed."""
_FLAT = (FLAT, ALPHA)

_Convert = Callable[[Mapping[str, Any]], Manifest]


def as_v1(manifest: Document) -> Document:
    """Return a manifest of the group with the fields of v1; the same object if it has them already."""
    return in_version(manifest, VERSIONS[0]) if manifest.get("apiVersion") in _FLAT else manifest


def in_version(manifest: Document, api_version: str | None) -> Document:
    """Return a well-formed manifest of the group in a version; as it is if that is none of the group's."""
    given = manifest.get("apiVersion") or VERSIONS[0]
    if api_version not in VERSIONS or given not in VERSIONS or given == api_version:
        return manifest
    out = {**manifest, "apiVersion": api_version}
    if (given in _FLAT) is (api_version in _FLAT):
        return out
    request, device = (_exact, _flattened) if given in _FLAT else (_flat, _nested)
    spec = manifest.get("spec") or {}
    match manifest.get("kind"):
        case "ResourceClaim":
            out["spec"] = _claim(spec, request)
        case "ResourceClaimTemplate" if spec.get("spec"):
            out["spec"] = {**spec, "spec": _claim(spec["spec"], request)}
        case "ResourceSlice" if spec.get("devices"):
            out["spec"] = {**spec, "devices": [device(each) for each in spec["devices"]]}
    return out


def _claim(spec: Mapping[str, Any], convert: _Convert) -> Manifest:
    devices = spec.get("devices") or {}
    if not devices.get("requests"):
        return {**spec}
    return {**spec, "devices": {**devices, "requests": [convert(each) for each in devices["requests"]]}}


def _exact(request: Mapping[str, Any]) -> Manifest:
    """Move what a request asks for into ``exactly``, unless it has alternatives."""
    if request.get("firstAvailable"):
        return {"name": request["name"], "firstAvailable": request["firstAvailable"]}
    exactly = {key: value for key, value in request.items() if key not in ("name", "firstAvailable")}
    return {"name": request["name"], "exactly": exactly}


def _flat(request: Mapping[str, Any]) -> Manifest:
    rest = {key: value for key, value in request.items() if key != "exactly"}
    return {**rest, **(request.get("exactly") or {})}


def _flattened(device: Mapping[str, Any]) -> Manifest:
    """Make the fields of ``basic`` those of the device."""
    rest = {key: value for key, value in device.items() if key != "basic"}
    return {**rest, **(device.get("basic") or {})}


def _nested(device: Mapping[str, Any]) -> Manifest:
    basic = {key: value for key, value in device.items() if key != "name"}
    return {"name": device["name"], **({"basic": basic} if basic else {})}
