"""Devices of ResourceSlices and the requests of ResourceClaims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from scheduler_core.kubernetes.device_versions import as_v1
from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.change import Manifest

if TYPE_CHECKING:
    from scheduler_core.schedulers.v1_37.cel.values import CelMap, Semver

DeviceId = tuple[str, str, str]
"""Driver, pool, device."""


class Device(Struct, dict=True):
    """A device of a slice."""

    id: DeviceId
    spec: Mapping[str, Any]
    piece: Mapping[str, Any]
    """The specification of its slice."""
    answers: dict[str, bool | CelError] = field(default_factory=dict)
    """What each selector's expression answered of it."""

    @property
    def path(self) -> str:
        """The record's name of it."""
        return "/".join(self.id)

    @property
    def is_shared(self) -> bool:
        """Whether several claims may have a share of it at a time."""
        return bool(self.spec.get("allowMultipleAllocations"))

    @cached_property
    def variable(self) -> CelMap:
        """What selectors see of it. Raises CelError if an attribute cannot be read."""
        from scheduler_core.schedulers.v1_37.cel.functions.quantities import parse_quantity
        from scheduler_core.schedulers.v1_37.cel.selectors import device_variable

        read, spec = _attribute_of, self.spec
        attributes = {name: read(name, value) for name, value in (spec.get("attributes") or {}).items()}
        given = (spec.get("capacity") or {}).items()
        capacity = {name: parse_quantity(str(value["value"])) for name, value in given}
        return device_variable(self.id[0], attributes, capacity, allow_multiple_allocations=self.is_shared)

    def attribute(self, name: str) -> tuple[str, Any] | None:
        """Return an attribute by its full name as type and value; None if it is missing (lookupAttribute)."""
        own = self.spec.get("attributes") or {}
        domain, _, short = name.partition("/")
        found = own.get(name) or (own.get(short) if domain == self.id[0] else None)
        return next(iter(found.items()), None) if found else None


def _attribute_of(name: str, given: Mapping[str, Any]) -> Any:
    """Return an attribute's value (getAttributeValue); lists come before single values."""
    kind = next((kind for kind in _ATTRIBUTES if given.get(kind) is not None), None)
    if kind is None:
        raise CelError(f"attribute {name}: unsupported attribute value")
    try:
        return _ATTRIBUTES[kind](given[kind])
    except CelError as error:
        raise CelError(f"attribute {name}: parse semantic version: {error}") from None


def _version(text: str) -> Semver:
    from scheduler_core.schedulers.v1_37.cel.functions.quantities import parse_semver

    return parse_semver(text)


def _versions(texts: list[str]) -> list[Semver]:
    return [_version(text) for text in texts]


_ATTRIBUTES: Mapping[str, Callable[[Any], Any]] = {
    "ints": list, "bools": list, "strings": list, "versions": _versions,
    "int": int, "bool": bool, "string": str, "version": _version,
}  # fmt: skip


def device_of(piece: Mapping[str, Any], spec: Mapping[str, Any]) -> Device:
    """Compile a device of a slice's specification, in the shape of v1."""
    return Device((piece["driver"], piece["pool"]["name"], spec["name"]), spec, piece)


def tainted(device: Device, taints: Sequence[Mapping[str, Any]]) -> Device:
    """Return the device with more taints than its slice gives it."""
    if not taints:
        return device
    spec = {**device.spec, "taints": [*(device.spec.get("taints") or ()), *taints]}
    return Device(device.id, spec, device.piece)


class DeviceRequest(Struct, dict=True):
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


def requests_of(claim: Manifest, *, shares: bool = True) -> Iterator[list[DeviceRequest]]:
    """Yield each request of a claim as its alternatives, one without subrequests.

    Without ``shares`` (DRAConsumableCapacity) what they ask for of capacities does not count.
    """
    for entry in (as_v1(claim)["spec"].get("devices") or {}).get("requests") or ():
        name = entry["name"]
        if entry.get("firstAvailable"):
            listed = [(f"{name}/{sub['name']}", sub) for sub in entry["firstAvailable"]]
        else:
            listed = [(name, entry.get("exactly") or {})]
        yield [
            DeviceRequest(claim, name, full, one if shares else {**one, "capacity": None})
            for full, one in listed
        ]


def is_tainted(request: DeviceRequest, device: Device) -> bool:
    """Return whether a taint keeps the request off the device."""
    return bool(device.spec.get("taints")) and bool(taints_against(request, device))


def taints_against(request: DeviceRequest, device: Device) -> list[Mapping[str, Any]]:
    """Return the taints that keep the request off the device."""
    tolerations = request.entry.get("tolerations") or ()
    return [
        taint
        for taint in device.spec.get("taints") or ()
        if taint.get("effect") in ("NoSchedule", "NoExecute")
        and not any(_tolerates(toleration, taint) for toleration in tolerations)
    ]


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    exists = toleration.get("operator") == "Exists"
    return exists or (toleration.get("value") or "") == (taint.get("value") or "")
