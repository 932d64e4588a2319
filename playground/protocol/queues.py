"""The types of what is sent: queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from playground.protocol.declarations import Named, row
from playground.protocol.sentences import Sentence

QueueName = Annotated[Literal["active", "backoff", "unschedulable", "gated"], Named("QueueName")]
_QueueEntrySort = Annotated[Sequence[Any], row(priority=float, seconds=float, name=NotRequired[str])]
QueueEntry = Annotated[
    Sequence[Any],
    row(
        pod=str,
        queue=QueueName,
        sort=_QueueEntrySort,
        whose=Literal["pod", "group", "failure"],
        since=float,
        attempts=int,
        backoff=float | None,
        why=str,
        event=str,
        refused=Sequence[str],
        nominated=str,
        helped=Sequence[str],
        retry=float | None,
    ),
    Named("QueueEntry"),
]
"""A pod in a queue of a run in virtual time."""
_TimedQueueWaiting = Annotated[Sequence[Any], row(pod=str, node=str, since=float, deadline=float | None)]
_TimedQueueFlushe = Annotated[Sequence[Any], row(queue=str, at=float)]


class TimedQueueWire(TypedDict):
    tried: QueueEntry | None
    counts: Mapping[Literal["waiting"] | QueueName, int]
    entries: Sequence[QueueEntry]
    waiting: Sequence[_TimedQueueWaiting]
    flushes: Sequence[_TimedQueueFlushe]
    events: Mapping[str, str]


_QueueActive = Annotated[Sequence[Any], row(pod=str, priority=int, position=int)]


class QueuePartWire(TypedDict):
    key: NotRequired[str]
    timed: NotRequired[TimedQueueWire | None]
    # In place of the rest, where the queues are not known.
    why: NotRequired[Sentence]
    time: NotRequired[float]
    active: NotRequired[Sequence[_QueueActive]]
    activeCount: NotRequired[int]
    unschedulable: NotRequired[Sequence[_QueueActive]]
    unschedulableCount: NotRequired[int]


class SleepingPodWakeWire(TypedDict):
    plugin: str
    events: Sequence[str]
    text: str


class SleepingPodWire(TypedDict):
    pod: str
    queue: Literal["unschedulable", "gated"]
    attempts: int
    gatedBy: str | None
    nominated: str | None
    retryAt: float | None
    wakes: Sequence[SleepingPodWakeWire]


_HintMoveHint = Annotated[Sequence[Any], row(plugin=str, answer=str)]
_HintMove = Annotated[Sequence[Any], row(event=str, pod=str, hints=Sequence[_HintMoveHint], to=str | None)]


class HintsPartWire(TypedDict):
    """What would wake the sleeping pods, under v1.37."""

    release: str
    count: int
    pods: Sequence[SleepingPodWire]
    moves: Sequence[_HintMove]
    moved: int
