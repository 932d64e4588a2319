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
from playground.runtime import collecting

WORTH_BYTES = 32 * MIB  # released since the last trim
MUCH_BYTES = 128 * MIB  # released: then trim at once
PAUSE_SECONDS = 10.0  # between two trims otherwise: every thread waits for up to a second each time


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
        self._last = -math.inf  # time.monotonic()
        self._lock = threading.Lock()

    def add(self, size: int) -> bool:
        """Count released memory, and trim once it is enough; return whether it was."""
        with self._lock:
            self._bytes += size
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
        collecting.full()  # simulations refer to themselves
        trim = _trim()
        if trim is not None:
            trim(0)


freed = Freed()
