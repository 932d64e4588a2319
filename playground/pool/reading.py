"""How many requests of a process may read bundles at once, by visitor in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playground.limits import limit
from playground.once import once
from playground.pool import offload
from playground.pool.gate import Gate
from playground.pool.shares import Bounds
from playground.runtime.counters import READING
from playground.visitors.identity import asker

READING_SECONDS = 20.0  # so long a request waits for its turn to read a bundle


@once
def _readers() -> Gate:
    places = limit("ENGINE_THREADS")
    # One place is never taken by the first visitor's second request, where there are two.
    bounds = Bounds(max(1, places - 1), limit("POOL_QUEUED_PER_VISITOR"), limit("POOL_QUEUED"))
    return Gate(places, bounds)


@contextmanager
def reading() -> Iterator[Callable[[], None]]:
    """Read or write a bundle in a request's thread, at once with few others (limit ``ENGINE_THREADS``).

    Visitors take turns. What is large is read in the pool, while the place is another's. Raises BusyError
    after :data:`READING_SECONDS`, or at once for a visitor of whom too many requests wait. What computes for
    seconds calls the function that is yielded after each slice: it lets others come first.
    """
    visitor, readers = asker(), _readers()
    readers.enter(visitor, READING_SECONDS)
    try:
        with READING.track_inprogress(), offload.reading_for(visitor, readers):
            yield lambda: readers.give_way(visitor)
    finally:
        readers.leave(visitor)
