"""Values of rows that are kept between attempts and evaluated anew only where a row has changed.

What a plugin says of a row by the row's numbers alone, such as a score by requested resources, is the same
for every pod with equal requests until a pod comes to the row or leaves it, or its node object changes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Ints = NDArray[np.int64]

FEW = 32
"""So many rows are evaluated faster than they are looked up."""

MAX_COLUMNS = 64
MAX_LOG = 20_000


@dataclass(slots=True)
class _Column:
    owner: object
    version: int
    position: int
    values: Ints
    known: NDArray[np.bool_]


class RowMemo:
    """Columns by key, and the rows that have changed, in order."""

    def __init__(self) -> None:
        self._log: list[int] = []
        self._dropped = 0
        self._columns: OrderedDict[Hashable, _Column] = OrderedDict()

    def __deepcopy__(self, memo: dict[int, Any]) -> RowMemo:
        """Return an empty one: a copied cluster evaluates its rows anew."""
        del memo
        return RowMemo()

    def changed(self, row: int) -> None:
        """Note that a row's numbers are different now."""
        if len(self._log) >= MAX_LOG:
            self._dropped += len(self._log)
            self._log.clear()
        self._log.append(row)

    def values(
        self,
        key: Hashable,
        owner: object,
        state: tuple[int, int],
        rows: Rows,
        make: Callable[[Rows], Ints],
    ) -> Ints:
        """Return what ``make`` says of the rows; a few are evaluated at once, so that what-ifs keep nothing.

        ``owner`` is what the key leaves out, compared by identity; ``state`` the version of the node objects
        and the number of rows that columns have room for.
        """
        if len(rows) <= FEW:
            return make(rows)
        version, capacity = state
        end = self._dropped + len(self._log)
        column = self._columns.get(key)
        if (
            column is None
            or column.owner is not owner
            or column.version != version
            or column.position < self._dropped
            or len(column.values) != capacity
        ):
            empty = np.zeros(capacity, np.int64)
            column = self._columns[key] = _Column(owner, version, end, empty, np.zeros(capacity, np.bool_))
            if len(self._columns) > MAX_COLUMNS:
                self._columns.popitem(last=False)
        elif column.position < end:
            column.known[self._log[column.position - self._dropped :]] = False
            column.position = end
        self._columns.move_to_end(key)
        missing = rows[~column.known[rows]]
        if len(missing):
            column.values[missing] = make(missing)
            column.known[missing] = True
        return column.values[rows]
