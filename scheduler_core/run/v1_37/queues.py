"""The scheduling queue of kube-scheduler v1.37 in the form of every release, and what would wake its pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from typing import Any

from scheduler_core.record.cycle import QUEUE_SHOWN, QueueEntry, Queues, QueueState, TimedQueue
from scheduler_core.run.v1_37.record import Hint
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.entities import Entity, QueuedPodInfo
from scheduler_core.schedulers.v1_37.podgroups import GATE
from scheduler_core.schedulers.v1_37.queue import LEFTOVER_AFTER, LEFTOVER_EVERY, SchedulingQueue
from scheduler_core.schedulers.v1_37.queue_gates import GANG
from scheduler_core.schedulers.v1_37.registrations import events_of, wakes
from scheduler_core.schedulers.v1_37.run import SchedulerRun

KEPT = 2_000
CREATED, FAILED = "created", "failed"

Moved = Mapping[str, str]
"""The event that moved each waiting pod last, by pod."""


Stamp = tuple[object, ...]


class EntryCache:
    """The recorded entries of waiting pods, kept while unchanged: most pods wait for many cycles."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[Stamp, QueueEntry]] = {}
        self._hints: dict[str, tuple[Stamp, Hint]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy as an empty one."""
        return EntryCache, ()

    def entry(
        self,
        run: SchedulerRun,
        waiting: QueuedPodInfo,
        place: str,
        moved: Moved,
        nominated: Mapping[str, str],
    ) -> QueueEntry:
        """Return a pod as it waits in a queue, which a plugin may sort."""
        key, sort = waiting.key, run.queue.sort
        shown = _shown_key(waiting) if sort is None else sort.shown(waiting)
        stamp = *_stamp(waiting, place, nominated), moved.get(key), shown
        known = self._entries.get(key)
        if known is None or known[0] != stamp:
            if len(self._entries) >= KEPT:
                self._entries.clear()
            known = self._entries[key] = stamp, _entry(run, waiting, place, moved, nominated, shown)
        return known[1]

    def hint(
        self, run: SchedulerRun, waiting: QueuedPodInfo, queue: str, nominated: Mapping[str, str]
    ) -> Hint:
        """Return what would wake a pod that sleeps."""
        if not waiting.rejected_by and not waiting.pending and not waiting.gated_by:
            return _hint(run, waiting, queue, nominated)  # its group may appear at any time
        key, stamp = waiting.key, _stamp(waiting, queue, nominated)
        known = self._hints.get(key)
        if known is None or known[0] != stamp:
            if len(self._hints) >= KEPT:
                self._hints.clear()
            known = self._hints[key] = stamp, _hint(run, waiting, queue, nominated)
        return known[1]


def _stamp(waiting: QueuedPodInfo, place: str, nominated: Mapping[str, str]) -> Stamp:
    """Return what a waiting pod's description depends on; between two attempts its plugins only add up."""
    return (
        waiting.pod,
        place,
        waiting.since,
        waiting.attempts,
        waiting.failures,
        waiting.errors,
        len(waiting.rejected_by),
        len(waiting.pending),
        waiting.gated_by,
        nominated.get(waiting.key),
    )


def queue_state(
    run: SchedulerRun, head: Entity, moved: Moved, cache: EntryCache, *, whole: bool
) -> QueueState:
    """Return the queues without the head, which is about to be scheduled; the counts are exact.

    At most ``QUEUE_SHOWN`` entries of each queue are listed, and none unless ``whole``.
    """
    if not whole:
        own = run.queue.active.get(head.key) is head
        return QueueState([], len(run.queue.active) - own, [], len(run.queue.unschedulable))
    places = _places(run, head.members)
    shown = _shown(places)
    found = _queues(run, places, shown, moved, cache)
    counts = found.counts
    tried = cache.entry(run, head.members[0], "active", moved, run.nominations.nodes())
    active, unschedulable = (
        [(w.key, w.priority, w.arrival) for w in shown[place]] for place in ("active", "unschedulable")
    )
    timed = TimedQueue(counts, found.entries, (), found.flushes, tried)
    return QueueState(active, counts["active"], unschedulable, counts["unschedulable"], timed)


def queues_of(run: SchedulerRun, moved: Moved, cache: EntryCache) -> Queues:
    """Return the queues while no pod is being scheduled."""
    places = _places(run, ())
    return _queues(run, places, _shown(places), moved, cache)


Place = tuple[Iterable[QueuedPodInfo], int]
"""The pods of a queue in order, at least the first ``QUEUE_SHOWN``, and how many there are."""


Shown = Mapping[str, Sequence[QueuedPodInfo]]
"""The first pods of each queue."""


def _shown(places: Mapping[str, Place]) -> Shown:
    return {place: list(islice(members, QUEUE_SHOWN)) for place, (members, _) in places.items()}


def _queues(
    run: SchedulerRun, places: Mapping[str, Place], shown: Shown, moved: Moved, cache: EntryCache
) -> Queues:
    """Describe the first pods of each queue; the counts are of all."""
    nominated = run.nominations.nodes()
    entries = tuple(
        cache.entry(run, waiting, place, moved, nominated)
        for place, members in shown.items()
        for waiting in members
    )
    counts = {**{place: number for place, (_, number) in places.items()}, "waiting": 0}
    return Queues(counts, entries, (), tuple(_flushes(entries)))


def _places(run: SchedulerRun, without: Sequence[QueuedPodInfo]) -> dict[str, Place]:
    """Return the queues of all waiting pods but those of the head.

    Most pods wait in the active queue. Without PodGroups it has their order already, and they are neither
    all looked at nor sorted.
    """
    queue, found = run.queue, _sleeping(run, without)
    if run.configuration.gate(GATE):
        return {"active": _first(queue, _members(queue.active, without)), **found}
    own = sum(queue.active.get(waiting.key) is waiting for waiting in without)
    active = (waiting for entity in queue.active.ranked() for waiting in entity.members)
    return {
        "active": ((waiting for waiting in active if waiting not in without), len(queue.active) - own),
        **found,
    }


def _sleeping(run: SchedulerRun, without: Sequence[QueuedPodInfo]) -> dict[str, Place]:
    """Return the queues of the pods that are not active."""
    queue = run.queue
    backing_off = _members((*queue.backoff, *queue.error_backoff), without)
    kept = queue.unschedulable.values()
    rejected = _members((entity for entity in kept if not entity.gated_by), without)
    gated = _members((entity for entity in kept if entity.gated_by), without)
    gated += [member for members in run.watch.incomplete.values() for member in members]
    return {
        "backoff": _first(queue, backing_off),
        "unschedulable": _first(queue, rejected),
        "gated": _first(queue, gated),
    }


def _members(entities: Iterable[Entity], without: Sequence[QueuedPodInfo]) -> list[QueuedPodInfo]:
    return [member for entity in entities for member in entity.members if member not in without]


def _first(queue: SchedulingQueue, members: list[QueuedPodInfo]) -> Place:
    return nsmallest(QUEUE_SHOWN, members, key=queue.rank), len(members)


def waiting_in(run: SchedulerRun, key: str) -> tuple[QueuedPodInfo, str] | None:
    """Return a pod that waits with the name of its queue, ``None`` if it does not wait."""
    waiting = run.watch.find(key) if key in run.cluster.pods else None
    if waiting is None:
        return None
    queue = run.queue
    named = (("active", queue.active), ("backoff", queue.backoff), ("backoff", queue.error_backoff))
    place = next((name for name, ranked in named if ranked.get(key) is not None), "")
    return waiting, place or ("gated" if waiting.gated_by else "unschedulable")


def queued_pod(state: PodState, waiting: QueuedPodInfo, place: str, moved: Moved) -> QueuedPod:
    """Return a waiting pod in the form that the framework's queue has."""
    since, expires = waiting.since / SECOND, waiting.backoff_expires
    backoff = 0.0 if expires is None else expires / SECOND - since
    return QueuedPod(
        state,
        since,
        since,
        waiting.attempts,
        frozenset(waiting.rejectors),
        place,  # type: ignore[arg-type]
        _moved_by(waiting, moved),
        (backoff, backoff),
    )


def retried_at(pod: QueuedPod) -> float | None:
    """Return when its queue tries a pod again whatever happens, in virtual seconds."""
    if pod.place == "backoff":
        return pod.backoff_until + 1.0
    return _leftover(round(pod.timestamp * SECOND)) if pod.place == "unschedulable" else None


def _shown_key(waiting: QueuedPodInfo) -> tuple[tuple[float | str, ...], str]:
    return (float(waiting.priority), waiting.since / SECOND), "pod"


def _moved_by(waiting: QueuedPodInfo, moved: Moved) -> str:
    return moved.get(waiting.key) or (FAILED if waiting.failures or waiting.errors else CREATED)


def _entry(
    run: SchedulerRun,
    waiting: QueuedPodInfo,
    place: str,
    moved: Moved,
    nominated: Mapping[str, str],
    shown: tuple[tuple[float | str, ...], str],
) -> QueueEntry:
    expires = waiting.backoff_expires
    plugins = tuple(sorted(waiting.rejectors))
    rejected = place in ("unschedulable", "gated")
    return QueueEntry(
        waiting.key,
        place,  # type: ignore[arg-type]
        *shown,
        waiting.since / SECOND,
        waiting.since / SECOND,
        waiting.attempts,
        None if expires is None else expires / SECOND,
        _moved_by(waiting, moved),
        (*plugins, *((waiting.gated_by,) if waiting.gated_by and waiting.gated_by not in plugins else ())),
        nominated.get(waiting.key, ""),
        tuple(dict.fromkeys(e for one in plugins for e in events_of(run.configuration, one)))
        if rejected
        else (),
        _retry_at(waiting) if place == "unschedulable" else None,
    )


def _retry_at(waiting: QueuedPodInfo) -> float:
    """Return when the flush of the unschedulable pods moves it, in seconds."""
    return _leftover(waiting.since)


def _leftover(since: int) -> float:
    return ((since + LEFTOVER_AFTER) // LEFTOVER_EVERY + 1) * LEFTOVER_EVERY / SECOND


def _flushes(entries: tuple[QueueEntry, ...]) -> Iterator[tuple[str, float]]:
    backoff = [
        one.backoff_until for one in entries if one.place == "backoff" and one.backoff_until is not None
    ]
    leftover = [one.retry_at for one in entries if one.retry_at is not None]
    if backoff:
        yield "backoff", min(backoff)
    if leftover:
        yield "unschedulable", min(leftover)


def hints_of(run: SchedulerRun, cache: EntryCache) -> tuple[tuple[Hint, ...], int]:
    """Return the first waiting pods that sleep, with what would wake each, and how many there are."""
    sleeping = _sleeping(run, ())
    rows = [(waiting, place) for place in ("unschedulable", "gated") for waiting in sleeping[place][0]]
    rows.sort(key=lambda row: row[0].order)
    nominated = run.nominations.nodes()
    hints = (cache.hint(run, waiting, place, nominated) for waiting, place in rows[:QUEUE_SHOWN])
    return tuple(hints), sleeping["unschedulable"][1] + sleeping["gated"][1]


def _hint(run: SchedulerRun, waiting: QueuedPodInfo, queue: str, nominated: Mapping[str, str]) -> Hint:
    plugins = sorted(waiting.rejectors | ({waiting.gated_by} if waiting.gated_by else set()))
    missing = None if plugins else _missing_group(run, waiting)
    of = run.configuration
    events = tuple((one, events_of(of, one), wakes(of, one, waiting.pod)) for one in plugins)
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
        nominated.get(waiting.key, ""),
    )


def _missing_group(run: SchedulerRun, waiting: QueuedPodInfo) -> str | None:
    """Return the PodGroup that a pod waits for because it does not exist."""
    listed = run.watch.incomplete.items()
    return next((group for group, members in listed if waiting in members), None)
