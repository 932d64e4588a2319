"""The times at which the queue is flushed: the backoff queue every second, unschedulable every 30 seconds.

Flushes are counted from virtual time 0, as the scheduler's tickers run from its start.
"""

from __future__ import annotations

from math import ceil, floor

BACKOFF_LOOK = 1.0  # seconds between flushes of the backoff queue
UNSCHEDULABLE_LOOK = 30.0


def backoff_look(until: float) -> float:
    """Return the first flush of the backoff queue at or after the end of a backoff, in virtual seconds."""
    return ceil(round(until / BACKOFF_LOOK, 6)) * BACKOFF_LOOK


def unschedulable_look(since: float, stay: float) -> float:
    """Return the flush that moves a pod which has been unschedulable for longer than ``stay`` seconds."""
    return (floor(round((since + stay) / UNSCHEDULABLE_LOOK, 6)) + 1) * UNSCHEDULABLE_LOOK
