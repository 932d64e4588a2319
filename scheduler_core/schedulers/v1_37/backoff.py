"""How long an entity that has failed waits (backoffQueue of pkg/scheduler/backend/queue)."""

from __future__ import annotations

import math

from msgspec import Struct

from scheduler_core.schedulers.v1_37.clock import SECOND, whole_second


class Backoff(Struct, frozen=True):
    """The configured times, in milliseconds (podInitialBackoffSeconds, podMaxBackoffSeconds)."""

    initial: int = 1 * SECOND
    maximum: int = 10 * SECOND

    def duration(self, failures: int, size: int = 1) -> int:
        """Return the milliseconds after the ``failures``-th failure: doubled each time, up to the maximum.

        ``size``: number of pods in the entity; the maximum grows with its square root.
        """
        if failures <= 0:
            return 0
        maximum = self.maximum if size <= 1 else int(self.maximum * math.sqrt(size))
        return min(self.initial << min(failures - 1, 62), maximum)

    def expiry(self, failed_at: int, failures: int, size: int = 1) -> int | None:
        """Return the second, in milliseconds, at which it expires; None if nothing has failed yet."""
        if failures <= 0:
            return None
        return whole_second(failed_at + self.duration(failures, size))


DEFAULT = Backoff()


def is_backing_off(expires: int | None, now: int) -> bool:
    """Return whether the backoff still holds; it does in the second of its expiry."""
    return expires is not None and expires >= whole_second(now)
