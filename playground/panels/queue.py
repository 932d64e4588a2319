"""The queues at the moment the cycle's pod was popped."""

from __future__ import annotations

from typing import Any

from playground.panels.happenings import EVENTS
from scheduler_core.record.cycle import Cycle, QueueEntry, Queues, TimedQueue

KEY = "highest priority first, then earliest created"
TIMED_KEY = "highest priority first, then the earliest time in the queue"
GROUPED_KEY = (
    "highest priority first, then the earliest time of the group (without one: when the pod was first "
    "queued), then the smaller name"
)

BATCH_KEY = "in the order in which they became pending"

UNTRIED = "The queues are recorded when a pod is taken from them, and at this moment none is taken yet."

GROUPED = 3  # parts of the sort key of the plugin Coscheduling


def queue(cycle: Cycle) -> dict[str, Any]:
    """Return the protocol's ``queue`` part."""
    if cycle.result == "undecided" and not cycle.phases:
        return {"why": UNTRIED}
    state = cycle.queue
    timed = state.timed
    if timed is not None:
        return {**resting(timed), "time": cycle.time}
    return {
        "timed": None,
        "active": [list(entry) for entry in state.active],
        "activeCount": state.active_count,
        "unschedulable": [list(entry) for entry in state.unschedulable],
        "unschedulableCount": state.unschedulable_count,
        "key": BATCH_KEY if cycle.scheduler else KEY,
    }


def resting(timed: Queues) -> dict[str, Any]:
    """Return the part in virtual time; at the end of a run ``tried`` is null."""
    tried = timed.tried if isinstance(timed, TimedQueue) else None
    known = (*((tried,) if tried is not None else ()), *timed.entries)
    grouped = any(len(entry.sort_key) == GROUPED for entry in known)
    return {
        "key": GROUPED_KEY if grouped else TIMED_KEY,
        "timed": {
            "tried": tried and _entry(tried),
            "counts": timed.counts,
            "entries": [_entry(entry) for entry in timed.entries],
            "waiting": [[entry.pod, entry.node, entry.since, entry.deadline] for entry in timed.waiting],
            "flushes": [list(flush) for flush in timed.flushes],
            "events": {name: EVENTS.get(name, name) for entry in known for name in entry.helped_by},
        },
    }


def _entry(entry: QueueEntry) -> list[Any]:
    return [
        entry.pod,
        entry.place,
        list(entry.sort_key),
        entry.sort_by,
        entry.since,
        entry.attempts,
        entry.backoff_until,
        EVENTS.get(entry.moved_by, entry.moved_by),
        entry.moved_by if entry.moved_by[:1].isupper() else "",
        list(entry.refused_by),
        entry.nominated,
        list(entry.helped_by),
        entry.retry_at,
    ]
