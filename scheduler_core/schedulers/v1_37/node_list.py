"""Nodes of an attempt by their rows; they are named when somebody reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Names = NDArray[np.object_]
"""The name of each row."""


@dataclass(slots=True, frozen=True, eq=False)
class NodeList:
    """Nodes in order. A row keeps its name for good, so ``table`` may be of any later time."""

    table: Names
    rows: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: Any) -> NodeList:
        """Return the nodes that a mask, a slice or an array of positions chooses."""
        return NodeList(self.table, self.rows[which])

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    def tolist(self) -> list[str]:
        """Return the names in order."""
        names: list[str] = self.table[self.rows].tolist()
        return names


NO_NODES = NodeList(np.empty(0, np.object_), np.zeros(0, np.intp))
