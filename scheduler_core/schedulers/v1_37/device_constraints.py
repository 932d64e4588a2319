"""Constraints between the devices of a claim: the same value of an attribute, or all values different."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.device_versions import as_v1
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.devices import Device, DeviceRequest, key_of_claim
from scheduler_core.schedulers.v1_37.interface import PluginError

_COMPARABLE = ("string", "int", "bool", "version")

Value = tuple[str, Any]
"""An attribute's type and value."""


class DeviceConstraint:
    """One constraint of a claim, with the values of the devices taken so far."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.wants_same = bool(given.get("matchAttribute"))
        self.attribute: str = given.get("matchAttribute") or given["distinctAttribute"]
        self._requests = frozenset(given.get("requests") or ())
        self._values: list[Value] = []

    def add(self, request: DeviceRequest, device: Device) -> bool:
        """Return whether the device may join the others, and count it if so."""
        if not self._concerns(request):
            return True
        value = device.attribute(self.attribute)
        if value is None or not self._admits(value):
            return False
        self._values.append(value)
        return True

    def remove(self, request: DeviceRequest) -> None:
        """Take back the device of the request that was added last."""
        if self._concerns(request):
            self._values.pop()

    def _concerns(self, request: DeviceRequest) -> bool:
        return not self._requests or request.base in self._requests or request.name in self._requests

    def _admits(self, value: Value) -> bool:
        if not self._values:
            return True
        if value[0] not in _COMPARABLE:
            return False
        return value == self._values[0] if self.wants_same else value not in self._values


def constraints_of(claim: Manifest, *, distinct: bool = True) -> list[DeviceConstraint]:
    """Return the constraints of a claim. Raises PluginError for one of neither kind.

    Without ``distinct`` those that want different values are unknown.
    """
    out = []
    for number, given in enumerate((as_v1(claim)["spec"].get("devices") or {}).get("constraints") or ()):
        if not given.get("matchAttribute") and not (distinct and given.get("distinctAttribute")):
            text = f"constraint #{number}: empty constraint (unsupported constraint type?)"
            raise PluginError(f"claim {key_of_claim(claim)}, {text}")
        out.append(DeviceConstraint(given))
    return out
