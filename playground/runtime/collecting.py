"""Garbage collection of a web process, in pauses that nobody notices.

A full collection visits every container under the interpreter's lock: half a second with 500 MiB of playbacks
open, in which no step is answered, and Python begins one each time the heap has grown by a quarter. Here none
begins by itself. What is open is exempt from collections (``gc.freeze``) as soon as it is there. Garbage in
the rest is collected once a minute, and everything is visited only when much was let go (:func:`full`).
"""

from __future__ import annotations

import gc
import threading
import time

THRESHOLDS = (700, 10, 1_000_000)  # the last one: a full collection never begins by itself
TIDY_SECONDS = 60.0


def begin() -> None:
    """Exempt what was imported, and collect garbage in a thread of its own from now on."""
    gc.set_threshold(*THRESHOLDS)
    full()
    threading.Thread(target=_tidy, name="garbage", daemon=True).start()


def exempt() -> None:
    """Exempt all that is there from collections. Takes no time, however much that is."""
    gc.freeze()


def full() -> None:
    """Collect garbage among everything that is there, exempt or not; a pause for every thread."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _tidy() -> None:
    while True:
        time.sleep(TIDY_SECONDS)
        gc.collect()
        gc.freeze()
