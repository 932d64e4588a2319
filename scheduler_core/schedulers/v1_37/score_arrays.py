"""The scores of one attempt as arrays; the record's tables are made of them when somebody reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from scheduler_core.record.choice import ChoiceCounts
from scheduler_core.schedulers.v1_37.node_list import NodeList


class PluginScores(Struct, frozen=True):
    """One plugin's scores of the feasible nodes; (nodes,) int64 each."""

    weight: int
    raw: NDArray[np.int64]
    normalized: NDArray[np.int64]


class ScoredNodes(Struct):
    """Feasible nodes in order, each plugin's scores of them, and the weighted sums."""

    nodes: NodeList
    made: NDArray[np.int64] | Callable[[], NDArray[np.int64]]
    """The weighted sums, or what makes them when they are read."""
    plugins: dict[str, PluginScores] = field(default_factory=dict)
    at_random: NDArray[np.bool_] | None = None
    """Which nodes an extender scored, (nodes,) bool: of equal ones kube-scheduler takes any of these."""
    counts: ChoiceCounts | None = None
    """The choice in numbers, where they are known without the sums."""

    @property
    def totals(self) -> NDArray[np.int64]:
        """The weighted sums, (nodes,)."""
        if callable(self.made):
            self.made = self.made()
        return self.made

    def ties(self) -> list[str]:
        """Return the nodes with the highest total."""
        return self.nodes[self.totals == self.totals.max()].tolist()

    @property
    def drawn(self) -> list[str]:
        """The nodes of which kube-scheduler takes one at random; none if it takes a certain one."""
        if self.at_random is None:
            return []
        best = self.nodes[(self.totals == self.totals.max()) & self.at_random].tolist()
        return best if len(best) > 1 else []

    def document(self) -> dict[str, Any]:
        """Return the record's ``scores``."""
        return {
            key: {
                "weight": scores.weight,
                "raw": self.table(scores.raw),
                "normalized": self.table(scores.normalized),
            }
            for key, scores in self.plugins.items()
        }

    def table(self, column: NDArray[np.int64]) -> dict[str, int]:
        """Return a column by node."""
        return dict(zip(self.nodes.tolist(), column.tolist(), strict=True))
