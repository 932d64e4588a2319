"""Forks of a simulation along its run, so that a jump need not start from the beginning.

Without an equivalence cache decisions are replayed in microseconds. With one each cycle is filtered again,
because the cache has to be filled, and thousands of cycles take seconds. In virtual time cycles are scheduled
again, because waits, denials and controllers depend on them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from playground.limits import limit
from playground.playback.counts import may_cache
from playground.playback.packed_runs import SealedRun
from playground.pool.gate import GivingLock
from scheduler_core.run import Stepper
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper

EVERY_SECONDS = 0.3  # of a thread's CPU time between two copies
COPY_SHARE = 4  # copying takes at most a fifth of the time
MOST = 24
NEAR = 200  # cycles that are replayed faster than a copy is made
NEAR_PACKED = 500  # the same, than one is unpacked

# What a copy does not share, as measured by `weigh`.
NODE_BYTES, POD_BYTES, LIVING_POD_BYTES = 1_100, 1_100, 3_300


class Checkpoints:
    """The copies of one source. All methods may be called from any thread."""

    def __init__(self, scenario: Scenario) -> None:
        self._wanted = may_cache(scenario) or scenario.row.replays_by_deciding
        self._lock = GivingLock()
        self._scenario = scenario
        self._kept: list[tuple[Stepper, int]] = []  # with their bytes, ordered by cycle
        self._packed: list[SealedRun] = []  # as a worker stored them, by cycle
        self._spent = 0.0  # CPU seconds since the last copy
        self._interval = EVERY_SECONDS

    @property
    def bytes(self) -> int:
        """An estimate of the memory that the copies hold."""
        return sum(size for _, size in self._kept) + sum(len(one.data) for one in self._packed)

    @property
    def indices(self) -> list[int]:
        """The cycles that have a copy."""
        return [kept.index for kept, _ in self._kept]

    def add_packed(self, read: Callable[[int], Iterable[SealedRun]]) -> None:
        """Take what a worker packed: ``read(n)`` yields what it stored after cycle ``n``, in order."""
        with self._lock:
            self._packed += read(self._packed[-1].cycle if self._packed else 0)
            while sum(len(one.data) for one in self._packed) > limit("RUN_CHECKPOINT_BYTES"):
                del self._packed[::2]

    def passed(self, simulation: Stepper, seconds: float) -> None:
        """Record that cycles were computed, and copy the simulation if enough were since the last copy.

        The simulation is between two cycles, with nothing of the next one applied.
        """
        if not self._wanted or (self._kept and simulation.index <= self._kept[-1][0].index):
            return
        with self._lock:
            self._spent += seconds
            if self._spent < self._interval or simulation.index <= max(self.indices, default=NEAR):
                return  # a copy within the first cycles serves no jump, and would delay the first of them
            if not simulation.is_copyable:
                return
            began = time.thread_time()
            self._kept.append((simulation.fork(trace=False), _size(simulation)))
            self._spent = 0.0
            self._interval = max(self._interval, COPY_SHARE * (time.thread_time() - began))
            while self._kept and (len(self._kept) > MOST or self.bytes > limit("CHECKPOINT_BYTES")):
                del self._kept[::2]
                self._interval *= 2

    def nearest(self, index: int, *, beyond: int, trace: bool) -> Stepper | None:
        """Return a fork or an unpacked run at or before cycle ``index``, ``None`` if replaying is cheaper.

        ``beyond`` is the cycle that the caller's simulation has reached already.
        """
        with self._lock:
            found = [kept for kept, _ in self._kept if beyond + NEAR < kept.index <= index]
            reached = found[-1].index if found else beyond
            packed = [one for one in self._packed if reached + NEAR_PACKED < one.cycle <= index]
        simulation = packed[-1].opened(self._scenario) if packed else None
        if simulation is not None:
            simulation.record(trace=trace)
            return simulation
        return found[-1].fork(trace=trace) if found else None

    def branched(self, scenario: Scenario) -> Stepper | None:
        """Return a run of a branch that goes on from the last copy before it parts from this source."""
        with self._lock:
            kept = [one for one, _ in self._kept]
        found = (one.branched(scenario, trace=False) for one in reversed(kept))
        return next((one for one in found if one is not None), None)

    def begin_at(self, simulation: Stepper) -> None:
        """Keep a copy of a run that was not begun at its start."""
        with self._lock:
            self._kept.append((simulation.fork(trace=False), _size(simulation)))


def _size(simulation: Stepper) -> int:
    nodes, pods = simulation.cluster.nodes, simulation.cluster.pods
    keeper = simulation.cache
    cache = keeper.cache.stats.bytes if isinstance(keeper, CacheKeeper) else 0
    each = LIVING_POD_BYTES if simulation.scenario.lives else POD_BYTES
    return cache + len(nodes) * NODE_BYTES + len(pods) * each
