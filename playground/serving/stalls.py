"""Detection of a worker whose processes start no tasks although one of them is free.

Without an event loop, as with the broker of one machine, Celery's idle processes read one queue and hold its
lock while they wait. If one of them is killed, the lock is never released, and the process that replaces it
waits forever.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

from celery.worker import state

STALLED_SECONDS = 10.0


class StallWatch:
    """Detects from successive polls of its tasks that a worker with ``processes`` processes starts none."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._since: dict[str, float] = {}  # when a task was first seen waiting while a process was free

    def look(self, taken: Iterable[str], started: Collection[str], now: float) -> bool:
        """Return whether one of the tasks ``taken`` has waited too long while a process was free."""
        free = len(started) < self._processes
        waiting = {task for task in taken if task not in started} if free else set()
        self._since = {task: self._since.get(task, now) for task in waiting}
        return any(now - since > STALLED_SECONDS for since in self._since.values())

    def stalled(self) -> bool:
        """Return whether this worker has stalled."""
        taken = [request.id for request in list(state.reserved_requests)]
        started = {request.id for request in list(state.active_requests)}
        return self.look(taken, started, time.monotonic())
