"""Nodes that are alike for a class of pods: equal in all that its scores are made of, so scored once for all.

The feasible nodes are numbered by the values of some columns. A cycle changes the number of one node, and
scores one node of each number, the first of them in the order in which equal totals are taken.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

SCORED_ALONE = 64
"""So many nodes are scored as fast as those of them that differ."""

CHOSEN_ALONE = 4
"""A class has so many choices before its nodes are compared, which takes as long as some choices."""

FEWER_ALIKE = 4
"""Nodes are scored by those that differ if these are so many times fewer."""

MOST_CHANGED = 48
"""Nodes that change between two choices of a class; after more of them all are compared again."""

BLOCK = 256
"""Places that are looked through before all others, and are counted together."""


class AlikeNodes:
    """The feasible places by what they are alike in.

    ``columns`` have a value for each place, and change in place; ``feasible`` says which places count.
    ``in_order`` sorts feasible places as they are taken among equal totals.
    """

    def __init__(
        self, columns: Sequence[NDArray[Any]], feasible: Mask, in_order: Callable[[Rows], Rows]
    ) -> None:
        self._columns = columns
        self._feasible = feasible
        self._in_order = in_order
        self._codes = np.full(len(feasible), -1, np.int32)  # by place
        self._numbers: dict[Hashable, int] = {}
        self._sizes = np.zeros(64, np.int64)  # by number
        self._first = np.zeros(64, np.int64)  # by number: the place that is taken first
        self._listing: Rows = np.zeros(0, np.intp)  # places, in the order in which equal ones are taken
        self._listed = self._codes[:0]  # their numbers
        self._turn = np.zeros(len(feasible), np.int64)  # where a place is in that order
        self._moved, self._left = array("i"), array("i")  # turns whose number has changed, what it was before
        self._in_blocks: Ints | None = None  # by number and block of turns: how many places have it there
        self._ended: list[int] = []  # numbers that were chosen among, and where their places are by block
        self._ends: Ints = self._sizes[:0]
        self._start = -1
        self.places: Rows = self._listing
        """The feasible places in the order of the walk."""
        self._number(np.flatnonzero(feasible))

    @property
    def are_few(self) -> bool:
        """Whether so few places differ that scoring these alone is worth it."""
        return bool(np.count_nonzero(self._sizes) * FEWER_ALIKE <= len(self._feasible))

    def _number(self, places: Rows) -> None:
        codes = np.zeros(len(places), np.int64)
        for column in self._columns:
            _, own = np.unique(column[places], return_inverse=True)
            _, codes = np.unique(codes * (int(own.max(initial=0)) + 1) + own, return_inverse=True)
        _, examples = np.unique(codes, return_index=True)
        found = np.array([self._number_of(place) for place in places[examples].tolist()], np.int32)
        self._codes[places] = found[codes]
        np.add.at(self._sizes, self._codes[places], 1)

    def _number_of(self, place: int) -> int:
        key = tuple([column.item(place) for column in self._columns])
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            if number >= len(self._sizes):
                more = np.zeros(len(self._sizes), np.int64)
                self._sizes, self._first = (np.append(one, more) for one in (self._sizes, self._first))
                if self._in_blocks is not None:
                    blocks = np.zeros((len(more), self._in_blocks.shape[1]), np.int64)
                    self._in_blocks = np.concatenate((self._in_blocks, blocks))
        return number

    def renew(self, places: Iterable[int]) -> None:
        """Number places again whose values, or whose feasibility, may have changed."""
        for place in places:
            old = int(self._codes[place])
            new = self._number_of(place) if self._feasible[place] else -1
            if old == new:
                continue
            self._codes[place] = new
            if old >= 0:
                self._sizes[old] -= 1
            if new >= 0:
                self._sizes[new] += 1
            if old < 0 or new < 0:
                self._start = -1
            elif self._start >= 0:
                self._move(place, old, new)

    def _move(self, place: int, old: int, new: int) -> None:
        """Keep the first places of two numbers, of which a place leaves one and comes to the other."""
        turn = self._turn.item(place)
        self._listed[turn] = new
        self._moved.append(turn)
        self._left.append(old)
        if self._in_blocks is not None:
            self._in_blocks[old, turn // BLOCK] -= 1
            self._in_blocks[new, turn // BLOCK] += 1
            more = (new in self._ended) - (old in self._ended)
            if more:
                self._ends[turn // BLOCK :] += more
        if self._sizes[new] == 1 or turn < self._turn[self._first[new]]:
            self._first[new] = place
        if self._first[old] == place and self._sizes[old]:
            near = self._listed[turn : turn + BLOCK] == old
            found = int(near.argmax())
            if not near[found]:
                found = int((self._listed[turn:] == old).argmax())
            self._first[old] = self._listing[turn + found]

    def begin(self, start: int) -> None:
        """Walk from a place on."""
        if start == self._start:
            return
        places = self._feasible.nonzero()[0]
        cut = int(places.searchsorted(start)) if start else 0
        self.places = np.concatenate((places[cut:], places[:cut])) if cut else places
        self._listing = self._in_order(self.places)
        self._listed = self._codes[self._listing]
        self._turn[self._listing] = np.arange(len(places))
        self._first[self._listed[::-1]] = self._listing[::-1]  # the last one written is the first in order
        self._moved, self._left, self._in_blocks = array("i"), array("i"), None
        self._ended, self._start = [], start

    def different(self) -> tuple[Rows, Rows]:
        """Return the numbers that places have, and the first place of each."""
        numbers = self._sizes.nonzero()[0]
        return numbers, self._first[numbers]

    def foremost(self, numbers: Rows) -> int:
        """Return the place that the heap takes of those that have any of these numbers."""
        places = self._first[numbers]
        return int(places[0] if len(places) == 1 else places[self._turn[places].argmin()])

    def sizes(self, numbers: Rows) -> Ints:
        """Return how many places have each number."""
        return self._sizes[numbers]

    def best(self, numbers: Rows, values: Ints) -> tuple[int, Rows, int]:
        """Return the highest value, the numbers that have it, and how many places have these."""
        listed = values.tolist()
        most = max(listed)
        found = numbers[values == most]
        return most, found, sum(self._sizes[found].tolist())

    def chosen(self, numbers: Rows, tie: int) -> int:
        """Return a place among those that have any of these numbers: the one that ``tie`` of them precede."""
        ends = self._ends_of(numbers.tolist())
        block = ends.searchsorted(tie, "right").item()
        first = block * BLOCK
        turns = _having(self._listed[first : first + BLOCK], numbers).nonzero()[0]
        return self._listing.item(first + turns.item(tie - (ends.item(block - 1) if block else 0)))

    def _ends_of(self, numbers: list[int]) -> Ints:
        """Return by block how many places up to its end have any of these numbers."""
        if self._in_blocks is None:
            self._in_blocks = self._counted()
        if self._ended != numbers:
            self._ended, self._ends = numbers, self._in_blocks[numbers].sum(0).cumsum()
        return self._ends

    def _counted(self) -> Ints:
        """Count places by number and block of turns."""
        size = len(self._listed)
        counts = np.zeros((len(self._sizes), size // BLOCK + 1), np.int64)
        np.add.at(counts, (self._listed, np.arange(size) // BLOCK), 1)
        return counts

    def listed(self) -> Listed:
        """Return the places with the numbers that they have now."""
        return Listed(self._listing, self._listed, self._moved, self._left, len(self._moved), self.places)


class Listed(NamedTuple):
    """Places as they are taken, with their numbers at some moment: what changed ``since`` is undone."""

    listing: Rows
    listed: NDArray[np.int32]
    moved: array[int]
    left: array[int]
    since: int
    places: Rows

    def numbers(self) -> NDArray[np.int32]:
        """Return the numbers of the listing."""
        out = self.listed.copy()
        out[np.array(self.moved[self.since :][::-1])] = self.left[self.since :][::-1]  # the earliest last
        return out

    def tied(self, numbers: Rows) -> Rows:
        """Return the places that have any of these numbers, as they are taken."""
        return self.listing[_having(self.numbers(), numbers)]

    def spread(self, numbers: Rows, values: Ints) -> Ints:
        """Return an array of values, given by number, in the order of the walk."""
        table = np.zeros(int(numbers[-1]) + 1, np.int64)
        table[numbers] = values
        by_place = np.zeros(int(self.places.max()) + 1, np.int64)
        by_place[self.listing] = table[self.numbers()]
        return by_place[self.places]


def _having(listed: NDArray[np.int32], numbers: Rows) -> Mask:
    """Return which of the listed numbers are any of these."""
    found: Mask = listed == numbers[0]
    for number in numbers[1:].tolist():
        found |= listed == number
    return found
