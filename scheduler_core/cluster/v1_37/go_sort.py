"""Go's ``sort.Sort``: which of equal elements comes first once there are more than twelve.

It is pattern-defeating quicksort (``sort/zsortinterface.go``), which is not stable. Quicksort that degrades
for long, which Go ends by heapsort, is ended by a stable sort here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from typing import Generic, TypeVar

Item = TypeVar("Item")
_SHORT, _NINTHER, _SHIFTING, _STEPS, _SWAPS = 12, 50, 50, 5, 12
_MASK = 2**64 - 1


def go_sorted(items: Iterable[Item], compare: Callable[[Item, Item], int]) -> list[Item]:
    """Return items in the order in which ``sort.Sort`` leaves them; ``compare`` is negative for less."""
    found = list(items)
    _Sort(found, compare).run(0, len(found), len(found).bit_length())
    return found


class _Sort(Generic[Item]):
    def __init__(self, items: list[Item], compare: Callable[[Item, Item], int]) -> None:
        self.items = items
        self.compare = compare
        self.swaps = 0

    def _less(self, one: int, other: int) -> bool:
        return self.compare(self.items[one], self.items[other]) < 0

    def _swap(self, one: int, other: int) -> None:
        items = self.items
        items[one], items[other] = items[other], items[one]

    def run(self, low: int, high: int, limit: int) -> None:
        """Sort the items from ``low`` up to ``high``."""
        balanced = partitioned = True
        while (length := high - low) > _SHORT:
            if not limit:
                self.items[low:high] = sorted(self.items[low:high], key=cmp_to_key(self.compare))
                return
            if not balanced:
                self._break_patterns(low, length)
                limit -= 1
            pivot, ascending = self._pivot(low, high)
            if balanced and partitioned and ascending and self._nearly_sorted(low, high):
                return
            if low > 0 and not self._less(low - 1, pivot):
                low = self._split_equal(low, high, pivot)
                continue
            middle, partitioned = self._split(low, high, pivot)
            left, right = middle - low, high - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self.run(low, middle, limit)
                low = middle + 1
            else:
                self.run(middle + 1, high, limit)
                high = middle
        self._insert(low, high)

    def _insert(self, low: int, high: int) -> None:
        for first in range(low + 1, high):
            place = first
            while place > low and self._less(place, place - 1):
                self._swap(place, place - 1)
                place -= 1

    def _pivot(self, low: int, high: int) -> tuple[int, bool]:
        """Return the pivot, and whether the items seem to ascend; descending ones are turned round."""
        self.swaps, quarter = 0, (high - low) // 4
        places = [low + quarter * part for part in (1, 2, 3)]
        if high - low >= _NINTHER:
            places = [self._median(place - 1, place, place + 1) for place in places]
        pivot = self._median(*places)
        if self.swaps == _SWAPS:
            self.items[low:high] = self.items[low:high][::-1]
            return high - 1 - (pivot - low), True
        return pivot, not self.swaps

    def _median(self, one: int, two: int, three: int) -> int:
        one, two = self._ordered(one, two)
        two, three = self._ordered(two, three)
        return self._ordered(one, two)[1]

    def _ordered(self, one: int, other: int) -> tuple[int, int]:
        if not self._less(other, one):
            return one, other
        self.swaps += 1
        return other, one

    def _nearly_sorted(self, low: int, high: int) -> bool:
        """Sort items of which few are out of order; return whether that is done."""
        place = low + 1
        for _ in range(_STEPS):
            while place < high and not self._less(place, place - 1):
                place += 1
            if place == high:
                return True
            if high - low < _SHIFTING:
                return False
            self._swap(place, place - 1)
            self._shift(low, high, place)
        return False

    def _shift(self, low: int, high: int, place: int) -> None:
        down, up = place - 1, place + 1
        while place - low >= 2 and down >= 1 and self._less(down, down - 1):
            self._swap(down, down - 1)
            down -= 1
        while high - place >= 2 and up < high and self._less(up, up - 1):
            self._swap(up, up - 1)
            up += 1

    def _split(self, low: int, high: int, pivot: int) -> tuple[int, bool]:
        """Move what is less than the pivot before it; return its place, and whether all was so already."""
        self._swap(low, pivot)
        left, right, done = low + 1, high - 1, True
        while True:
            while left <= right and self._less(left, low):
                left += 1
            while left <= right and not self._less(right, low):
                right -= 1
            if left > right:
                self._swap(right, low)
                return right, done
            self._swap(left, right)
            left, right, done = left + 1, right - 1, False

    def _split_equal(self, low: int, high: int, pivot: int) -> int:
        """Move what equals the pivot to the front; return where the rest begins."""
        self._swap(low, pivot)
        left, right = low + 1, high - 1
        while True:
            while left <= right and not self._less(low, left):
                left += 1
            while left <= right and self._less(low, right):
                right -= 1
            if left > right:
                return left
            self._swap(left, right)
            left, right = left + 1, right - 1

    def _break_patterns(self, low: int, length: int) -> None:
        state, bits = length, (1 << length.bit_length()) - 1
        middle = low + length // 4 * 2
        for place in range(middle - 1, middle + 2):
            state ^= state << 13 & _MASK
            state ^= state >> 7
            state ^= state << 17 & _MASK
            other = state & bits
            self._swap(place, low + (other - length if other >= length else other))
