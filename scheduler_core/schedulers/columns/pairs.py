"""Pods counted by class and row many at once, and what they sum up to on each row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector

BINS = 8  # per pod: pairs are sorted where there may be more of them


def counted(classes: IntVector, rows: IntVector, size: int) -> Iterator[tuple[int, IntVector, IntVector]]:
    """Yield each class of some pods, ascending, with their rows, all different, and how many are on each.

    ``classes`` and ``rows`` are ``(pods,) int64``; rows are below ``size``.
    """
    numbers, there, counts = _pairs(classes, rows, size)
    ends = np.flatnonzero(np.diff(numbers, append=-1)) + 1
    for first, end in pairwise([0, *ends.tolist()]):
        yield int(numbers[first]), there[first:end], counts[first:end]


def _pairs(classes: IntVector, rows: IntVector, size: int) -> tuple[IntVector, IntVector, IntVector]:
    """Return the pairs of class and row, in order, and how often each occurs: three ``(pairs,) int64``."""
    present = np.flatnonzero(np.bincount(classes))
    if len(present) * size > BINS * len(rows):
        pairs, counts = np.unique(classes * size + rows, return_counts=True)
        numbers, there = np.divmod(pairs, size)
        return numbers, there, counts
    numbered = np.bincount(np.searchsorted(present, classes) * size + rows)
    pairs = np.flatnonzero(numbered)
    numbers, there = np.divmod(pairs, size)
    return present[numbers], there, numbered[pairs]


def totals(rows: IntVector, amounts: IntVector) -> IntVector:
    """Return the sum of a row's amounts up to each of them, ``(amounts,) int64`` all."""
    order = np.argsort(rows, kind="stable")
    sums = np.cumsum(amounts[order])
    firsts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    before = sums[firsts] - amounts[order][firsts]
    found = np.empty_like(sums)
    found[order] = sums - np.repeat(before, np.diff(firsts, append=len(rows)))
    return found
