"""When a worker packs the simulation of its run, so that late cycles open without a replay from the first."""

from __future__ import annotations

import time
from functools import partial

from playground.limits import limit
from playground.playback.counts import may_cache
from playground.playback.packed_runs import packed
from scheduler_core.run import Packer, Stepper
from scheduler_core.scenario.scenario import Scenario

EVERY_SECONDS = 0.2  # of CPU time that a replay takes between two packed simulations
FASTER = 40  # times, that plain cycles are replayed than made; others take as long
COMPUTED = 1.5  # times as long as packing takes: two fifths of its CPU time at most
OBJECT_SECONDS = 0.000_006  # that packing takes for each object, until it is measured
OBJECTS = 200_000  # nodes and pods; of more the bytes that are compressed take too much memory

PackedCycle = tuple[int, bytes]
"""A cycle, and the run after it, in which time may have passed on."""


class PackingTimer:
    """Packs the simulation of one run every so often, by how long a replay from there would take."""

    def __init__(self, scenario: Scenario) -> None:
        self._caches = may_cache(scenario)
        self._packer = Packer(scenario)
        self._least = EVERY_SECONDS
        self._cost = OBJECT_SECONDS * len(scenario.objects)  # then the least that it took: others work, too
        self._interval = max(self._least, COMPUTED * self._cost)
        self._spent = 0.0
        self._passed = 0, 0  # cycles, and how many of them were not plain
        self._possible = True
        self._packing = 0.0  # of the CPU seconds since the last call
        self._made: PackedCycle | None = None

    def passed(self, simulation: Stepper, seconds: float) -> PackedCycle | None:
        """Record that cycles were computed in so many CPU seconds; return what is to be stored, if anything.

        While the simulation cannot be copied it is packed as soon as it can be, and returned by a later call.
        """
        self._spent += (seconds - self._packing) * self._share(simulation)
        if self._made is None and self._possible and self._spent >= self._interval:
            simulation.when_copyable(partial(self._pack, simulation))
        made, self._made, self._packing = self._made, None, 0.0
        return made

    def _pack(self, simulation: Stepper) -> None:
        if len(simulation.cluster.nodes) + len(simulation.cluster.pods) > OBJECTS:
            return
        began = time.thread_time()
        data = packed(self._packer, simulation)
        self._packing = time.thread_time() - began
        self._spent = 0.0  # also if it failed: trying it takes as long as succeeding
        if data is None:
            return
        self._cost = min(self._cost, self._packing)
        self._interval = max(self._least, COMPUTED * self._cost)
        self._possible = len(data) <= limit("RUN_CHECKPOINT_BYTES")
        if self._possible:
            self._made = simulation.index, data

    def _share(self, simulation: Stepper) -> float:
        """Return which share of the time since the last call a replay takes."""
        cycles, single = (now - before for now, before in zip(_counts(simulation), self._passed))
        self._passed = _counts(simulation)
        if self._caches or not cycles:
            return 1.0
        return (single + (cycles - single) / FASTER) / cycles

    def thin(self) -> None:
        """Pack half as often: what is stored has reached its bound."""
        self._least *= 2
        self._interval = max(self._interval, self._least)


def _counts(simulation: Stepper) -> tuple[int, int]:
    return simulation.index, simulation.single_cycles
