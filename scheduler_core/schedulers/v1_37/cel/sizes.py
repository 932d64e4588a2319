"""Arithmetic of estimates: unsigned 64-bit numbers that stop at their greatest (cel-go's checker/cost.go)."""

from __future__ import annotations

import math
from typing import NamedTuple

MAX = 2**64 - 1
"""What is not known."""


def plus(one: int, other: int) -> int:
    """Add."""
    return min(one + other, MAX)


def times(one: int, other: int) -> int:
    """Multiply."""
    return min(one * other, MAX)


def scaled(number: int, factor: float) -> int:
    """Multiply by a cost factor, rounded up."""
    exact = float(number)
    if exact > 0 and factor > 0 and exact > MAX / factor:
        return MAX
    return min(math.ceil(exact * factor), MAX)


class Size(NamedTuple):
    """The least and the greatest size of a value."""

    low: int
    high: int

    def plus(self, other: Size) -> Size:
        """Add."""
        return Size(plus(self.low, other.low), plus(self.high, other.high))

    def times(self, other: Size) -> Size:
        """Multiply."""
        return Size(times(self.low, other.low), times(self.high, other.high))

    def union(self, other: Size) -> Size:
        """Return the range of both."""
        return Size(min(self.low, other.low), max(self.high, other.high))


UNKNOWN = Size(0, MAX)


def fixed(size: int) -> Size:
    """Return the size of a value whose size is known."""
    return Size(size, size)


class ElementSizes(NamedTuple):
    """The sizes of keys and values of a list or map."""

    kind: str
    key: Size
    value: Size

    def union(self, other: ElementSizes | None) -> ElementSizes | None:
        """Return the ranges of both; of one that is not known, nothing."""
        if other is None:
            return None
        return ElementSizes(self.kind, self.key.union(other.key), self.value.union(other.value))
