"""One slice of computing a playback forward, in a thread of its own.

Who asks for it waits for the slice, not for the step that it ends in: that goes on, in turns with others, as
long as it takes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for

from playground.playback.executor import grow
from playground.pool import gate

ADMISSION_SECONDS = 5.0  # that a slice may wait for others before it begins


class Growth:
    """Runs ``compute``, which calls :meth:`look` many times a second, for about ``seconds`` of CPU time.

    Raises SpentError if whoever asks has spent their budget, and BusyError.
    """

    def __init__(self, compute: Callable[[Growth], None], seconds: float) -> None:
        self._compute = compute
        self._seconds = seconds
        self._until = float("inf")
        self._late = threading.Event()
        self._future: Future[None] = grow(self._run)

    @property
    def over(self) -> bool:
        """Whether the slice has ended."""
        return self._future.done()

    @property
    def late(self) -> bool:
        """Whether the slice has had its seconds."""
        return time.thread_time() > self._until

    def look(self) -> None:
        """Let go who waits once the seconds are over, and let others compute."""
        if not self._late.is_set() and self.late:
            self._late.set()
        gate.look()

    def wait(self, seconds: float) -> None:
        """Wait until the slice ends or has had its seconds; for a later caller, until ``seconds`` pass.

        A slice that others keep from beginning is not waited for much longer.

        Raises the error that computing ended with.
        """
        with gate.outside():
            if self._late.is_set():
                wait_for([self._future], seconds)
            else:
                self._late.wait(seconds + ADMISSION_SECONDS)
        if self._future.done():
            self._future.result()

    def _run(self) -> None:
        self._until = time.thread_time() + self._seconds
        try:
            self._compute(self)
        finally:
            self._compute = _nothing  # it refers to the playback
            self._late.set()


def _nothing(_growth: Growth) -> None:
    """Compute nothing."""
