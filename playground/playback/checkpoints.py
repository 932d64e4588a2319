"""Copies of a simulation on its way, so that a jump need not begin at the beginning.

Without an equivalence cache decisions are applied in microseconds. With one each cycle is filtered
again, because the cache has to be filled, and thousands of cycles take seconds. In virtual time
they are made again, for waits, denials and controllers follow from them.
"""

from __future__ import annotations

import threading
import time

from playground.limits import limit
from playground.playback.counts import may_cache
from scheduler_core.equivalence.keeper import CacheKeeper
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.simulation.virtual import Stepper, is_timed

EVERY_SECONDS = 0.3  # of a thread's computing between two copies
COPY_SHARE = 4  # copying takes at most a fifth of the time
MOST = 24
NEAR = 200  # cycles that are replayed sooner than a copy is made

# What a copy does not share, as `weigh` finds it.
NODE_BYTES, POD_BYTES = 1_100, 1_100


class Checkpoints:
    """The copies of one source. All methods may be called from any thread."""

    def __init__(self, scenario: Scenario) -> None:
        self._wanted = may_cache(scenario) or is_timed(scenario)
        self._lock = threading.Lock()
        self._kept: list[tuple[Stepper, int]] = []  # with their bytes, in the order of their cycles
        self._spent = 0.0  # seconds of computing since the last of them
        self._interval = EVERY_SECONDS

    @property
    def bytes(self) -> int:
        """An estimate of the memory that the copies hold."""
        return sum(size for _, size in self._kept)

    @property
    def indices(self) -> list[int]:
        """The cycles that there are copies of."""
        return [kept.index for kept, _ in self._kept]

    def passed(self, simulation: Stepper, seconds: float) -> None:
        """Take note that cycles were computed, and copy the simulation if many were since the last copy.

        The simulation stands between two cycles, with nothing of the next one done.
        """
        if not self._wanted or (self._kept and simulation.index <= self._kept[-1][0].index):
            return
        with self._lock:
            self._spent += seconds
            if self._spent < self._interval or simulation.index <= max(self.indices, default=0):
                return
            began = time.thread_time()
            self._kept.append((simulation.fork(trace=False), _size(simulation)))
            self._spent = 0.0
            self._interval = max(self._interval, COPY_SHARE * (time.thread_time() - began))
            while self._kept and (len(self._kept) > MOST or self.bytes > limit("CHECKPOINT_BYTES")):
                del self._kept[::2]
                self._interval *= 2

    def nearest(self, index: int, *, beyond: int, trace: bool) -> Stepper | None:
        """Return a copy that stands at most after cycle ``index``, ``None`` if none is worth its making.

        ``beyond`` is the cycle that the caller need not go back from.
        """
        with self._lock:
            found = [kept for kept, _ in self._kept if beyond + NEAR < kept.index <= index]
        return found[-1].fork(trace=trace) if found else None


def _size(simulation: Stepper) -> int:
    nodes, pods = simulation.cluster.nodes, simulation.cluster.pods
    cache = simulation.cache.cache.stats.bytes if isinstance(simulation.cache, CacheKeeper) else 0
    return cache + len(nodes) * NODE_BYTES + len(pods) * POD_BYTES
