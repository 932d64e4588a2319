"""What the record of a step has of the descheduler: the passes until then, and the ping-pong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from scheduler_core.cluster.descheduler.actor import Descheduler, Pass, Return
from scheduler_core.cluster.descheduler.record import EVICTED, REFUSED, StrategyRecord
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.record.plugin_record import TimelineMark
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.v1_22.interface import Handle, Observer
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.record import Attempt

PASS, IDLE_PASS = "pass", "idle pass"
"""The kinds of timeline marks for a pass: one that evicts, and one that does not.

A mark is about the pass's number, and its state is what it did.
"""

LISTED = 1_000  # evictions and refusals of a strategy in a trace line
FIELD = "descheduling"


class EvictionLine(Struct, frozen=True):
    """A pod that a strategy evicted or wanted to evict, from where, and why."""

    pod: str
    node: str
    outcome: str
    reason: str


class StrategyLine(Struct, frozen=True, rename="camel"):
    """A strategy's part of a pass: how many pods had each outcome; of those evicted or refused the first."""

    strategy: str
    profile: str
    point: str
    stopped: str
    outcomes: dict[str, int]
    evictions: list[EvictionLine]


class PassLine(Struct, frozen=True, rename="camel"):
    """A pass of the descheduler; ``spread`` is by how many percent points requests differed before it."""

    number: int
    time: float
    cause: str
    edition: str
    dry_run: bool
    skipped: str
    spread: dict[str, float]
    strategies: list[StrategyLine]


FIELDS: Mapping[str, Any] = {
    FIELD: Annotated[
        list[PassLine],
        Meta(description="Only if a descheduler runs: its passes since the previous attempt, in order."),
    ]
}
"""The field that it adds to each line of a trace, with its type."""


class DeschedulingRecord(Struct, frozen=True):
    """The passes until the end of a step, in order, and the pods that came back and were evicted again.

    ``new`` of the passes came since the previous step. ``spread`` is by how many percent points the nodes'
    requests differ at the end of a run, by resource; ``None`` before the end.
    """

    passes: tuple[Pass, ...] = ()
    returns: tuple[Return, ...] = ()
    spread: Mapping[str, float] | None = None
    new: int = 0

    @property
    def _latest(self) -> list[tuple[int, Pass]]:
        numbered = list(enumerate(self.passes, 1))
        return numbered[len(numbered) - self.new :]

    @property
    def marks(self) -> tuple[TimelineMark, ...]:
        """A mark for each new pass."""
        return tuple(
            TimelineMark(PASS if any(one.record.evictions) else IDLE_PASS, str(number), one.summary)
            for number, one in self._latest
        )

    def up_to(self, phases: Sequence[str]) -> DeschedulingRecord:
        """Return the record itself: passes run between the attempts."""
        del phases
        return self

    def fields(self) -> dict[str, Any]:
        """Return the new passes as fields of a trace line."""
        return {FIELD: [_line(number, one) for number, one in self._latest]}


def _line(number: int, one: Pass) -> PassLine:
    record = one.record
    strategies = [_strategy(each) for each in record.strategies]
    about = one.time, one.cause, record.edition, record.dry_run, record.skipped
    return PassLine(number, *about, dict(one.spread), strategies)


def _strategy(found: StrategyRecord) -> StrategyLine:
    asked = [one for one in found.verdicts if one.outcome in (EVICTED, REFUSED)][:LISTED]
    outcomes = dict(Counter(one.outcome for one in found.verdicts))
    evictions = [EvictionLine(one.pod, one.node, one.outcome, one.reason) for one in asked]
    return StrategyLine(found.strategy, found.profile, found.point, found.stopped, outcomes, evictions)


def descheduling_of(record: Cycle | FinalState) -> DeschedulingRecord | None:
    """Return the descheduler's part of a record, ``None`` if no descheduler runs."""
    return next((one for one in record.plugins if isinstance(one, DeschedulingRecord)), None)


class DeschedulerObserver(Observer):
    """Records the passes of a run's descheduler."""

    def __init__(self, descheduler: Descheduler) -> None:
        self.descheduler = descheduler
        self._seen = 0  # passes that a record has had as new

    def record(
        self, framework: Handle, pod: QueuedPod | None, attempt: Attempt, events: Iterable[TimelineEvent]
    ) -> DeschedulingRecord:
        """Return the passes until the end of a cycle."""
        del framework, pod, attempt, events
        return self._taken()

    def marked(self) -> DeschedulingRecord:
        """Return the same: passes are few."""
        return self._taken()

    def final(self, framework: Handle) -> DeschedulingRecord:
        """Return all passes, with the spread of the nodes' requests at the end of the run."""
        del framework
        made = self.descheduler
        return DeschedulingRecord(tuple(made.passes), tuple(made.returns), made.spread())

    def _taken(self) -> DeschedulingRecord:
        made = self.descheduler
        new, self._seen = len(made.passes) - self._seen, len(made.passes)
        return DeschedulingRecord(tuple(made.passes), tuple(made.returns), new=new)
