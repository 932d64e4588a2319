"""Comparisons of processor time that hold on a busy machine: the least of several rounds, taken in turn."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

ROUNDS = 12
PAUSE = 0.002  # seconds after the first round, and twice as many after each further one,
LONGEST_PAUSE = 0.25  # to this
SURE = 3  # rounds before a bound counts as kept: the first may be that in which the dearer work was lucky


def least_costs(*works: Callable[[], object], sure: int = SURE) -> Iterator[list[float]]:
    """Yield the least processor seconds of each work so far, from a round on.

    What disturbs only slows, so a bound is kept where any round keeps it, as in
    ``assert any(one < two / 3 for one, two in least_costs(...))``. Neighbors take the caches for a second or
    more, and rounds of milliseconds would all be within it: pauses between them grow.
    """
    least = [math.inf] * len(works)
    for done in range(1, ROUNDS + 1):
        least = [min(cost, _seconds(work)) for cost, work in zip(least, works, strict=True)]
        if done >= sure:
            yield least
            time.sleep(min(PAUSE * 2**done, LONGEST_PAUSE))


def _seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


def growth(short: Callable[[], object], long: Callable[[], object], most: float, negligible: float) -> float:
    """Return how many times as long as ``short`` the other takes, 0 where a round says at most ``most``.

    What takes no more than ``negligible`` seconds does not grow.
    """
    times = 0.0
    for number, (brief, lengthy) in enumerate(least_costs(short, long, sure=1), 1):
        times = lengthy / brief
        if lengthy <= negligible or (number >= SURE and times <= most):
            return 0.0
    return times
