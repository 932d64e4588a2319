"""Fair queueing: jobs wait per visitor, and visitors take turns regardless of their numbers of jobs."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")

RETRY_SECONDS = 5  # after which a visitor with too many jobs may try again
BUSY = "Too many of your requests are in progress; try again in a moment."
FULL = "The server is busy; try again in a moment."


class BusyError(RuntimeError):
    """No further job is accepted now: the limit of waiting jobs, per visitor or in total, is reached.

    ``code`` and ``status`` are those of the answer over the socket and over HTTP.
    """

    code = "server.busy"
    status = 503

    def __init__(self, text: str = BUSY, retry_after: int = RETRY_SECONDS) -> None:
        self.retry_after = retry_after
        super().__init__(text)


class Bounds(Struct, frozen=True):
    """The limits of one visitor's running jobs, of one visitor's waiting jobs, and of all waiting jobs."""

    running: int
    queued: int
    queued_by_all: int


class Shares(Generic[T]):
    """Waiting jobs, by visitors in turn, each visitor's oldest first. The caller must hold the lock."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()  # the next visitor first
        self._running: Counter[str] = Counter()
        self._queued = 0

    def __len__(self) -> int:
        return self._queued

    def put(self, visitor: str, job: T, *, always: bool = False) -> None:
        """Queue a job. Raises BusyError beyond the limits of waiting jobs, unless ``always`` is set."""
        if not always and len(self._waiting.get(visitor, ())) >= self._bounds.queued:
            raise BusyError
        if not always and self._queued >= self._bounds.queued_by_all:
            raise BusyError(FULL)
        self._waiting.setdefault(visitor, deque()).append(job)
        self._queued += 1

    def take(self, may: Callable[[str, T], bool] = lambda _visitor, _job: True) -> tuple[str, T] | None:
        """Remove and return the next visitor and their oldest job that ``may`` run; it counts as running."""
        for visitor, jobs in self._waiting.items():
            if self._running[visitor] >= self._bounds.running:
                continue
            job = next((job for job in jobs if may(visitor, job)), None)
            if job is None:
                continue
            self._remove(visitor, job)
            self._running[visitor] += 1
            if visitor in self._waiting:
                self._waiting.move_to_end(visitor)
            return visitor, job
        return None

    def done(self, visitor: str) -> None:
        """Stop counting a job returned by :meth:`take` as running."""
        self._running[visitor] -= 1
        if not self._running[visitor]:
            del self._running[visitor]

    def discard(self, visitor: str, job: T) -> bool:
        """Remove a waiting job from the queue; return whether it was waiting."""
        if job not in self._waiting.get(visitor, ()):
            return False
        self._remove(visitor, job)
        return True

    def drain(self) -> list[T]:
        """Remove and return all waiting jobs."""
        jobs = [job for waiting in self._waiting.values() for job in waiting]
        self._waiting.clear()
        self._queued = 0
        return jobs

    def _remove(self, visitor: str, job: T) -> None:
        self._waiting[visitor].remove(job)
        self._queued -= 1
        if not self._waiting[visitor]:
            del self._waiting[visitor]
