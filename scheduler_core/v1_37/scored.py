"""The scores of one attempt as arrays; the record's tables are made of them when somebody reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from scheduler_core.v1_37.node_list import NodeList


class PluginScores(Struct, frozen=True):
    """One plugin's scores of the feasible nodes; (nodes,) int64 each."""

    weight: int
    raw: NDArray[np.int64]
    normalized: NDArray[np.int64]


@dataclass(slots=True)
class Scored:
    """Feasible nodes in order, each plugin's scores of them, and the weighted sums."""

    nodes: NodeList
    totals: NDArray[np.int64]
    plugins: dict[str, PluginScores] = field(default_factory=dict)

    def ties(self) -> list[str]:
        """Return the nodes with the highest total."""
        return self.nodes[self.totals == self.totals.max()].tolist()

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
