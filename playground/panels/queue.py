"""The queues at the moment the cycle's pod was taken."""

from __future__ import annotations

from typing import Any

from playground.panels.happenings import EVENTS
from scheduler_core.cycle import Cycle, QueueEntry, TimedQueue

KEY = "highest priority first, then earliest created"
TIMED_KEY = "highest priority first, then the earliest time in the queue"
GROUPED_KEY = (
    "highest priority first, then the earliest time of the group (without one: when the pod was first "
    "queued), then the smaller name"
)

GROUPED = 3  # parts of the sort key of the plugin Coscheduling


def queue(cycle: Cycle) -> dict[str, Any]:
    """Return the protocol's ``queue`` part."""
    state = cycle.queue
    timed = state.timed
    if timed is not None:
        key = GROUPED_KEY if len(timed.tried.sort_key) == GROUPED else TIMED_KEY
        return {"key": key, "timed": _timed(timed)}
    return {
        "timed": None,
        "active": [list(entry) for entry in state.active],
        "activeCount": state.active_count,
        "unschedulable": [list(entry) for entry in state.unschedulable],
        "unschedulableCount": state.unschedulable_count,
        "key": KEY,
    }


def _timed(timed: TimedQueue) -> dict[str, Any]:
    return {
        "tried": _entry(timed.tried),
        "counts": timed.counts,
        "entries": [_entry(entry) for entry in timed.entries],
        "waiting": [[entry.pod, entry.node, entry.since, entry.deadline] for entry in timed.waiting],
        "flushes": [list(flush) for flush in timed.flushes],
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
    ]
