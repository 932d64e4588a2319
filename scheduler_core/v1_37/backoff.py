"""How long an entity that has failed waits (backoffQueue of pkg/scheduler/backend/queue)."""

from __future__ import annotations

from scheduler_core.v1_37.clock import SECOND, whole_second

INITIAL = 1 * SECOND
MAXIMUM = 10 * SECOND


def backoff_duration(failures: int, *, maximum: int = MAXIMUM) -> int:
    """Return the milliseconds after the ``failures``-th failure: doubled each time, up to the maximum."""
    if failures <= 0:
        return 0
    if failures > 1 and INITIAL << min(failures - 1, 62) >= maximum:
        return maximum
    return min(INITIAL << (failures - 1), maximum)


def expiry(failed_at: int, failures: int, *, maximum: int = MAXIMUM) -> int | None:
    """Return the second, in milliseconds, at which the backoff expires; None if nothing has failed yet."""
    if failures <= 0:
        return None
    return whole_second(failed_at + backoff_duration(failures, maximum=maximum))


def is_backing_off(expires: int | None, now: int) -> bool:
    """Return whether the backoff still holds; it does in the second of its expiry."""
    return expires is not None and expires >= whole_second(now)
