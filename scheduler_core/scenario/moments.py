"""When an operation of a Scenario lands: its step, its virtual time, between cycles or during one.

``step: 2`` lands when nothing is left to schedule in step 2 and begins step 3. ``step: {major: 2, minor: 5}``
lands after cycle 2.5, regardless of queued pods. ``during: evaluation`` lands during the next cycle, after
its predicates are evaluated and before their results are written to the equivalence cache.

``time: 12.5`` without a step lands at that second of virtual time. Such an operation is ordered by its time,
wherever it is written: after everything of the same or an earlier time. Its step follows from that:
operations of one time share a step, and each later time begins the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import merge
from typing import Any

from scheduler_core.kubernetes.readers import At, Field, Report, enum, integer, record, show

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
    "step": Field("step", _step),
    "time": Field("time", _seconds),
    "during": Field("during", enum("evaluation")),
}
"""The fields of an operation that determine when it takes effect."""


def _number(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value <= 1e12 else None


def major_of(operation: Any) -> int | None:
    """Return the major step that an operation names, ``None`` if it names none."""
    step = operation.get("step") if isinstance(operation, Mapping) else None
    major = step.get("major") if isinstance(step, Mapping) else step
    return major if type(major) is int else None


def _timed(operation: Any) -> bool:
    return (
        isinstance(operation, Mapping)
        and operation.get("step") is None
        and _number(operation.get("time")) is not None
    )


def in_order(listed: Sequence[Any]) -> list[int]:
    """Return the order in which operations, as written, land: indexes into ``listed``.

    Those with a step keep their order; those with only a time come after all that are not later.
    """
    timed = [place for place, operation in enumerate(listed) if _timed(operation)]
    if not timed:
        return list(range(len(listed)))
    stepped: list[tuple[float, int, int]] = []
    step, seconds = 0, 0.0
    alone = set(timed)
    for place, operation in enumerate(listed):
        if place in alone:
            continue
        major = major_of(operation)
        given = _number(operation.get("time")) if isinstance(operation, Mapping) else None
        passed = seconds + 1 if major is not None and major > step else seconds
        seconds = max(seconds, given if given is not None else passed)
        step = max(step, major or 0)
        stepped.append((seconds, 0, place))
    by_time = sorted((float(listed[place]["time"]), 1, place) for place in timed)
    return [place for _, _, place in merge(stepped, by_time)]


def stepped(listed: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return operations in the order in which they land, each with its step. They must be valid."""
    if not any(map(_timed, listed)):
        return listed
    out: list[Mapping[str, Any]] = []
    moments, nowhere = Moments(), At(Report(), None, None)
    for operation in (listed[place] for place in in_order(listed)):
        given = {
            name: row.read(operation[name], nowhere) for name, row in FIELDS.items() if name in operation
        }
        moments.take(given, nowhere)
        if operation.get("step") is None:
            step = moments.step if moments.after is None else {"major": moments.step, "minor": moments.after}
            out.append({**operation, "step": step})
        else:
            out.append(operation)
    return out


def says_when(operation: Mapping[str, Any], read: Mapping[str, Any], at: At) -> bool:
    """Return whether an operation has a valid step or time; report an error if it has neither."""
    given = [name for name in ("step", "time") if operation.get(name) is not None]
    if not given:
        at.child("step").error(
            "step is missing: set the step at whose end it takes effect, or its time in virtual seconds"
        )
    return bool(given) and all(name in read for name in given)


class Moments:
    """Tracks the operations of a history: neither steps nor time decrease, and a step lands as a unit."""

    def __init__(self) -> None:
        self.step = 0
        self.after: int | None = None
        self.time = 0.0
        self.during = False
        self.timed = False  # the last operation has no step: it lands at its time
        self._derived = False  # the step follows from the time
        self._counted = (0, 0.0)  # step and time of the last operation with a step

    def take(self, read: Mapping[str, Any], at: At) -> None:
        """Read the fields of the next operation, in the order of :func:`in_order`: step, time or both."""
        self.during = "during" in read
        step: Step | None = read.get("step")
        self.timed = step is None
        if step is not None:
            self._take_step(step, read.get("time"), at)
        elif read["time"] > self.time or not self.step:
            self.step, self.after, self.time = self.step + 1, None, read["time"]
            self._derived = True

    def _take_step(self, step: Step, seconds: float | None, at: At) -> None:
        major, minor = step
        if major < self.step:
            at.child("step").error(f"is {major} after {self.step}: steps must not go back{self._why()}")
        elif major == self.step and self._derived:
            at.child("step").error(f"{major} is taken{self._why()}")
        moved = major > self.step
        if moved:
            self.step, self.after, self._derived = major, minor, False
        elif minor is not None and minor != self.after:
            there = "at the end of it" if self.after is None else f"after cycle {major}.{self.after}"
            at.child("step").error(
                f"the operations of one step land together, and those before land {there}: "
                "write another major"
            )
        counted, reached = self._counted
        if seconds is None:
            seconds = reached + 1 if major > counted else reached
        if seconds < self.time:
            at.child("time").error(f"is {seconds:g} after {self.time:g}: time must not go back")
        self.time = max(self.time, seconds)
        self._counted = (max(counted, major), self.time)

    def _why(self) -> str:
        return f": the operations at {self.time:g} s, which name no step, have it" if self._derived else ""
