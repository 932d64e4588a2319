"""Memory that is free goes back to the system: what counts is what the process takes, not what it uses.

The interpreter gives its arenas back once they are empty; the C library keeps what is freed below its last
block in use, which after many large bundles is most of it. ``malloc_trim`` hands that over.
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

WORTH_BYTES = 32 * MIB  # let go since the last time
MUCH_BYTES = 128 * MIB  # let go: then it is done at once
PAUSE_SECONDS = 10.0  # between two times otherwise: every thread waits for up to a second each time


@cache
def _trim() -> Any:
    """Return glibc's ``malloc_trim``, None on another system."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none


class Freed:
    """Counts what was let go. Any thread may tell it."""

    def __init__(self) -> None:
        self._bytes = 0
        self._last = -math.inf  # time.monotonic()
        self._lock = threading.Lock()

    def add(self, size: int) -> bool:
        """Hand memory to the system once enough was let go for that; tell whether it was."""
        with self._lock:
            self._bytes += size
            now = time.monotonic()
            soon = now - self._last < PAUSE_SECONDS
            if self._bytes < (MUCH_BYTES if soon else WORTH_BYTES):
                return False
            self._bytes, self._last = 0, now
        collecting.full()  # simulations refer to themselves
        trim = _trim()
        if trim is not None:
            trim(0)
        return True


freed = Freed()
