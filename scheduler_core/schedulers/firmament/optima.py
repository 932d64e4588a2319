"""All minima of a flow problem: what differs between them (for the records, in networks of a few nodes)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from scheduler_core.kubernetes.arrays import BoolVector
from scheduler_core.schedulers.firmament.rounds import RoundPhase
from scheduler_core.schedulers.firmament.solver import every, flow


class Optima:
    """The minima of a phase. Each question is a minimum of its own: the arcs that it asks about cost a
    fraction more, or less, than they do.
    """

    def __init__(self, phase: RoundPhase) -> None:
        self._phase = phase
        self._sizes = [len(one.of.tasks) for one in phase.arcs]
        self._offered = [every(one) for one in phase.arcs]
        self._scale = sum(self._sizes) + 1

    def _most(self, place: int, among: BoolVector, sign: int) -> int:
        """Return how many tasks of a class take an arc of ``among`` at most, at least if ``sign`` is -1."""
        costs = [one.costs * self._scale for one in self._offered]
        costs[place] = costs[place] - sign * among
        used = flow([one.names for one in self._offered], costs, self._sizes, scale=self._scale)
        return int((used[place] & among).sum())

    def _range(self, place: int, among: BoolVector) -> tuple[int, int]:
        return self._most(place, among, -1), self._most(place, among, 1)

    @cached_property
    def _totals(self) -> list[tuple[int, int]]:
        """How many tasks of each class are placed, at least and at most."""
        return [self._range(place, np.ones(len(one), bool)) for place, one in enumerate(self._offered)]

    def range_of(self, job: str) -> tuple[int, int]:
        """Return how many tasks of a job are placed, at least and at most."""
        low = high = 0
        for arcs, size, (least, most) in zip(self._phase.arcs, self._sizes, self._totals):
            own = sum(task.job == job for task in arcs.of.tasks)
            low += max(0, least - (size - own))
            high += min(own, most)
        return low, high

    @cached_property
    def is_unique(self) -> bool:
        """Whether all minima place as many tasks of each job on each machine."""
        return all(self._is_unique(place) for place in range(len(self._sizes)))

    def _is_unique(self, place: int) -> bool:
        offered, size = self._offered[place], self._sizes[place]
        columns = 0  # machines that take some of the tasks, and pending
        placed = 0
        for row in np.unique(offered.rows):
            low, high = self._range(place, offered.rows == row)
            if low != high:
                return False
            columns += low > 0
            placed += low
        columns += placed < size
        jobs = {task.job for task in self._phase.arcs[place].of.tasks}
        return len(jobs) == 1 or columns <= 1
