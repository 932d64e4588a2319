"""Cycles and states of a playback that are rebuilt by replaying its decisions.

Three simulations take part, each created on demand. The *reader* is moved to just before a cycle and
schedules that one again with full tracing; it is deterministic, so the result is the same cycle. The
*standing* one is never stepped: it is the cluster that a cycle's scores were computed from. Nor is the one
*behind*: it is the state after a cycle, with the cache's map.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from playground.limits import limit
from playground.playback.checkpoints import Checkpoints
from playground.playback.deadlines import Bound, Superseded, never, one_step
from playground.playback.trail import Trail
from playground.pool.gate import GivingLock
from scheduler_core.record.cycle import Cycle
from scheduler_core.run import Stepper, simulate
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.scenario.scenario import Scenario

log = structlog.get_logger(__name__)

REPLAYED_AT_ONCE = 250  # cycles; then the request may be superseded
SOON_SECONDS = 0.03  # after a batch that took less the next one has twice as many
ATTEMPT_BYTES = 10_000  # of an attempt of v1.37
ATTEMPT_NODE_BYTES = 300  # its walk, a status, nine plugins' scores


class Replays:
    """The simulations of one source. The callers have checked that the cycle exists."""

    def __init__(self, scenario: Scenario, trail: Trail, checkpoints: Checkpoints) -> None:
        self._scenario = scenario
        self._trail = trail
        self._checkpoints = checkpoints
        self._reader: Stepper | None = None
        self._standing: Stepper | None = None
        self._behind: Stepper | None = None
        self.at_end = False  # whether the one behind has advanced from the last cycle to the end
        self._read_lock = GivingLock()
        self._stand_lock = GivingLock()
        self._after_lock = GivingLock()
        self._sizing = threading.Lock()  # held where a simulation that may be discarded is taken out
        self._cycles: OrderedDict[int, Cycle] = OrderedDict()
        self.cycle_bytes = 0  # of the cycles that are kept

    @property
    def simulations(self) -> tuple[Stepper | None, ...]:
        """The simulations, ``None`` for one that does not exist now."""
        return self._reader, self._standing, self._behind

    def size(self, of: Callable[[Stepper], int]) -> int:
        """Return the sum of ``of`` each simulation, which must not compute; none is discarded meanwhile."""
        with self._sizing:
            return sum(of(one) for one in self.simulations if one is not None)

    def cycle(self, index: int, unwanted: Callable[[], bool]) -> Cycle:
        """Return cycle ``index`` with its matrices. Raises Superseded."""
        with self._read_lock:
            kept = self._cycles.get(index)
            if kept is not None:
                self._cycles.move_to_end(index)
                return kept
            if unwanted():
                raise Superseded
            return self._decide(index, unwanted)

    def keep_first(self, cycle: Cycle) -> bool:
        """Keep a cycle of the first window; return whether the next one is of it, too, and has room."""
        with self._read_lock:
            self._keep(cycle.index, cycle)
            room = self.cycle_bytes < limit("CYCLE_CACHE_BYTES") // 2
        return room and cycle.index < limit("WINDOW_CYCLES")

    def _decide(self, index: int, unwanted: Callable[[], bool]) -> Cycle:
        with self._sizing:
            reader, self._reader = self._reader, None  # an interrupted one cannot be used again
        reader = _back(reader, index - 1)
        with one_step() as bound:
            reader = self._brought(reader, index - 1, trace=True)
            try:
                reader = self._replayed(reader, index - 1, unwanted, bound, trace=True)
            except Superseded:
                self._reader = reader
                raise
            bound.renew()
            cycle = reader.step()
        self._reader = reader
        if cycle is None or cycle.decision != self._trail.decisions[index - 1]:
            self._reader = None
            log.error("replay differs", cycle=index, decided=cycle and cycle.decision)
            raise RuntimeError(f"cycle {index} was decided differently when it was replayed")
        self._keep(index, cycle)
        return cycle

    def _brought(self, simulation: Stepper | None, index: int, *, trace: bool) -> Stepper:
        """Return the simulation, or a checkpoint that is closer before ``index``."""
        at = None if simulation is None else simulation.index
        nearer = self._checkpoints.nearest(index, beyond=at, trace=trace)
        if nearer is None:
            return simulation or self._begun(trace=trace)
        if simulation is not None:
            simulation.discard()
        return nearer

    def _begun(self, *, trace: bool) -> Stepper:
        working = time.thread_time()
        simulation = simulate(self._scenario, trace=trace, reuse=trace)
        self._checkpoints.begun(simulation, time.thread_time() - working)
        return simulation

    def _replayed(
        self, simulation: Stepper, index: int, unwanted: Callable[[], bool], bound: Bound, *, trace: bool
    ) -> Stepper:
        """Replay a simulation up to ``index``, or from a checkpoint once cycles turn out to take long.

        If superseded, the simulation stays at the cycle reached.
        """
        most = REPLAYED_AT_ONCE
        while simulation.index < index:
            working = time.thread_time()
            first, last = simulation.index, min(simulation.index + most, index)
            simulation.replay(self._trail.decisions[first:last], bound.renew)
            seconds = time.thread_time() - working
            self._checkpoints.passed(simulation, seconds, last - first)
            if last == index:
                break
            if unwanted():
                raise Superseded
            if seconds < SOON_SECONDS:
                most *= 2
            else:
                simulation = self._brought(simulation, index, trace=trace)
        return simulation

    @contextmanager
    def before(self, index: int) -> Iterator[Stepper]:
        """Yield a simulation at the start of cycle ``index``, to be read and not stepped.

        It is not the reader: stepping through time needs both, and the reader is ahead.
        """
        with self._stand_lock:
            with self._sizing:
                standing, self._standing = self._standing, None  # a failed replay leaves none
            standing = _back(standing, index - 1, ahead=True)
            with one_step() as bound:
                standing = self._brought(standing, index - 1, trace=False)
                standing = self._replayed(standing, index - 1, never, bound, trace=False)
                bound.renew()
                standing.peek()
            self._standing = standing
            yield standing

    @contextmanager
    def after(self, index: int, unwanted: Callable[[], bool]) -> Iterator[Stepper]:
        """Yield a simulation in the state after cycle ``index``, to be read and not stepped; 0: the start.

        The index after the last cycle is the end. Raises Superseded.
        """
        with self._after_lock:
            if unwanted():
                raise Superseded
            with self._sizing:
                behind, self._behind = self._behind, None  # a failed replay leaves none
            last = min(index, len(self._trail))
            behind = _back(behind, last - (self.at_end and index == last))  # the end is after the last cycle
            self.at_end = False
            with one_step() as bound:
                behind = self._brought(behind, last, trace=False)
                try:
                    behind = self._replayed(behind, last, unwanted, bound, trace=False)
                except Superseded:
                    self._behind = behind
                    raise
                if index > last:
                    bound.renew()
                    behind.peek()
            self.at_end = index > last
            self._behind = behind
            yield behind

    def _keep(self, index: int, cycle: Cycle) -> None:
        self._cycles[index] = cycle
        self.cycle_bytes += _size(cycle)
        while self.cycle_bytes > limit("CYCLE_CACHE_BYTES") and len(self._cycles) > 1:
            _, old = self._cycles.popitem(last=False)
            self.cycle_bytes -= _size(old)


def _back(simulation: Stepper | None, index: int, *, ahead: bool = False) -> Stepper | None:
    """Return a simulation at or before the state after a cycle, ``None`` if there is none.

    ``ahead``: time may have passed since that cycle.
    """
    if simulation is None or simulation.index + (simulation.is_ahead and not ahead) <= index:
        return simulation
    if simulation.index > index and simulation.rewind(index):
        return simulation
    simulation.discard()
    return None


def _size(cycle: Cycle) -> int:
    size = 4_000 + cycle.feasible.nbytes + cycle.ties.nbytes
    if cycle.matrix is not None:
        size += cycle.matrix.codes.nbytes
    if cycle.totals is not None:
        size += cycle.totals.nbytes
    if cycle.preemption is not None:
        size += cycle.preemption.nbytes
    if cycle.cache is not None:
        size += sum(each.nbytes for each in (cycle.cache.sources, cycle.cache.cleared) if each is not None)
        size += 800 * (len(cycle.cache.invalidations) + len(cycle.cache.stale))
    size += sum(600 + 8 * len(quirk.nodes) for quirk in cycle.quirks)
    record = release_record(cycle)
    if record is not None:  # arrays and statuses of its attempts
        size += len(record.attempts) * (ATTEMPT_BYTES + len(cycle.nodes) * ATTEMPT_NODE_BYTES)
    for row in cycle.priorities:
        size += row.score.nbytes + (0 if row.raw is None else row.raw.nbytes)
    return size
