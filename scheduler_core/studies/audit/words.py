"""Counts, lists and times in sentences of an audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.kubernetes.quantity import format_resource

SHOWN = 4
"""Names in a sentence; the others are counted."""


def count(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def listed(names: Iterable[str], shown: int = SHOWN) -> str:
    """Return the first names, and how many more there are."""
    found = list(names)
    more = len(found) - shown
    return ", ".join(found[:shown]) + (f" and {more:,} more" if more > 0 else "")


def lasting(seconds: float) -> str:
    """Return a duration as kubectl prints it."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{whole}s"
    return f"{minutes}m{rest}s" if rest else f"{minutes}m"


def amounts(held: Mapping[str, int]) -> str:
    """Return amounts of resources but of pods: ``cpu 500m, memory 1Gi``; bytes rounded down to MiB."""
    return ", ".join(f"{name} {_amount(name, value)}" for name, value in held.items() if name != "pods")


def _amount(name: str, value: int) -> str:
    rounded = value >> 20 << 20 if name in ("memory", "ephemeral-storage") else value
    return format_resource(name, rounded or value)
