"""When a worker packs the simulation of its run, so that late cycles open without a replay from the first."""

from __future__ import annotations

import time

from playground.limits import limit
from playground.playback.packed_runs import seal
from scheduler_core.run import Stepper

EVERY_SECONDS = 1.5  # of CPU time between two packed simulations, which are replayed in a third of it
COMPUTED = 9  # times as long as packing takes: a tenth of its CPU time at most


class PackingTimer:
    """Packs the simulation of one run every so often."""

    def __init__(self) -> None:
        self._interval = EVERY_SECONDS
        self._spent = 0.0
        self._possible = True

    def passed(self, simulation: Stepper, seconds: float) -> bytes | None:
        """Record that cycles were computed in so many CPU seconds; return the bytes to store, if any."""
        self._spent += seconds
        if not self._possible or self._spent < self._interval:
            return None
        began = time.thread_time()
        data = seal(simulation)
        self._possible = data is not None and len(data) <= limit("RUN_CHECKPOINT_BYTES")
        self._spent = 0.0
        self._interval = max(self._interval, COMPUTED * (time.thread_time() - began))
        return data if self._possible else None

    def thin(self) -> None:
        """Pack half as often: what is stored has reached its bound."""
        self._interval *= 2
