"""Forks of a simulation along its run, so that a jump need not start from the beginning.

Plain cycles are replayed in microseconds, many at once. With an equivalence cache each cycle is filtered
again, because the cache has to be filled, and thousands of cycles take seconds. In virtual time cycles are
scheduled again, because waits, denials and controllers depend on them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial

from playground.limits import limit
from playground.playback.counts import may_cache
from playground.playback.packed_runs import SealedRun
from playground.pool.gate import GivingLock
from playground.runtime import garbage
from scheduler_core.run import Stepper, Unpacker
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper

EVERY_SECONDS = 0.3  # of a thread's CPU time between two copies
COPY_SHARE = 4  # copying takes at most a fifth of the time
MOST = 24
NEAR = 200  # cycles that are replayed faster than a copy is made
PLAIN_SECONDS = 0.000_03  # of a cycle that is replayed with many others: sooner than a copy is made
START_SECONDS = 0.1  # of CPU time; a start that took longer is kept
PACE_SECONDS = 0.0003  # of a replayed cycle, until it is measured
FIRST_GAPS = 1.5  # that are replayed before it is known how long a packed run takes to open

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
        self._unpacker: Unpacker | None = None
        self._start: tuple[Stepper, int] | None = None  # a copy before the first cycle, with its bytes
        self._opening: float | None = None  # CPU seconds, of a packed run
        self._pace = PACE_SECONDS
        self._spent = 0.0  # CPU seconds since the last copy
        self._copying = 0.0  # of the last copy
        self._interval = EVERY_SECONDS

    @property
    def bytes(self) -> int:
        """An estimate of the memory that the copies hold."""
        start = 0 if self._start is None else self._start[1]
        return start + sum(size for _, size in self._kept) + sum(len(one.data) for one in self._packed)

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

    def begun(self, simulation: Stepper, seconds: float) -> None:
        """Keep a copy of a run before its first cycle, if making it took so many CPU seconds."""
        size = _size(simulation)
        with self._lock:
            if seconds > START_SECONDS and simulation.is_copyable and size <= limit("CHECKPOINT_BYTES"):
                self._start = simulation.fork(trace=False), size

    def passed(self, simulation: Stepper, seconds: float, replayed: int = 0) -> None:
        """Record that cycles were computed, and copy the simulation if enough were since the last copy.

        The simulation is between two cycles, with nothing of the next one applied. So many of the cycles
        were ``replayed``, all or none.
        """
        if replayed:
            self._pace = max(seconds, 1e-6) / replayed
            if self._pace < PLAIN_SECONDS:
                return
        if not self._wanted or (self._kept and simulation.index <= self._kept[-1][0].index):
            return
        with self._lock:
            self._spent += seconds
            if self._spent < self._interval or simulation.index <= max(self.indices, default=NEAR):
                return  # a copy within the first cycles serves no jump, and would delay the first of them
        simulation.when_copyable(partial(self._copy, simulation))

    def _copy(self, simulation: Stepper) -> None:
        with self._lock:
            if simulation.index <= max(self.indices, default=NEAR):
                return
            began = time.thread_time()
            self._kept.append((simulation.fork(trace=False), _size(simulation)))
            self._spent = 0.0
            self._copying = time.thread_time() - began
            self._interval = max(self._interval, COPY_SHARE * self._copying)
            while self._kept and (len(self._kept) > MOST or self.bytes > limit("CHECKPOINT_BYTES")):
                del self._kept[::2]
                self._interval *= 2

    def nearest(self, index: int, *, beyond: int | None, trace: bool) -> Stepper | None:
        """Return a fork or an unpacked run at or before cycle ``index``, ``None`` if replaying is cheaper.

        ``beyond`` is the cycle that the caller's simulation has reached already, ``None`` without one. What
        is returned has not advanced beyond ``index``.
        """
        with self._lock:
            least = 0 if beyond is None else beyond + max(NEAR, int(self._copying / self._pace))
            found = [kept for kept, _ in self._kept if least < kept.index <= index - kept.is_ahead]
            if beyond is None and not found and self._start is not None:
                found = [self._start[0]]
            reached = found[-1].index if found else beyond
            near = 0 if reached is None else reached + self._near()
            packed = [one for one in self._packed if near < one.cycle <= index - one.is_ahead]
        simulation = self._opened(packed[-1]) if packed else None
        if simulation is not None:
            simulation.record(trace=trace)
            return simulation
        return found[-1].fork(trace=trace) if found else None

    def _near(self) -> int:
        """Return how many cycles are replayed in the time in which a packed run is opened.

        A worker packs as soon as a replay takes longer than packing: the first packed run tells the pace.
        """
        if self._opening is not None:
            return int(self._opening / self._pace)
        return int(FIRST_GAPS * self._packed[0].cycle) if self._packed else 0

    def _opened(self, packed: SealedRun) -> Stepper | None:
        began = time.thread_time()
        with garbage.paused():  # hundreds of thousands of objects, all of them kept
            self._unpacker = self._unpacker or Unpacker(self._scenario)
            simulation = packed.opened(self._unpacker)
            garbage.exempt()
        self._opening = time.thread_time() - began
        return simulation

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
