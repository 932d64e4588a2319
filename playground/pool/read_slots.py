"""The limit of concurrent requests of a process that read bundles, granted to visitors in turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playground.limits import limit
from playground.once import once
from playground.pool import offload
from playground.pool.cpu_budget import BEYOND, spending
from playground.pool.gate import Gate
from playground.pool.shares import Bounds
from playground.runtime.counters import READING
from playground.visitors.identity import asker

READING_SECONDS = 20.0  # how long a request waits for its turn to read a bundle


@once
def _readers() -> Gate:
    places = limit("ENGINE_THREADS")
    # With two or more slots, one visitor's requests never take all of them.
    bounds = Bounds(max(1, places - 1), limit("POOL_QUEUED_PER_VISITOR"), limit("POOL_QUEUED"))
    return Gate(places, bounds, spending.charge)


@contextmanager
def reading() -> Iterator[None]:
    """Read or write a bundle in a request's thread, with limited concurrency (limit ``ENGINE_THREADS``).

    Visitors take turns, in the middle of what the engine computes. Large bundles are read in the pool, while
    the slot is released. Raises BusyError after :data:`READING_SECONDS`, or immediately for a visitor with
    too many waiting requests, and SpentError.
    """
    visitor = asker()
    spending.check(visitor, BEYOND)
    with _readers().stay(visitor, READING_SECONDS), READING.track_inprogress(), offload.reading_for(visitor):
        yield
