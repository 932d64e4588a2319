"""When an operation of a Scenario lands: its step, its virtual time, between cycles or inside one.

``step: 2`` lands when nothing is left to schedule in step 2 and begins step 3. ``step: {major: 2, minor: 5}``
lands after cycle 2.5, whatever is still queued. ``during: evaluation`` lands inside the next cycle, after its
predicates were evaluated and before their results are written to the equivalence cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.objects.reading import At, Field, enum, integer, record, show

Step = tuple[int, int | None]  # major, and after how many of its cycles

_MAJOR_MINOR = record(
    dict,
    {"major": Field("major", integer(1), required=True), "minor": Field("minor", integer(0, 10**9))},
)


def _step(value: Any, at: At) -> Step | None:
    if isinstance(value, dict):
        read = _MAJOR_MINOR(value, at)
        return None if read is None else (read["major"], read.get("minor"))
    major = integer(1)(value, at)
    return None if major is None else (major, None)


def _seconds(value: Any, at: At) -> float | None:
    if type(value) not in (int, float) or not 0 <= value <= 1e12:
        at.error(f"must be seconds of virtual time, at least 0, not {show(value)}")
        return None
    return float(value)


FIELDS: Mapping[str, Field] = {
    "step": Field("step", _step, required=True),
    "time": Field("time", _seconds),
    "during": Field("during", enum("evaluation")),
}
"""The fields of an operation that are read here."""


class Moments:
    """Follows the operations of a history: neither steps nor time go back, and a step lands as one."""

    def __init__(self) -> None:
        self.step = 0
        self.after: int | None = None
        self.time = 0.0
        self.during = False

    def take(self, read: Mapping[str, Any], at: At) -> None:
        """Take the next operation's fields."""
        major, minor = read["step"]
        if major < self.step:
            at.child("step").error(f"is {major} after {self.step}: steps must not go back")
        moved = major > self.step
        if moved:
            self.step, self.after = major, minor
        elif minor is not None and minor != self.after:
            there = "at the end of it" if self.after is None else f"after cycle {major}.{self.after}"
            at.child("step").error(
                f"the operations of one step land together, and those before land {there}: "
                "write another major"
            )
        seconds = read.get("time", self.time + 1 if moved else self.time)
        if seconds < self.time:
            at.child("time").error(f"is {seconds:g} after {self.time:g}: time must not go back")
        self.time = max(self.time, seconds)
        self.during = "during" in read
