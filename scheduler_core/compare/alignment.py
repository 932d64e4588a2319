"""Pair the cycles of two runs, so that both can be stepped through together.

A cycle is known by its pod and by how many attempts that pod had before. The longest series of cycles that
both runs have in the same order is paired; every other cycle is on its own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from scheduler_core.compare.outcome import outcome
from scheduler_core.record.cycle import Decision

Pair = tuple[int, int]  # cycle indices, left and right; 0: that run has no such cycle


class AlignedCycles(Struct, frozen=True):
    """``count`` pairs of consecutive cycles, from ``left`` and ``right`` on; 0 for a side that has none."""

    left: int
    right: int
    count: int


def aligned(left: Sequence[Decision], right: Sequence[Decision]) -> tuple[AlignedCycles, ...]:
    """Return the cycles of both runs in one order, each exactly once.

    Where the runs have different cycles between two pairs, those of the left one come first. The work is
    O(n log n) in the number of cycles.
    """
    runs: list[AlignedCycles] = []
    one = two = 1
    ends = (len(left) + 1, len(right) + 1, 0)
    for first, second, count in (*_consecutive(_common(left, right)), ends):
        if first > one:
            runs.append(AlignedCycles(one, 0, first - one))
        if second > two:
            runs.append(AlignedCycles(0, two, second - two))
        if count:
            runs.append(AlignedCycles(first, second, count))
        one, two = first + count, second + count
    return tuple(runs)


def differences(
    left: Sequence[Decision], right: Sequence[Decision], runs: Iterable[AlignedCycles]
) -> Iterator[Pair]:
    """Yield the pairs of ``runs``, as :func:`aligned` returns them, whose outcomes differ, in order.

    A cycle on its own is one.
    """
    for run in runs:
        for place in range(run.count):
            one, two = (start + place if start else 0 for start in (run.left, run.right))
            if not one or not two or outcome(left[one - 1]) != outcome(right[two - 1]):
                yield one, two


def _consecutive(pairs: Iterable[Pair]) -> Iterator[tuple[int, int, int]]:
    """Yield the first of each series of consecutive pairs, and how many there are."""
    first = second = count = 0
    for one, two in pairs:
        if count and one == first + count and two == second + count:
            count += 1
            continue
        if count:
            yield first, second, count
        first, second, count = one, two, 1
    if count:
        yield first, second, count


def _common(left: Sequence[Decision], right: Sequence[Decision]) -> list[Pair]:
    """Return the longest common subsequence of two series in which no key occurs twice, as index pairs."""
    places = {key: index for index, key in enumerate(_keys(right), 1)}
    pairs = [(index, places[key]) for index, key in enumerate(_keys(left), 1) if key in places]
    tails: list[int] = []  # of the series of each length the one that ends earliest on the right
    ends: list[int] = []  # the same as numbers in ``pairs``
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        before.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(place)
            ends.append(number)
        else:
            tails[length], ends[length] = place, number
    found: list[Pair] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _keys(decisions: Sequence[Decision]) -> Iterator[tuple[str, int]]:
    attempts: Counter[str] = Counter()
    for decision in decisions:
        attempts[decision.pod] += 1
        yield decision.pod, attempts[decision.pod]
