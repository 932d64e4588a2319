"""What the record of a step has of Kueue: the cycles until then, and what they decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from scheduler_core.cluster.kueue.actor import Kueue
from scheduler_core.cluster.kueue.nomination import ASSUMED, CycleRecord, Inadmissible, Nomination
from scheduler_core.cluster.kueue.overview import Overview, overview_of
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.record.plugin_record import TimelineMark
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.v1_22.interface import Handle, Observer
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.record import Attempt

ADMISSION, PREEMPTION, REFUSAL = "admission", "preemption by Kueue", "no admission"
"""The kinds of timeline marks for a head of a cycle; a mark is about its Workload."""

FIELD = "queueing"
RECENT = 10  # cycles that a record has of those before
LISTED = 1_000  # heads of a cycle in a trace line


class HeadLine(Struct, frozen=True, rename="camel"):
    """A Workload that a cycle tried: its flavors by pod set and resource, and what became of it."""

    workload: str
    cluster_queue: str
    status: str
    mode: str
    message: str
    flavors: dict[str, dict[str, str]]
    borrowing: int
    targets: list[str]


class QueueingLine(Struct, frozen=True, rename="camel"):
    """A cycle of Kueue, its heads in the order in which they were decided."""

    time: float
    heads: list[HeadLine]


FIELDS: Mapping[str, Any] = {
    FIELD: Annotated[
        list[QueueingLine],
        Meta(
            description="Only if Kueue holds Jobs or pods: its cycles since the previous attempt, in order."
        ),
    ]
}
"""The field that it adds to each line of a trace, with its type."""


class QueueingRecord(Struct, frozen=True):
    """The cycles since the previous step, in order; ``epoch`` is virtual time 0 in seconds since 1970.

    ``recent`` are the last of the ``count`` cycles so far, ``overview`` is the state after them; a step that
    is not recorded has none.
    """

    cycles: tuple[CycleRecord, ...] = ()
    epoch: float = 0.0
    recent: tuple[CycleRecord, ...] = ()
    count: int = 0
    overview: Overview | None = None

    @property
    def marks(self) -> tuple[TimelineMark, ...]:
        """A mark for each head of a cycle."""
        return tuple(
            TimelineMark(_kind(one), one.entry.key, one.message or one.entry.cluster_queue)
            for cycle in self.cycles
            for one in cycle.decisions
        )

    def up_to(self, phases: Sequence[str]) -> QueueingRecord:
        """Return the record itself: Kueue decides between the attempts."""
        del phases
        return self

    def fields(self) -> dict[str, Any]:
        """Return the cycles as fields of a trace line."""
        return {FIELD: [_line(cycle, self.epoch) for cycle in self.cycles]}


def _kind(one: Nomination | Inadmissible) -> str:
    if isinstance(one, Inadmissible):
        return REFUSAL
    return ADMISSION if one.status == ASSUMED else PREEMPTION if one.is_preempting else REFUSAL


def _line(cycle: CycleRecord, epoch: float) -> QueueingLine:
    heads = [_head(one) for one in cycle.decisions]
    return QueueingLine(round(cycle.time - epoch, 3), heads[:LISTED])


def _head(one: Nomination | Inadmissible) -> HeadLine:
    entry = one.entry
    if isinstance(one, Inadmissible):
        return HeadLine(entry.key, entry.cluster_queue, "notNominated", "", one.message, {}, 0, [])
    flavors = {
        found.name: {resource: choice.flavor for resource, choice in found.choices.items()}
        for found in one.assignment.pod_sets
    }
    return HeadLine(
        workload=entry.key,
        cluster_queue=entry.cluster_queue,
        status=one.status,
        mode=one.assignment.mode,
        message=one.message,
        flavors=flavors,
        borrowing=one.assignment.borrowing,
        targets=[target.reserving.key for target in one.targets],
    )


def queueing_of(record: Cycle | FinalState) -> QueueingRecord | None:
    """Return Kueue's part of a record, ``None`` if it does not run."""
    return next((one for one in record.plugins if isinstance(one, QueueingRecord)), None)


class QueueingObserver(Observer):
    """Records the cycles of a run's Kueue."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self._seen = 0  # cycles that a record has had

    def record(
        self, framework: Handle, pod: QueuedPod | None, attempt: Attempt, events: Iterable[TimelineEvent]
    ) -> QueueingRecord:
        """Return the cycles until the end of an attempt, and the state after them."""
        del framework, pod, attempt, events
        return self._with_state()

    def marked(self) -> QueueingRecord:
        """Return the same: cycles are few."""
        kueue = self.kueue
        new, self._seen = kueue.count - self._seen, kueue.count
        return QueueingRecord(tuple(kueue.cycles[max(0, len(kueue.cycles) - new) :]), kueue.loop.epoch)

    def final(self, framework: Handle) -> QueueingRecord:
        """Return the cycles after the last attempt, and the state at the end."""
        del framework
        return self._with_state()

    def _with_state(self) -> QueueingRecord:
        kueue = self.kueue
        recent = tuple(kueue.cycles[-RECENT:])
        overview = overview_of(kueue.control)
        return replace(self.marked(), recent=recent, count=kueue.count, overview=overview)
