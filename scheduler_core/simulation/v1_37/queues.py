"""The scheduling queue of kube-scheduler v1.37 in the form of every release, and what would wake its pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler_core.scheduling.cycle import QueueEntry, QueueState, TimedQueue
from scheduler_core.scheduling.queue import QUEUE_SHOWN
from scheduler_core.simulation.v1_37.record import Hint
from scheduler_core.v1_37.clock import SECOND
from scheduler_core.v1_37.entities import Entity, QueuedPod
from scheduler_core.v1_37.gating import GANG
from scheduler_core.v1_37.hints.registry import events_of, wakes
from scheduler_core.v1_37.queue import LEFTOVER_AFTER, LEFTOVER_EVERY
from scheduler_core.v1_37.run import Run

PLACES = ("active", "backoff", "unschedulable", "gated")
CREATED, FAILED = "created", "failed"

Moved = Mapping[str, str]
"""The event that moved each waiting pod last, by pod."""


def queue_state(run: Run, head: Entity, moved: Moved, *, whole: bool) -> QueueState:
    """Return the queues without the head, which is about to be scheduled; the counts are exact.

    At most ``QUEUE_SHOWN`` entries of each queue are listed, and none unless ``whole``.
    """
    if not whole:
        own = run.queue.active.get(head.key) is head
        return QueueState([], len(run.queue.active) - own, [], len(run.queue.unschedulable))
    rows = [(waiting, queue) for waiting, queue in waiting_pods(run) if waiting not in head.members]
    counts = _counts(queue for _, queue in rows)
    entries = tuple(_entries(run, rows, moved))
    tried = _entry(run, head.members[0], "active", moved)
    active, unschedulable = (
        [(w.key, w.priority, w.arrival) for w in _first(rows, place)] for place in ("active", "unschedulable")
    )
    timed = TimedQueue(counts, entries, (), tuple(_flushes(entries)), tried)
    return QueueState(active, counts["active"], unschedulable, counts["unschedulable"], timed)


def waiting_pods(run: Run) -> Iterator[tuple[QueuedPod, str]]:
    """Yield every waiting pod with its queue; one whose PodGroup does not exist is gated."""
    yield from run.queue.waiting()
    for members in run.watch.incomplete.values():
        yield from ((member, "gated") for member in members)


def _counts(queues: Iterator[str]) -> dict[str, int]:
    counts = dict.fromkeys((*PLACES, "waiting"), 0)
    for queue in queues:
        counts[_place(queue)] += 1
    return counts


def _place(queue: str) -> str:
    return "backoff" if queue == "errorBackoff" else queue


def _entries(run: Run, rows: list[tuple[QueuedPod, str]], moved: Moved) -> Iterator[QueueEntry]:
    for place in PLACES:
        yield from (_entry(run, waiting, place, moved) for waiting in _first(rows, place))


def _first(rows: list[tuple[QueuedPod, str]], place: str) -> list[QueuedPod]:
    found = (waiting for waiting, queue in rows if _place(queue) == place)
    return sorted(found, key=lambda waiting: waiting.order)[:QUEUE_SHOWN]


def _entry(run: Run, waiting: QueuedPod, place: str, moved: Moved) -> QueueEntry:
    expires = waiting.backoff_expires
    plugins = tuple(sorted(waiting.rejectors))
    rejected = place in ("unschedulable", "gated")
    told = moved.get(waiting.key) or (FAILED if waiting.failures or waiting.errors else CREATED)
    return QueueEntry(
        waiting.key,
        place,  # type: ignore[arg-type]
        (float(waiting.priority), waiting.since / SECOND),
        "pod",
        waiting.since / SECOND,
        waiting.since / SECOND,
        waiting.attempts,
        None if expires is None else expires / SECOND,
        told,
        (*plugins, *((waiting.gated_by,) if waiting.gated_by and waiting.gated_by not in plugins else ())),
        run.nominations.nodes().get(waiting.key, ""),
        tuple(dict.fromkeys(e for plugin in plugins for e in events_of(plugin))) if rejected else (),
        _retry_at(waiting) if place == "unschedulable" else None,
    )


def _retry_at(waiting: QueuedPod) -> float:
    """Return when the flush of the unschedulable pods moves it, in seconds."""
    return ((waiting.since + LEFTOVER_AFTER) // LEFTOVER_EVERY + 1) * LEFTOVER_EVERY / SECOND


def _flushes(entries: tuple[QueueEntry, ...]) -> Iterator[tuple[str, float]]:
    backoff = [
        one.backoff_until for one in entries if one.place == "backoff" and one.backoff_until is not None
    ]
    leftover = [one.retry_at for one in entries if one.retry_at is not None]
    if backoff:
        yield "backoff", min(backoff)
    if leftover:
        yield "unschedulable", min(leftover)


def hints_of(run: Run) -> tuple[tuple[Hint, ...], int]:
    """Return the first waiting pods that sleep, with what would wake each, and how many there are."""
    rows = [(w, queue) for w, queue in waiting_pods(run) if queue in ("unschedulable", "gated")]
    rows.sort(key=lambda row: row[0].order)
    return tuple(_hint(run, waiting, queue) for waiting, queue in rows[:QUEUE_SHOWN]), len(rows)


def _hint(run: Run, waiting: QueuedPod, queue: str) -> Hint:
    plugins = sorted(waiting.rejectors | ({waiting.gated_by} if waiting.gated_by else set()))
    missing = None if plugins else _missing_group(run, waiting)
    events = tuple((plugin, events_of(plugin), wakes(plugin, waiting.pod)) for plugin in plugins)
    if missing is not None:
        events = ((GANG, ("PodGroupAdd",), f"its PodGroup {missing} is created"),)
    return Hint(
        waiting.key,
        queue,
        waiting.attempts,
        waiting.gated_by,
        tuple(sorted(waiting.pending)),
        events,
        None if queue == "gated" else _retry_at(waiting),
        run.nominations.nodes().get(waiting.key, ""),
    )


def _missing_group(run: Run, waiting: QueuedPod) -> str | None:
    """Return the PodGroup that a pod waits for because it does not exist."""
    listed = run.watch.incomplete.items()
    return next((group for group, members in listed if waiting in members), None)
