"""The API's defaults of pod templates, without which two texts of one template differ."""

from __future__ import annotations

from typing import Any

from scheduler_core.cluster.v1_37.objects import Manifest, clone


def defaulted(template: Manifest) -> Manifest:
    """Return a template with the API's defaults, as a stored workload has it."""
    made: Manifest = clone(template)
    spec = made.setdefault("spec", {})
    for key, value in _POD.items():
        spec.setdefault(key, clone(value))
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        _default_container(container)
    for volume in spec.get("volumes") or ():
        _default_volume(volume)
    return made


_POD = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def _default_container(container: dict[str, Any]) -> None:
    tag = str(container.get("image") or "").rpartition("/")[2].partition(":")[2]
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("imagePullPolicy", "IfNotPresent" if tag not in ("", "latest") else "Always")
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if isinstance(probe, dict):
            container[name] = {**_PROBE, **probe}
            _default(probe.get("httpGet"), "scheme", "HTTP")


def _default_volume(volume: dict[str, Any]) -> None:
    if len(volume) == 1:
        volume["emptyDir"] = {}
    for name in ("configMap", "secret", "projected", "downwardAPI"):
        _default(volume.get(name), "defaultMode", 420)
    _default(volume.get("hostPath"), "type", "")


def _default(part: Any, field: str, value: Any) -> None:
    """Set a field of a part that is there; what no scheduler reads may be no object."""
    if isinstance(part, dict):
        part.setdefault(field, value)


def bare(value: Any) -> Any:
    """Return a part of a manifest without its fields that are null or empty, which mean the same."""
    if isinstance(value, dict):
        found = {key: bare(part) for key, part in value.items()}
        return {key: part for key, part in found.items() if part not in (None, {}, [])}
    return [bare(part) for part in value] if isinstance(value, list) else value
