"""Pair the cycles of two runs, so that both can be stepped through together.

A cycle is known by its pod and by how many attempts that pod had before. The longest series of cycles that
both runs have in the same order is paired; every other cycle is on its own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from scheduler_core.compare.cost import outcome
from scheduler_core.scheduling.cycle import Decision

Pair = tuple[int, int]  # cycle indices, left and right; 0: that run has no such cycle


class Run(Struct, frozen=True):
    """``count`` pairs of consecutive cycles, from ``left`` and ``right`` on; 0 for a side that has none."""

    left: int
    right: int
    count: int


def aligned(left: Sequence[Decision], right: Sequence[Decision]) -> tuple[Run, ...]:
    """Return the cycles of both runs in one order, each exactly once.

    Where the runs have different cycles between two pairs, those of the left one come first. The work is
    O(n log n) in the number of cycles.
    """
    runs: list[Run] = []
    one = two = 1
    for first, second in (*_common(left, right), (len(left) + 1, len(right) + 1)):
        if first > one:
            _extend(runs, Run(one, 0, first - one))
        if second > two:
            _extend(runs, Run(0, two, second - two))
        if first <= len(left):
            _extend(runs, Run(first, second, 1))
        one, two = first + 1, second + 1
    return tuple(runs)


def differences(left: Sequence[Decision], right: Sequence[Decision]) -> Iterator[Pair]:
    """Yield the pairs of :func:`aligned` whose outcomes differ, in order; a cycle on its own is one."""
    for run in aligned(left, right):
        for place in range(run.count):
            one, two = (start + place if start else 0 for start in (run.left, run.right))
            if not one or not two or outcome(left[one - 1]) != outcome(right[two - 1]):
                yield one, two


def _extend(runs: list[Run], run: Run) -> None:
    """Append a run; one that continues the last is joined to it."""
    last = runs[-1] if runs else None
    if last is not None and all(
        (start == before + last.count) if before and start else before == start
        for before, start in ((last.left, run.left), (last.right, run.right))
    ):
        runs[-1] = Run(last.left, last.right, last.count + run.count)
    else:
        runs.append(run)


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
