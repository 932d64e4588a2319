"""The operations of a scenario that are still to land, in their order, and whose turn it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from scheduler_core.framework.clock import RESOLUTION
from scheduler_core.scenario.scenario import Operation


@dataclass(slots=True)
class Agenda:
    """Operations by major step; those of a step land together."""

    steps: tuple[tuple[int, tuple[Operation, ...]], ...]
    landed: int = 0  # steps that have landed

    @staticmethod
    def of(operations: Sequence[Operation]) -> Agenda:
        """Return the agenda of a scenario, from its beginning."""
        by_step = groupby(operations, key=lambda operation: operation.step)
        return Agenda(tuple((step, tuple(group)) for step, group in by_step))

    @property
    def more(self) -> bool:
        """Tell whether an operation is to come."""
        return self.landed < len(self.steps)

    @property
    def next_time(self) -> float | None:
        """Return the second at which the next ones land; ``None`` if there are none, or they count cycles."""
        first = self._first
        return _moment(first) if first is not None and first.after is None else None

    @property
    def counting(self) -> bool:
        """Tell whether the next ones wait for cycles rather than for a second."""
        return self._first is not None and self._first.after is not None

    @property
    def _first(self) -> Operation | None:
        return self.steps[self.landed][1][0] if self.more else None

    def due(self, minor: int, now: float, *, active: bool) -> bool:
        """Tell whether it is the next ones' turn, if no timer is due; ``active``: there is a pod to try."""
        first = self._first
        if first is None:
            return False
        if first.after is not None:
            return minor >= first.after
        return _moment(first) <= now and (first.timed or not active)

    def overdue(self, now: float) -> bool:
        """Tell whether the next ones are held up by active pods alone: their moment is here."""
        moment = self.next_time
        return moment is not None and moment <= now

    def take(self) -> tuple[int, tuple[Operation, ...]]:
        """Return the next operations with the major step that ends with them."""
        found = self.steps[self.landed]
        self.landed += 1
        return found


def _moment(operation: Operation) -> float:
    """Return when an operation lands, as the clock keeps times; a finer one would never come."""
    return round(operation.time, RESOLUTION)
