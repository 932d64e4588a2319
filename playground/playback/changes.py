"""What each cycle changed of the pods' places; of most cycles that follows from their rows."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

Placement = npt.NDArray[np.int32]
PlacementChanges = list[list[int]]  # [pod index, new node index | PENDING | ABSENT]

FEW = 50  # cycles that are applied sooner one by one
SCHEDULED = ord("s")


class ChangeLog(Sequence[PlacementChanges]):
    """The changes of each cycle, of which ``letters``, ``pods`` and ``nodes`` have a row.

    Only those of a cycle that does something else than to place its own pod are kept.
    """

    def __init__(self, letters: bytearray, pods: array[int], nodes: array[int]) -> None:
        self._letters, self._pods, self._nodes = letters, pods, nodes
        self._places: list[int] = []  # of the cycles whose changes are kept, ascending
        self._kept: list[PlacementChanges] = []

    def __len__(self) -> int:
        return len(self._letters)

    @overload
    def __getitem__(self, place: int) -> PlacementChanges: ...
    @overload
    def __getitem__(self, place: slice) -> list[PlacementChanges]: ...
    def __getitem__(self, place: int | slice) -> PlacementChanges | list[PlacementChanges]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        found = bisect_left(self._places, place)
        if found < len(self._places) and self._places[found] == place:
            return self._kept[found]
        return self._own(place)

    def _own(self, place: int) -> PlacementChanges:
        """Return what a cycle that only places its pod changes."""
        scheduled = self._letters[place] == SCHEDULED
        return [[self._pods[place], self._nodes[place]]] if scheduled else []

    def note(self, changes: PlacementChanges) -> None:
        """Keep the changes of the last cycle, whose row is there, if they do not follow from it."""
        place = len(self) - 1
        if changes != self._own(place):
            self._kept.append(changes)
            self._places.append(place)

    def until(self, last: PlacementChanges, place: int) -> ChangeLog:
        """Return the changes up to the cycle at a place, of which ``last`` are those of that cycle."""
        other = ChangeLog(self._letters, self._pods, self._nodes)
        count = bisect_left(self._places, place)
        other._places, other._kept = [*self._places[:count], place], [*self._kept[:count], last]
        return other

    def apply(self, placement: Placement, first: int, last: int) -> None:
        """Apply the changes of the cycles at places from ``first`` to before ``last``."""
        found = bisect_left(self._places, first)
        while first < last:
            kept = self._places[found] if found < len(self._places) else last
            end = min(kept, last)
            if end - first < FEW:
                changes = [change for place in range(first, end) for change in self._own(place)]
            else:
                changes = []
                self._apply_own(placement, first, end)
            if end < last:
                changes += self._kept[found]
                found += 1
            for pod, value in changes:
                placement[pod] = value
            first = end + 1

    def _apply_own(self, placement: Placement, first: int, last: int) -> None:
        scheduled = np.array(self._letters[first:last], np.uint8) == SCHEDULED
        pods, nodes = np.array(self._pods[first:last]), np.array(self._nodes[first:last])
        placement[pods[scheduled]] = nodes[scheduled]
