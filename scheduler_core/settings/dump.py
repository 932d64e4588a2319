"""What the dump of a running cluster does not say of itself, as SimulationSettings give it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.readers import At, Field, Outline, boolean, outlined, record, show
from scheduler_core.kubernetes.times import seconds_of


class DumpSettings(Struct, frozen=True):
    """When it was taken, "" for the latest time in it, and whether it has every object."""

    taken_at: str = ""
    complete: bool = False


def _time(value: Any, at: At) -> str | None:
    if not isinstance(value, str) or seconds_of(value) is None:
        at.error(f"must be a time such as 2026-06-01T12:00:00Z, not {show(value)}")
        return None
    return value


outlined(_time, Outline("string"))

read_dump = record(
    DumpSettings, {"takenAt": Field("taken_at", _time), "complete": Field("complete", boolean)}
)
