"""What the record of a step has of the descheduler: the passes until then, and the ping-pong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.descheduler.actor import Descheduler, Pass, Return
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.record.plugin_record import TimelineMark
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.v1_22.interface import Handle, Observer
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.record import Attempt


class DeschedulingRecord(Struct, frozen=True):
    """The passes until the end of a step, in order, and the pods that came back and were evicted again.

    ``spread`` is by how many percent points the nodes' requests differ at the end of a run, by resource;
    ``None`` before the end.
    """

    passes: tuple[Pass, ...] = ()
    returns: tuple[Return, ...] = ()
    spread: Mapping[str, float] | None = None

    @property
    def marks(self) -> tuple[TimelineMark, ...]:
        """No marks: the evictions are events."""
        return ()

    def up_to(self, phases: Sequence[str]) -> DeschedulingRecord:
        """Return the record itself: passes run between the attempts."""
        del phases
        return self

    def fields(self) -> dict[str, Any]:
        """Return no fields: a trace line has the events of evictions."""
        return {}


def descheduling_of(record: Cycle | FinalState) -> DeschedulingRecord | None:
    """Return the descheduler's part of a record, ``None`` if no descheduler runs."""
    return next((one for one in record.plugins if isinstance(one, DeschedulingRecord)), None)


class DeschedulerObserver(Observer):
    """Records the passes of a run's descheduler."""

    def __init__(self, descheduler: Descheduler) -> None:
        self.descheduler = descheduler

    def record(
        self, framework: Handle, pod: QueuedPod | None, attempt: Attempt, events: Iterable[TimelineEvent]
    ) -> DeschedulingRecord:
        """Return the passes until the end of a cycle."""
        del framework, pod, attempt, events
        return DeschedulingRecord(tuple(self.descheduler.passes), tuple(self.descheduler.returns))

    def marked(self) -> DeschedulingRecord:
        """Return an empty record."""
        return DeschedulingRecord()

    def final(self, framework: Handle) -> DeschedulingRecord:
        """Return all passes, with the spread of the nodes' requests at the end of the run."""
        del framework
        made = self.descheduler
        return DeschedulingRecord(tuple(made.passes), tuple(made.returns), made.spread())
