"""Kueue's amounts: how they are printed, added and taken apart."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.cluster.kueue.objects import Amounts, Usage

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E")
_MILLI = ("m", *_DECIMAL)


def format_amount(resource: str, amount: int) -> str:
    """Print an amount as Kueue does (resources.ResourceQuantityString).

    Cpu is a milli quantity; bytes have a binary suffix where that is exact; others have a decimal one.
    """
    if resource == "cpu":
        return _shortened(amount, 1000, _MILLI)
    is_bytes = resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
    if is_bytes and amount % 1024 == 0:
        return _shortened(amount, 1024, _BINARY)
    return _shortened(amount, 1000, _DECIMAL)


def _shortened(amount: int, base: int, suffixes: tuple[str, ...]) -> str:
    if amount == 0:
        return "0"
    power = 0
    while amount % base == 0 and power < len(suffixes) - 1:
        amount //= base
        power += 1
    return f"{amount}{suffixes[power]}"


def times(amounts: Mapping[str, int], count: int) -> Amounts:
    """Return amounts for a number of pods."""
    return {resource: amount * count for resource, amount in amounts.items()}


def sum_of(parts: list[Amounts]) -> Amounts:
    """Add amounts up."""
    if len(parts) == 1:
        return parts[0]
    total: Amounts = {}
    for part in parts:
        for resource, amount in part.items():
            total[resource] = total.get(resource, 0) + amount
    return total


def by_flavor(usage: Mapping[tuple[str, str], int], *, zeros: bool = False) -> dict[str, dict[str, int]]:
    """Group a usage by flavor, by default without zeros, both levels sorted."""
    out: dict[str, dict[str, int]] = {}
    for (flavor, resource), amount in sorted(usage.items()):
        if amount or zeros:
            out.setdefault(flavor, {})[resource] = amount
    return out


def add_usage(total: Usage, more: Mapping[tuple[str, str], int]) -> None:
    """Add a usage to another in place."""
    for pair, amount in more.items():
        total[pair] = total.get(pair, 0) + amount
