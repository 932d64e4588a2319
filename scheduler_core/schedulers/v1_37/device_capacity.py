"""Capacity that claims consume of devices which several of them share (DRAConsumableCapacity)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.quantity import MAX_AMOUNT, exact_quantity, rounded
from scheduler_core.schedulers.v1_37.devices import Device, DeviceRequest
from scheduler_core.schedulers.v1_37.interface import PluginError

_RANGE = "capacity request cannot be represented in the device's range arithmetic"
_BINARY_SUFFIXES = ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki")


class Amount(Struct, frozen=True):
    """A quantity as it is written, and its exact value in base units."""

    text: str
    value: Fraction


Consumed = Mapping[str, Amount]
"""What one claim consumes of a device, by capacity."""


def amount_of(text: Any) -> Amount:
    """Return a quantity of a manifest. Raises QuantityError."""
    return Amount(str(text), Fraction(exact_quantity(str(text))))


def consumed_by(request: DeviceRequest, device: Device) -> Consumed:
    """Return what a request consumes of a device (GetConsumedCapacityFromRequest).

    Raises PluginError if an amount cannot be rounded to the device's steps, or is negative.
    """
    asked = _asked(request)
    out = {}
    for name, capacity in (device.spec.get("capacity") or {}).items():
        try:
            out[name] = _rounded(asked.get(name), capacity)
        except OverflowError as error:
            problem = f'checking capacity for device {device.path}: capacity "{name}": {_RANGE}: {error}'
            raise PluginError(f"{request.label}: {problem}") from None
        if out[name].value < 0:
            problem = f'checking capacity for device {device.path}: capacity "{name}"'
            raise PluginError(f"{request.label}: {problem}: capacity value is negative")
    return out


def has_capacity(request: DeviceRequest, device: Device, others: Iterable[Consumed]) -> bool:
    """Return whether a device has what a request asks for besides ``others`` (CmpRequestOverCapacity)."""
    asked = _asked(request)
    if not asked and not device.is_shared:
        return True
    capacities: Mapping[str, Any] = device.spec.get("capacity") or {}
    if not asked.keys() <= capacities.keys():
        return False
    mine, others = consumed_by(request, device), tuple(others)
    for name, capacity in capacities.items():
        if _violates(mine[name], capacity.get("requestPolicy") or {}):
            return False
        used = sum(one[name].value for one in others if name in one)
        if used + mine[name].value > exact_quantity(str(capacity["value"])):
            return False
    return True


def lacking(request: DeviceRequest, device: Device, others: Iterable[Consumed]) -> Iterator[str]:
    """Yield what a device lacks of what a request asks for besides ``others``: facts for explanations."""
    capacities: Mapping[str, Any] = device.spec.get("capacity") or {}
    yield from (f"it has no capacity {name}" for name in _asked(request) if name not in capacities)
    mine, others = consumed_by(request, device), tuple(others)
    for name, capacity in capacities.items():
        total = amount_of(capacity["value"])
        left = total.value - sum(one[name].value for one in others if name in one)
        if _violates(mine[name], capacity.get("requestPolicy") or {}):
            yield f"its requestPolicy does not allow {mine[name].text} of {name}"
        elif mine[name].value > left:
            yield f"{mine[name].text} of {name} asked for, {written(left, total.text)} of {total.text} left"


def _asked(request: DeviceRequest) -> Mapping[str, Any]:
    return (request.entry.get("capacity") or {}).get("requests") or {}


def _rounded(asked: Any, capacity: Mapping[str, Any]) -> Amount:
    """Return what is consumed of one capacity (calculateConsumedCapacity)."""
    policy = capacity.get("requestPolicy") or {}
    if asked is None:
        return amount_of(policy.get("default") or capacity["value"])
    wanted = amount_of(asked)
    limits = policy.get("validRange") or {}
    if limits.get("min") is not None:
        return _to_step(wanted, limits)
    values = map(amount_of, policy.get("validValues") or ())
    return next((value for value in values if wanted.value <= value.value), wanted)


def _to_step(wanted: Amount, limits: Mapping[str, Any]) -> Amount:
    """Round up to the next step from the minimum (roundUpRange). Raises OverflowError."""
    least = amount_of(limits["min"])
    if wanted.value < least.value:
        return least
    if not _step(limits):
        return wanted
    unit = _unit(limits)
    if unit != 1 and (wanted.value * unit).denominator != 1:
        raise OverflowError(f"request {wanted.text} is not a representable milli value")
    if wanted.value * unit > MAX_AMOUNT:
        limit = "is not a representable milli value" if unit != 1 else "exceeds MaxInt64"
        raise OverflowError(f"request {wanted.text} {limit}")
    start, step = rounded(least.value * unit), rounded(_step(limits) * unit)
    value = start + step * -(-(rounded(wanted.value * unit) - start) // step)
    if value > MAX_AMOUNT:
        limit = "the milli-value range" if unit != 1 else "MaxInt64"
        raise OverflowError(f"rounding request {wanted.text} up to the next step passes {limit}")
    return Amount(written(Fraction(value, unit), str(limits["step"])), Fraction(value, unit))


def _step(limits: Mapping[str, Any]) -> Fraction:
    """Return the step, which the API server wants to be more than 0; 0 if there is none."""
    return max(Fraction(exact_quantity(str(limits.get("step") or 0))), Fraction(0))


def _unit(limits: Mapping[str, Any]) -> int:
    """Return 1000 if the range is kept in thousandths, which all its bounds must be; else 1 (useMilli)."""
    bounds = [exact_quantity(str(limits[name])) * 1000 for name in ("min", "max", "step") if limits.get(name)]
    return 1000 if all(one.denominator == 1 and one <= MAX_AMOUNT for one in bounds) else 1


def _violates(consumed: Amount, policy: Mapping[str, Any]) -> bool:
    """Return whether the device's policy does not allow the amount (violatesPolicy)."""
    if policy.get("default") is not None and consumed.value == exact_quantity(str(policy["default"])):
        return False
    if policy.get("validRange"):
        return _is_outside(consumed, policy["validRange"])
    values = policy.get("validValues") or ()
    return bool(values) and all(exact_quantity(str(value)) != consumed.value for value in values)


def _is_outside(consumed: Amount, limits: Mapping[str, Any]) -> bool:
    if limits.get("max") is not None and consumed.value > exact_quantity(str(limits["max"])):
        return True
    if not _step(limits):
        return False
    unit = _unit(limits)
    if unit != 1 and (consumed.value * unit).denominator != 1:
        return True
    start = rounded(exact_quantity(str(limits.get("min") or 0)) * unit)
    return (rounded(consumed.value * unit) - start) % rounded(_step(limits) * unit) != 0


def written(value: Fraction, like: str) -> str:
    """Write an amount, with a binary suffix if ``like`` has one."""
    if value.denominator != 1:
        return f"{rounded(value * 1000)}m"
    if like.endswith(_BINARY_SUFFIXES):
        for suffix in _BINARY_SUFFIXES:
            size = Fraction(exact_quantity(f"1{suffix}"))
            if value and (value / size).denominator == 1:
                return f"{value / size}{suffix}"
    return str(value)
