"""One priority's row of the matrix of scores."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector

PriorityKind = Literal["function", "map", "map/reduce"]


class PriorityRow(Struct):
    """One priority over the F feasible nodes: a row A1N1, A1N2 ... of the matrix (algorithm.PriorityConfig).

    ``kind`` is which of the config's functions are set: ``function`` scores the whole list at once
    and has no ``raw``; ``map`` has only a Map, so that ``raw`` is the score; ``map/reduce`` has both.
    """

    name: str
    weight: int
    kind: PriorityKind
    raw: IntVector | None  # the map step's value
    score: IntVector  # after reduce, before the weight

    @property
    def weighted(self) -> IntVector:
        """Weight times score, ``(F,) int64``, which Combine adds to a node's total."""
        return self.weight * self.score
