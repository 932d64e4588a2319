"""Return free memory to the system: the limit applies to what the process holds, not to what it uses.

The interpreter releases its arenas once they are empty; the C library keeps everything freed below its last
block in use, which after many large bundles is most of it. ``malloc_trim`` releases that.
"""

from __future__ import annotations

import ctypes
import math
import sys
import threading
import time
from functools import cache
from typing import Any

from playground.limits import MIB
from playground.runtime import garbage

WORTH_BYTES = 32 * MIB  # released since the last trim
MUCH_BYTES = 128 * MIB  # released: then trim at once
PAUSE_SECONDS = 10.0  # between two trims otherwise
REST_TIMES = 50  # as long as a full collection took nothing is collected: every thread waits for one


@cache
def _trim() -> Any:
    """Return glibc's ``malloc_trim``, ``None`` on another system."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none


class Freed:
    """Counts released memory. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._bytes = 0
        self._cyclic = 0  # bytes released since the last full collection, that only one frees
        self._rests_until = -math.inf  # time.monotonic()
        self._last = -math.inf
        self._lock = threading.Lock()

    def add(self, size: int, cyclic: int = 0) -> bool:
        """Count released memory, and trim once it is enough; return whether it was.

        ``cyclic`` bytes of it refer to themselves, so that only a full collection frees them.
        """
        with self._lock:
            self._bytes += size
            self._cyclic += cyclic
            now = time.monotonic()
            soon = now - self._last < PAUSE_SECONDS
            if self._bytes < (MUCH_BYTES if soon else WORTH_BYTES):
                return False
            self._bytes, self._last = 0, now
        self._trim_now()
        return True

    def trim(self) -> bool:
        """Return what is free to the system, unless that was done a moment ago; return whether it was not."""
        with self._lock:
            now = time.monotonic()
            if now - self._last < PAUSE_SECONDS:
                return False
            self._bytes, self._last = 0, now
        self._trim_now()
        return True

    def _trim_now(self) -> None:
        if self._collects():
            took = garbage.full()
            self._rests_until = time.monotonic() + REST_TIMES * took
        trim = _trim()
        if trim is not None:
            trim(0)

    def _collects(self) -> bool:
        with self._lock:
            if self._cyclic < WORTH_BYTES or time.monotonic() < self._rests_until:
                return False
            self._cyclic = 0
        return True


freed = Freed()
