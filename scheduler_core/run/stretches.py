"""Stretches of plain cycles: each places a pod, or finds no node, and changes nothing else.

A stretch is repeated, and undone, at once rather than cycle by cycle: a reader goes back and forth in a long
run without beginning again, and where it was before without looking at each pod again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from scheduler_core.record.cycle import Decision
from scheduler_core.schedulers.columns.placements import Placements
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster

MOST = 50_000  # cycles of a stretch, between two looks at the bounds


class Stretch(ABC):
    """Plain cycles of a run, one after the other, of which the first ``at`` have happened.

    Those beyond happened before the run went back.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._decisions: list[Decision] = []
        self._placements = Placements(cluster)

    @property
    def at(self) -> int:
        """The number of cycles that have happened."""
        return self._placements.at

    @property
    def length(self) -> int:
        """The number of cycles that are known, those beyond included."""
        return len(self._decisions)

    def repeat(self, decisions: Sequence[Decision], first: int, last: int) -> int:
        """Repeat the next cycles, decided from ``first`` to before ``last``, up to one that is not plain.

        Return their number, which may be smaller: the next call goes on from there.
        """
        known = self._decisions[self.at : self.at + last - first]
        if not known or known != decisions[first : first + len(known)]:
            self._cut()
            return self._go_on(decisions, first, last)
        self._forward(len(known))
        return len(known)

    def _is_next(self, decision: Decision) -> bool:
        """Return whether a cycle that has just happened is the next one that is known; else forget those."""
        known = self._decisions[self.at : self.at + 1] == [decision]
        if not known:
            self._cut()
        return known

    def _cut(self) -> None:
        """Forget the cycles beyond."""
        del self._decisions[self.at :]
        self._placements.cut()

    def _add(self, decisions: Sequence[Decision], pods: Sequence[PodState], rows: Sequence[int]) -> None:
        """Add the next cycles: their decisions, pods, and the rows of their nodes, -1 for none."""
        self._decisions += decisions
        self._placements.extend(pods, rows)

    @abstractmethod
    def _go_on(self, decisions: Sequence[Decision], first: int, last: int) -> int:
        """Repeat cycles that are not known yet, as :meth:`repeat` does."""

    @abstractmethod
    def _forward(self, count: int) -> None:
        """Repeat the next cycles, which are known."""

    @abstractmethod
    def back(self, count: int) -> None:
        """Undo the last cycles."""
