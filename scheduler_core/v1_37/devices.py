"""Devices of ResourceSlices, the requests of ResourceClaims, and which of them selects which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scheduler_core.objects.device_versions import as_v1
from scheduler_core.v1_37.cel import CelError, compile_cel, quantity
from scheduler_core.v1_37.change import Manifest
from scheduler_core.v1_37.interface import PluginError
from scheduler_core.v1_37.state import Cluster

DeviceId = tuple[str, str, str]
"""Driver, pool, device."""

_MISSING_KEY_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for "
    "optional fields"
)


@dataclass
class Device:
    """A device of a slice, with what selectors see of it."""

    id: DeviceId
    spec: Mapping[str, Any]
    scope: Mapping[str, Any]
    piece: Mapping[str, Any]
    """The specification of its slice."""

    @property
    def path(self) -> str:
        """The record's name of it."""
        return "/".join(self.id)

    @property
    def is_shared(self) -> bool:
        """Whether several claims may have a share of it at a time."""
        return bool(self.spec.get("allowMultipleAllocations"))

    def attribute(self, name: str) -> tuple[str, Any] | None:
        """Return an attribute by its full name as type and value; None if it is missing (lookupAttribute)."""
        own = self.spec.get("attributes") or {}
        domain, _, short = name.partition("/")
        found = own.get(name) or (own.get(short) if domain == self.id[0] else None)
        return next(iter(found.items()), None) if found else None


class _Domains(dict[str, Any]):
    """Attributes by domain; an unknown domain is an empty one."""

    def __missing__(self, key: str) -> Mapping[str, Any]:
        return {}


def _by_domain(entries: Mapping[str, Any], driver: str, read: Any) -> _Domains:
    out = _Domains()
    for name, value in entries.items():
        domain, _, short = name.rpartition("/")
        out.setdefault(domain or driver, {})[short] = read(value)
    return out


def _attribute(value: Mapping[str, Any]) -> Any:
    return next(iter(value.values()), None)


def device_of(piece: Mapping[str, Any], spec: Mapping[str, Any]) -> Device:
    """Compile a device of a slice's specification, in the shape of v1."""
    driver, pool = piece["driver"], piece["pool"]["name"]
    capacity: Any = lambda value: quantity(value["value"])  # noqa: E731
    return Device(
        (driver, pool, spec["name"]),
        spec,
        {
            "device": {
                "driver": driver,
                "attributes": _by_domain(spec.get("attributes") or {}, driver, _attribute),
                "capacity": _by_domain(spec.get("capacity") or {}, driver, capacity),
            }
        },
        piece,
    )


@dataclass
class Request:
    """A request or subrequest of a claim, compiled."""

    claim: Manifest
    base: str
    name: str
    entry: Mapping[str, Any]

    @property
    def takes_all(self) -> bool:
        """Whether its mode is All."""
        return self.entry.get("allocationMode") == "All"

    @property
    def count(self) -> int:
        """How many devices it takes; of no meaning if it takes all."""
        return int(self.entry.get("count") or 1)

    @property
    def is_for_admin(self) -> bool:
        """Whether it takes devices that are in use, and leaves them to others."""
        return bool(self.entry.get("adminAccess")) and not self.is_alternative

    @property
    def is_alternative(self) -> bool:
        """Whether it is one of several of which the first that works is taken."""
        return self.name != self.base

    @property
    def own_name(self) -> str:
        """The request as errors of the allocation name it: a subrequest without the request it is of."""
        return self.name.rpartition("/")[2]

    @cached_property
    def claim_name(self) -> str:
        """The claim as errors name it."""
        return key_of_claim(self.claim)

    @property
    def label(self) -> str:
        """Claim and request, as errors of the allocation begin."""
        return f"claim {self.claim_name}, request {self.own_name}"


def key_of_claim(claim: Manifest) -> str:
    """Return namespace and name of a claim."""
    meta = claim["metadata"]
    return f"{meta.get('namespace') or 'default'}/{meta['name']}"


def requests_of(claim: Manifest) -> Iterator[list[Request]]:
    """Yield each request of a claim as its alternatives, one without subrequests."""
    for entry in (as_v1(claim)["spec"].get("devices") or {}).get("requests") or ():
        name = entry["name"]
        if entry.get("firstAvailable"):
            yield [Request(claim, name, f"{name}/{sub['name']}", sub) for sub in entry["firstAvailable"]]
        else:
            yield [Request(claim, name, name, entry.get("exactly") or {})]


def selects(cluster: Cluster, request: Request, device: Device) -> bool:
    """Return whether class and request select a device. Raises PluginError where a selector fails."""
    name = request.entry["deviceClassName"]
    device_class = cluster.get("DeviceClass", None, name)
    own = (((device_class or {}).get("spec") or {}).get("selectors") or (), f"class {name}")
    for selectors, owner in (own, (request.entry.get("selectors") or (), f"claim {request.claim_name}")):
        for number, selector in enumerate(selectors):
            try:
                matched = compile_cel(selector["cel"]["expression"])(device.scope)
            except CelError as error:
                hint = _MISSING_KEY_HINT if str(error).startswith("no such key") else ""
                raise PluginError(
                    f"{owner}: selector #{number} on device {device.path}: CEL runtime error: {error}{hint}"
                ) from None
            if matched is not True:
                return False
    return True


def is_tainted(request: Request, device: Device) -> bool:
    """Return whether a taint keeps the request off the device."""
    tolerations = request.entry.get("tolerations") or ()
    return any(
        taint.get("effect") in ("NoSchedule", "NoExecute")
        and not any(_tolerates(toleration, taint) for toleration in tolerations)
        for taint in device.spec.get("taints") or ()
    )


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    exists = toleration.get("operator") == "Exists"
    return exists or (toleration.get("value") or "") == (taint.get("value") or "")
