"""Garbage collection of a web process in imperceptible pauses.

A full collection visits every container while holding the GIL: a second with 500 MiB of open playbacks,
during which no step is answered, and Python starts one each time the heap has grown by a quarter. Here none
starts automatically. Open playbacks are exempt from collections (``gc.freeze``) as soon as they exist.
Garbage in the rest is collected once a minute, and everything is visited only when much was released
(:func:`full`).
"""

from __future__ import annotations

import gc
import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (700, 10, 1_000_000)  # the last one: a full collection never starts automatically
TIDY_SECONDS = 60.0
FULL_EVERY = 60  # times: what was exempt and has become garbage since is found once an hour


def begin() -> None:
    """Exempt the imported modules, and start collecting garbage in a separate thread."""
    gc.set_threshold(*THRESHOLDS)
    full()
    threading.Thread(target=_tidy, name="garbage", daemon=True).start()


def exempt() -> None:
    """Exempt all existing objects from collections. Takes constant time."""
    gc.freeze()


@contextmanager
def paused() -> Iterator[None]:
    """Collect nothing while objects are made that are all kept: by a process of its own, or within a second.

    Reading a bundle makes millions of them and hardly any cycle: collections visit them again and again, and
    find nothing, for a third of the time. The first of several threads collects again when it has ended.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def full() -> float:
    """Collect garbage among all objects, exempt or not; pauses every thread. Returns the seconds it took."""
    began = time.monotonic()
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    return time.monotonic() - began


def _tidy() -> None:
    for count in itertools.count(1):
        time.sleep(TIDY_SECONDS)
        if count % FULL_EVERY == 0:
            full()
        else:
            gc.collect()
            gc.freeze()
