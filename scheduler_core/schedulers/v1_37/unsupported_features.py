"""What v1.37 has and this package has not: named, so that no record is answered as if it were not there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.kubernetes.device_versions import as_v1
from scheduler_core.kubernetes.kinds import MANIFEST_KINDS, is_manifest_kind
from scheduler_core.kubernetes.support import part_of
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.dialect import CURRENT, Dialect
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration

GATES = (
    "CompositePodGroup",
    "DRADeviceBindingConditions",
    "InterPodAffinityHostnameFastPath",
)
"""Feature gates that change decisions when they are on."""

KINDS = ("CompositePodGroup",)

_Test = Callable[[Mapping[str, Any]], bool]


def _devices(spec: Mapping[str, Any], *fields: str) -> bool:
    devices = (device for device in spec.get("devices") or () if isinstance(device, Mapping))
    return any(device.get(field) for device in devices for field in fields)


_FIELDS: tuple[tuple[str, str, _Test], ...] = (
    ("PodGroup", "spec.resourceClaims", lambda spec: bool(spec.get("resourceClaims"))),
    (
        "PodGroup",
        "spec.parentCompositePodGroupName",
        lambda spec: bool(spec.get("parentCompositePodGroupName")),
    ),
    (
        "ResourceSlice",
        "spec.devices[].bindingConditions",
        lambda spec: _devices(spec, "bindingConditions"),
    ),
)
"""Kind, field, and whether a specification has it."""

_OF_GATES = {"spec.devices[].bindingConditions": "DRADeviceBindingConditions"}
"""Fields that mean nothing while a feature gate is off."""

_CONCERNED = frozenset({*KINDS, *(kind for kind, _, _ in _FIELDS)})


def unsupported(
    objects: Iterable[Manifest], gates: Mapping[str, bool], dialect: Dialect = CURRENT
) -> Iterator[str]:
    """Yield one line for each gate, kind and field that is not implemented and could change a decision."""
    configured = CompiledConfiguration({}, gates, dialect=dialect)
    fields = [row for row in _FIELDS if row[1] not in _OF_GATES or configured.gate(_OF_GATES[row[1]])]
    for gate in (*GATES, *dialect.lacks):
        if gates.get(gate):
            yield f"featureGates.{gate} is not implemented"
    for given in objects:
        kind = given.get("kind")
        if kind not in _CONCERNED:
            continue
        if kind in MANIFEST_KINDS and not is_manifest_kind(given):
            continue  # a custom resource of that name
        manifest = as_v1(given)
        name = part_of(manifest, "metadata", "name")
        if kind in KINDS:
            yield f"{kind} {name}: the kind is not implemented"
        spec = manifest.get("spec")
        for owner, path, has in fields:
            if kind == owner and isinstance(spec, Mapping) and has(spec):
                yield f"{kind} {name}: {path} is not implemented"


def unsupported_selectors(objects: Iterable[Manifest]) -> Iterator[str]:
    """Yield one line for each device selector that is valid and cannot be evaluated here."""
    for given in objects:
        manifest = as_v1(given)
        for expression in _expressions(manifest):
            from scheduler_core.schedulers.v1_37.cel.estimate import limitation_of

            reason = limitation_of(expression)
            if reason:
                name = (manifest.get("metadata") or {}).get("name")
                yield f"{manifest.get('kind')} {name}: {reason}: {expression}"


def _expressions(manifest: Manifest) -> Iterator[str]:
    """Yield the expressions of the selectors of a DeviceClass or ResourceClaim."""
    spec = manifest.get("spec") or {}
    asked = [spec] if manifest.get("kind") == "DeviceClass" else []
    if manifest.get("kind") == "ResourceClaim":
        requests = (spec.get("devices") or {}).get("requests") or ()
        asked = [one for r in requests for one in (r.get("exactly") or {}, *(r.get("firstAvailable") or ()))]
    for each in asked:
        for selector in each.get("selectors") or ():
            yield str((selector.get("cel") or {}).get("expression") or "")
