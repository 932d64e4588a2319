"""Values of rows that are kept between attempts and evaluated again only where a row has changed.

A plugin's value for a row that depends on the row's numbers alone, such as a score by requested resources, is
the same for every pod with equal requests until a pod is added to the row or removed from it, or its node
object changes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Ints = NDArray[np.int64]

FEW = 32
"""So many rows are evaluated faster than they are looked up."""

FEW_CHANGED = 4
"""So many rows are looked up by their numbers, which other rows may have had before."""

MAX_COLUMNS = 64
MAX_NUMBERS = 4_096
MAX_LOG = 20_000


class _Column(Struct):
    """The values of all rows; ``changed`` are the rows without one, if they are all that have none."""

    owner: object
    version: int
    position: int
    values: Ints
    known: NDArray[np.bool_]
    changed: list[int] | None = None
    by_numbers: dict[Hashable, int] = field(default_factory=dict)

    def forget(self, rows: list[int]) -> None:
        """Note that rows have no value any more."""
        self.known[rows] = False
        if self.changed is not None:
            self.changed += rows
            if len(self.changed) > FEW_CHANGED:
                self.changed = None

    def learn(self, rows: Rows, make: Callable[[Rows], Ints], number: int) -> None:
        """Evaluate the rows that have no value, of ``number`` rows that there are."""
        missing = rows[~self.known[rows]]
        if len(missing):
            self.values[missing] = make(missing)
            self.known[missing] = True
        if len(rows) == number:
            self.changed = []

    def catch_up(self, make: Callable[[Rows], Ints], numbers: Callable[[int], Hashable]) -> None:
        """Evaluate the few rows that have changed, whether they are asked about or not."""
        for row in dict.fromkeys(self.changed or ()):
            key = numbers(row)
            value = self.by_numbers.get(key)
            if value is None:
                if len(self.by_numbers) >= MAX_NUMBERS:
                    self.by_numbers.clear()
                value = self.by_numbers[key] = int(make(np.array([row], np.intp))[0])
            self.values[row] = value
            self.known[row] = True
        self.changed = []


class RowMemo:
    """Columns by key, and the rows that have changed, in order."""

    def __init__(self) -> None:
        self._log: list[int] = []
        self._dropped = 0
        self._columns: OrderedDict[Hashable, _Column] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy as an empty one: a copied cluster evaluates its rows again."""
        return RowMemo, ()

    def changed(self, row: int) -> None:
        """Note that a row's numbers are different now."""
        if len(self._log) >= MAX_LOG:
            self._dropped += len(self._log)
            self._log.clear()
        self._log.append(row)

    def forget(self) -> None:
        """Note that the numbers of any rows are different now."""
        self._dropped += len(self._log) + 1
        self._log.clear()

    def values(
        self,
        key: Hashable,
        owner: object,
        state: tuple[int, int, int],
        rows: Rows,
        make: Callable[[Rows], Ints],
        numbers: Callable[[int], Hashable],
    ) -> Ints:
        """Return what ``make`` computes for the rows; a few at once, so that what-ifs keep nothing.

        ``owner`` is what the key leaves out, compared by identity; ``state`` the version of the node objects,
        the number of rows that columns have room for and that of rows with a node. ``numbers`` are those of
        a row that ``make`` may look at: equal numbers have equal values.
        """
        if len(rows) <= FEW:
            return make(rows)
        version, capacity, number = state
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
            column.forget(self._log[column.position - self._dropped :])
            column.position = end
        self._columns.move_to_end(key)
        if column.changed is None:
            column.learn(rows, make, number)
        else:
            column.catch_up(make, numbers)
        return column.values[rows]
