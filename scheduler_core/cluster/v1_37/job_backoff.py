"""How long a Job waits after failed pods (``job/backoff_utils.go``)."""

from __future__ import annotations

from msgspec import Struct

BACKOFF_SECONDS, MOST_BACKOFF_SECONDS = 10.0, 600.0


class BackoffRecord(Struct, frozen=True):
    """How many pods have failed since the last success, and when the last one did."""

    failures: int = 0
    last: float | None = None

    def left(self, now: float) -> float:
        """Return how many seconds no pod is created."""
        return backoff_left(self.failures, self.last, now)


def backoff_left(failures: int, last: float | None, now: float) -> float:
    """Return what is left of the backoff after so many failures (getRemainingTimeForFailuresCount)."""
    if not failures or last is None:
        return 0.0
    seconds = min(BACKOFF_SECONDS * 2.0 ** min(failures - 1, 20), MOST_BACKOFF_SECONDS)
    return max(0.0, seconds - (now - last))
