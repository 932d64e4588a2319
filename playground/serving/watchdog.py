"""Ends a web process whose event loop stalls; whoever supervises it starts another.

A loop that stalls answers nobody: neither steps nor ``/healthz``. It may wait, or be kept from running by
code that holds the interpreter's lock, such as one call of a C library; then no thread of this process could
tell. So the kernel does: the loop winds up a timer, again and again, and SIGALRM ends the process once it has
not. Before that the stack of each thread is written to the log. Clients reconnect, and what they stored is
there.
"""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import signal
from typing import Any

STALLED = signal.SIGALRM  # what ends the process
BEATS = 5  # in the time after which the loop counts as stalled
FULL = 2  # the generation that a full collection of garbage collects
FULL_TIMES = 6  # as long: a full collection stops every thread, and is no stall, for it ends


class Watchdog:
    """The timer of the event loop that calls :meth:`start`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to watch the running loop; 0 seconds: never."""
        if self._seconds:
            faulthandler.register(STALLED, all_threads=True, chain=True)
            gc.callbacks.append(self._collects)
            self._beat()

    def stop(self) -> None:
        """Watch no longer."""
        if self._next is not None:
            self._next.cancel()
            gc.callbacks.remove(self._collects)
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.unregister(STALLED)

    def _beat(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        self._next = asyncio.get_running_loop().call_later(self._seconds / BEATS, self._beat)

    def _collects(self, phase: str, info: dict[str, Any]) -> None:
        """Give a full collection its time; called by the collector, in any thread."""
        if info["generation"] == FULL:
            times = FULL_TIMES if phase == "start" else 1
            signal.setitimer(signal.ITIMER_REAL, times * self._seconds)
