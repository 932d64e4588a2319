"""Among which nodes a cycle chose: the feasible ones, their totals, and those with the best total."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector

NO_INDICES = np.zeros(0, np.int32)


class ChoiceCounts(NamedTuple):
    """A choice in numbers: feasible nodes, the best total (None without a ranking), nodes that have it."""

    feasible: int
    best: int | None
    tied: int


class NodeChoice(Struct, frozen=True):
    """The nodes that a pod was placed among; F of N nodes were feasible."""

    feasible: npt.NDArray[np.int32] = NO_INDICES  # node indices in object order
    totals: IntVector | None = None  # (F,), None if fewer than two nodes were feasible
    ties: npt.NDArray[np.int32] = (
        NO_INDICES  # indices of the nodes with the best total, as the tie-break counts
    )

    def counts(self) -> ChoiceCounts:
        """Return the choice in numbers."""
        best = None if self.totals is None else int(self.totals.max())
        return ChoiceCounts(len(self.feasible), best, len(self.ties))


NO_CHOICE = NodeChoice()


class LateChoice:
    """A choice whose arrays are made when they are read: on a large cluster they are most of a cycle's time.

    ``make`` reads only what later cycles leave as it is; ``counts`` are those of the arrays.
    """

    def __init__(self, make: Callable[[], NodeChoice], counts: ChoiceCounts | None = None) -> None:
        self._make = make
        self._counts = counts
        self._made: NodeChoice | None = None

    def made(self) -> NodeChoice:
        """Return the arrays."""
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def feasible(self) -> npt.NDArray[np.int32]:
        """Those of the arrays."""
        return self.made().feasible

    @property
    def totals(self) -> IntVector | None:
        """Those of the arrays."""
        return self.made().totals

    @property
    def ties(self) -> npt.NDArray[np.int32]:
        """Those of the arrays."""
        return self.made().ties

    def counts(self) -> ChoiceCounts:
        """Return the choice in numbers."""
        return self._counts or self.made().counts()


def counted(choice: NodeChoice | LateChoice) -> LateChoice:
    """Return a choice of which the numbers alone are kept; its arrays are empty."""
    return LateChoice(NodeChoice, choice.counts())
