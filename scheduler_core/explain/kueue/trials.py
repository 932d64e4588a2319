"""What would happen: changes and submissions tried on a copy of Kueue's state, until it rests."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from msgspec import Struct, field

from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.nomination import ASSUMED, CycleRecord
from scheduler_core.cluster.kueue.workload import EVICTED, Workload

MOST_CYCLES = 200
MOST_SECONDS = 12  # of virtual time, in which something has to come to rest
IN_ONE_MOMENT = 25  # cycles, of which more never come to rest

Edit = Callable[[Control], None]


class TrialCourse(Struct):
    """What a trial came to: its cycles, the Workloads admitted and preempted in order, and if it rests."""

    control: Control
    cycles: list[CycleRecord] = field(default_factory=list)
    admitted: list[str] = field(default_factory=list)
    preempted: list[str] = field(default_factory=list)
    is_restless: bool = False

    def admits(self, key: str) -> bool:
        """Return whether a Workload holds quota at the end."""
        found = self.control.workloads.get(key)
        return found is not None and found.is_reserving and not found.has(EVICTED)


def stopped_at_once(workload: Workload) -> float | None:
    """Say that an evicted Workload's job stops when it is evicted."""
    return workload.conditions[EVICTED].at


def course(control: Control, edit: Edit, until: str = "") -> TrialCourse:
    """Make a change on a copy and run it until nothing changes any more, or ``until`` is admitted.

    Evicted jobs stop at once, and nothing finishes meanwhile.
    """
    made = TrialCourse(control.copy(stopped_at_once))
    edit(made.control)
    made.control.settle()
    end = made.control.moment + MOST_SECONDS
    while not (until and made.admits(until)) and len(made.cycles) < MOST_CYCLES:
        if not _cycles(made, until):
            made.is_restless = True
            break
        due = made.control.next_time()
        if due is None or due > end:
            break
        made.control.tick(max(due, made.control.moment))
    return made


def _cycles(made: TrialCourse, until: str) -> bool:
    """Run the cycles of one moment; false if there is no end of them."""
    control = made.control
    for _ in range(IN_ONE_MOMENT):
        if not control.has_heads():
            return True
        before = control.digest
        record = control.cycle()
        control.settle()
        made.cycles.append(record)
        _note(made, record)
        if control.digest == before or (until and made.admits(until)):
            return True
    return False


def _note(made: TrialCourse, record: CycleRecord) -> None:
    for one in record.entries:
        if one.status == ASSUMED:
            made.admitted.append(one.entry.key)
        elif one.is_preempting:
            made.preempted += [target.reserving.key for target in one.targets]


def outlook(alone: TrialCourse, key: str) -> str:
    """Return what becomes of a Workload if nothing is changed."""
    preempted = list(dict.fromkeys(alone.preempted))
    if alone.is_restless:
        return f"Left alone the cycles never come to rest: {', '.join(preempted) or key} again and again."
    if not alone.admits(key):
        return "Left alone it stays pending."
    after = f", once {', '.join(preempted)} preempted for it have stopped" if preempted else ""
    return f"Left alone it is admitted in the next cycles{after}."


class TrialBounds:
    """The time that a search for changes may take, in seconds, and the trials that it may make."""

    def __init__(self, seconds: float, trials: int) -> None:
        self._until, self._left = monotonic() + seconds, trials

    def allows(self) -> bool:
        """Return whether another trial may be made, and count it."""
        self._left -= 1
        return self._left >= 0 and monotonic() < self._until
