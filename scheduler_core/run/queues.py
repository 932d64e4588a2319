"""Record the queues of the framework: which pod is in which queue, its sort key, and why it is there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from scheduler_core.record.cycle import QUEUE_SHOWN, QueueEntry, Queues, QueueState, TimedQueue, WaitingEntry
from scheduler_core.schedulers.v1_22.queue import FLUSH, QueuedPod, QueueName
from scheduler_core.schedulers.v1_22.scheduler import Framework

PLACES: tuple[QueueName, ...] = ("active", "backoff", "unschedulable", "gated")


def queue_state(framework: Framework, head: QueuedPod, *, whole: bool) -> QueueState:
    """Return the queues without the head, which is about to be scheduled; the counts are exact.

    At most ``QUEUE_SHOWN`` entries of each queue are listed, and none unless ``whole``.
    """
    queue = framework.queue
    counts: dict[str, int] = {place: queue.count(place) for place in PLACES}
    counts["active"] -= 1
    if not whole:
        return QueueState([], counts["active"], [], counts["unschedulable"])
    listed = _listed(framework, head)
    active, unschedulable = (
        [(pod.key, pod.state.priority, pod.state.order) for pod in listed[place]]
        for place in ("active", "unschedulable")
    )
    entries = tuple(_entry(framework, pod) for place in PLACES for pod in listed[place])
    counts["waiting"] = len(framework.waiting)
    timed = TimedQueue(
        counts, entries, waiting_of(framework), tuple(_flushes(framework)), _entry(framework, head)
    )
    return QueueState(active, counts["active"], unschedulable, counts["unschedulable"], timed)


def queues_of(framework: Framework) -> Queues:
    """Return the current queues, with no pod being scheduled."""
    listed = _listed(framework, None)
    counts: dict[str, int] = {place: framework.queue.count(place) for place in PLACES}
    entries = tuple(_entry(framework, pod) for place in PLACES for pod in listed[place])
    counts["waiting"] = len(framework.waiting)
    return Queues(counts, entries, waiting_of(framework), tuple(_flushes(framework)))


def _listed(framework: Framework, head: QueuedPod | None) -> dict[QueueName, list[QueuedPod]]:
    """Return the first pods of each queue, without the head."""
    return {
        place: [pod for pod in framework.queue.placed(place) if pod is not head][:QUEUE_SHOWN]
        for place in PLACES
    }


def _entry(framework: Framework, pod: QueuedPod) -> QueueEntry:
    """Describe a pod in a queue."""
    key, by = framework.queue_sort.shown_sort_key(pod)
    return QueueEntry(
        pod.key,
        pod.place or "active",
        key,
        by,
        pod.queued,
        pod.timestamp,
        pod.attempts,
        pod.backoff_until if pod.attempts else None,
        pod.moved_by,
        tuple(sorted(pod.refused_by)),
        pod.state.nominated,
        framework.queue.helped_by(pod) if pod.place == "unschedulable" else (),
        framework.queue.retry_at(pod),
    )


def waiting_of(framework: Framework) -> tuple[WaitingEntry, ...]:
    """Return the first pods that wait at Permit."""
    return tuple(islice(_waiting(framework), QUEUE_SHOWN))


def _waiting(framework: Framework) -> Iterator[WaitingEntry]:
    for waiting in framework.waiting:
        yield WaitingEntry(
            waiting.key, waiting.node, waiting.since, waiting.deadline, tuple(sorted(waiting.pending))
        )


def _flushes(framework: Framework) -> Iterator[tuple[str, float]]:
    """Yield each queue's name and the time of its next flush."""
    seen: set[str] = set()
    for timer in framework.clock.timers():
        if timer.name.startswith(FLUSH) and timer.name not in seen:
            seen.add(timer.name)
            yield timer.name.removeprefix(f"{FLUSH} of the ").removesuffix(" queue"), timer.at
