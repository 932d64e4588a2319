"""The choice among equals: the root of the heap that Go's container/heap makes."""

from __future__ import annotations

import random

import numpy as np

from scheduler_core.schedulers.v1_37.node_choice import select, turns


def heap_root(totals: list[int]) -> int:
    """Sift down as container/heap.Init does, and return whose total is at the root."""
    array = list(range(len(totals)))
    for start in reversed(range(len(array) // 2)):
        at = start
        while (child := 2 * at + 1) < len(array):
            if child + 1 < len(array) and totals[array[child + 1]] > totals[array[child]]:
                child += 1
            if totals[array[child]] <= totals[array[at]]:
                break
            array[at], array[child] = array[child], array[at]
            at = child
    return array[0]


def test_the_chosen_node_is_the_root_of_the_heap() -> None:
    """For any totals, the first of the greatest in the order root, left, right is at the root."""
    chance = random.Random(7)
    for size in [*range(1, 40), 100, 1000]:
        for _ in range(20):
            totals = [chance.randrange(3) for _ in range(size)]
            assert select(np.array(totals)) == heap_root(totals)


def test_the_turns_tell_which_of_equal_nodes_is_taken() -> None:
    """Of any equal ones the one whose turn is first comes to the root."""
    chance = random.Random(11)
    for size in [*range(1, 40), 100, 1000]:
        places = turns(size)
        assert sorted(places.tolist()) == list(range(size))
        for _ in range(20):
            totals = np.array([chance.randrange(3) for _ in range(size)])
            ties = np.flatnonzero(totals == totals.max())
            assert ties[np.argmin(places[ties])] == heap_root(totals.tolist())
