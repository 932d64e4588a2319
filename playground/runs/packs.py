"""When a worker packs the simulation of its run, so that late cycles open without a replay from the first."""

from __future__ import annotations

import math
import time

from playground.limits import limit
from playground.playback.counts import may_cache
from playground.playback.packed_runs import packed
from scheduler_core.run import Packer, Stepper
from scheduler_core.scenario.scenario import Scenario

EVERY_SECONDS = 0.2  # of CPU time between two packed simulations: a replay may take as long as computing
FASTER = 40  # times, that decisions of a run without a cache are repeated than made, where no time passes
COMPUTED = 1.5  # times as long as packing takes: two fifths of its CPU time at most
OBJECTS = 200_000  # nodes and pods; of more the bytes that are compressed take too much memory


class PackingTimer:
    """Packs the simulation of one run every so often, by how long a replay from there would take."""

    def __init__(self, scenario: Scenario) -> None:
        decides = may_cache(scenario) or scenario.row.replays_by_deciding
        self._packer = Packer(scenario)
        self._least = self._interval = EVERY_SECONDS * (1 if decides else FASTER)
        self._cost = math.inf  # the least CPU seconds that packing took: others share the processor
        self._spent = 0.0
        self._possible = True

    def passed(self, simulation: Stepper, seconds: float) -> bytes | None:
        """Record that cycles were computed in so many CPU seconds; return the bytes to store, if any."""
        self._spent += seconds
        if not self._possible or self._spent < self._interval or not simulation.is_copyable:
            return None
        if len(simulation.cluster.nodes) + len(simulation.cluster.pods) > OBJECTS:
            return None
        began = time.thread_time()
        data = packed(self._packer, simulation)
        if data is None:
            self._spent = 0.0  # trying it takes as long as succeeding
            return None
        self._possible = len(data) <= limit("RUN_CHECKPOINT_BYTES")
        self._spent = 0.0
        self._cost = min(self._cost, time.thread_time() - began)
        self._interval = max(self._least, COMPUTED * self._cost)
        return data if self._possible else None

    def thin(self) -> None:
        """Pack half as often: what is stored has reached its bound."""
        self._least *= 2
        self._interval = max(self._interval, self._least)
