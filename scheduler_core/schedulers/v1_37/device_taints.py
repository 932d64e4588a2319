"""DeviceTaintRules: taints of devices beside those that their ResourceSlices give them.

Source: ``k8s.io/dynamic-resource-allocation/resourceslice/tracker`` (KEP-5055).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.kubernetes.device_versions import as_v1
from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.device_selectors import selects
from scheduler_core.schedulers.v1_37.devices import Device, DeviceRequest, device_of
from scheduler_core.schedulers.v1_37.interface import PluginError
from scheduler_core.schedulers.v1_37.state import ClusterState

RULE = "DeviceTaintRule"
GATES = ("DRADeviceTaints", "DRADeviceTaintRules")

_NAMED = ("driver", "pool", "device")
"""Fields of a rule's selector, in the order of a device's id."""


def rules_of(cluster: ClusterState) -> list[Manifest]:
    """Return the DeviceTaintRules in order of creation, none while a feature gate turns them off."""
    on = all(map(cluster.configuration.gate, GATES))
    return list(cluster.list(RULE)) if on else []


def added_taints(
    cluster: ClusterState, rules: Iterable[Manifest], device: Device
) -> Sequence[Mapping[str, Any]]:
    """Return the taints of the rules that select a device (applyPatches)."""
    return [rule["spec"]["taint"] for rule in rules if _selects(cluster, rule, device)]


def _selects(cluster: ClusterState, rule: Manifest, device: Device) -> bool:
    """Return whether a rule selects a device; one without a selector selects all.

    By class and expressions only in v1alpha3; an expression that fails selects nothing.
    """
    selector = (rule.get("spec") or {}).get("deviceSelector") or {}
    if any(selector.get(name) not in (None, part) for name, part in zip(_NAMED, device.id, strict=True)):
        return False
    if selector.get("deviceClassName") is None and not selector.get("selectors"):
        return True
    name = selector.get("deviceClassName")
    if name is not None and cluster.get("DeviceClass", None, name) is None:
        return False
    asked = {"deviceClassName": name or "", "selectors": selector.get("selectors") or ()}
    try:
        return selects(cluster, DeviceRequest({"metadata": {"name": ""}}, "", "", asked), device)
    except PluginError:
        return False


def changed_slices(cluster: ClusterState, change: ObjectWrite) -> list[Manifest]:
    """Return the ResourceSlices whose devices get or lose taints by a write to a DeviceTaintRule."""
    before, after = change.old, change.new
    if not all(map(cluster.configuration.gate, GATES)):
        return []
    if before is not None and after is not None and before.get("spec") == after.get("spec"):
        return []
    rules = [rule for rule in (before, after) if rule is not None]
    return [one for one in cluster.list("ResourceSlice") if _is_touched(cluster, rules, one)]


def _is_touched(cluster: ClusterState, rules: list[Manifest], manifest: Manifest) -> bool:
    spec = as_v1(manifest)["spec"]
    devices = (device_of(spec, each) for each in spec.get("devices") or ())
    return any(_selects(cluster, rule, device) for device in devices for rule in rules)
