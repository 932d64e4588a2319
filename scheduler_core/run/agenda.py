"""The outstanding operations of a scenario, in order, and which of them are due."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from scheduler_core.kubernetes.times import RESOLUTION
from scheduler_core.scenario.scenario import Operation


class Agenda(Struct):
    """Operations by major step; those of one step are applied together."""

    steps: tuple[tuple[int, tuple[Operation, ...]], ...]
    landed: int = 0  # steps whose operations have been applied

    @staticmethod
    def of(operations: Sequence[Operation]) -> Agenda:
        """Return the agenda of a scenario at the start of its run."""
        by_step = groupby(operations, key=lambda operation: operation.step)
        return Agenda(tuple((step, tuple(group)) for step, group in by_step))

    @property
    def more(self) -> bool:
        """Return whether an operation is outstanding."""
        return self.landed < len(self.steps)

    @property
    def next_time(self) -> float | None:
        """Return the second at which the next operations land; ``None`` if none, or if they count cycles."""
        first = self._first
        return _moment(first) if first is not None and first.after is None else None

    @property
    def first_time(self) -> float:
        """The earliest second of the next operations, also if they count cycles; 0 without any."""
        return 0.0 if self._first is None else self._first.time

    @property
    def counting(self) -> bool:
        """Return whether the next operations wait for a number of cycles rather than for a second."""
        return self._first is not None and self._first.after is not None

    @property
    def _first(self) -> Operation | None:
        return self.steps[self.landed][1][0] if self.more else None

    def due(self, minor: int, now: float, *, active: bool) -> bool:
        """Return whether the next operations are due, given that no timer is; ``active``: a pod is active."""
        first = self._first
        if first is None:
            return False
        if first.after is not None:
            return minor >= first.after
        return _moment(first) <= now and (first.timed or not active)

    def waits(self, minor: int) -> bool:
        """Return whether the next operations wait while a pod can be tried, after ``minor`` cycles."""
        first = self._first
        return first is not None and (first.after is None or minor < first.after)

    def cycles_left(self, minor: int) -> int | None:
        """Return the cycles until the next operations land while pods can be tried, ``None`` for never."""
        first = self._first
        return None if first is None or first.after is None else first.after - minor

    def overdue(self, now: float) -> bool:
        """Return whether the next operations' time has been reached, so that only active pods delay them."""
        moment = self.next_time
        return moment is not None and moment <= now

    def take(self) -> tuple[int, tuple[Operation, ...]]:
        """Remove and return the next operations with the major step that they end."""
        found = self.steps[self.landed]
        self.landed += 1
        return found


def _moment(operation: Operation) -> float:
    """Return when an operation lands, at the clock's resolution; a finer time would never be reached."""
    return round(operation.time, RESOLUTION)
