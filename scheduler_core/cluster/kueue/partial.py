"""Partial admission: the largest counts between ``minCount`` and ``count`` that can be admitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from scheduler_core.cluster.kueue.objects import PodSet

Found = TypeVar("Found")


def is_reducible(pod_sets: Sequence[PodSet]) -> bool:
    """Return whether some pod set may be admitted with fewer pods."""
    return any(map(_delta, pod_sets))


def _delta(pod_set: PodSet) -> int:
    return 0 if pod_set.min_count is None else max(0, pod_set.count - pod_set.min_count)


def reduce(pod_sets: Sequence[PodSet], fits: Callable[[list[int]], Found | None]) -> Found | None:
    """Search as Go's ``sort.Search`` does; what it ends with counts if it is the last that fitted."""
    deltas = list(map(_delta, pod_sets))
    whole = sum(deltas)
    low, high, last, found = 0, whole + 1, 0, None
    while low < high:
        middle = (low + high) // 2
        counts = [one.count - delta * middle // whole for one, delta in zip(pod_sets, deltas)]
        fitting = fits(counts)
        if fitting is None:
            low = middle + 1
        else:
            high, last, found = middle, middle, fitting
    return found if low == last else None
