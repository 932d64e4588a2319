from __future__ import annotations

import random

from scheduler_core.schedulers.v1_37.node_heap import ScoredNode, heapify, pop


def test_the_root_is_always_the_greatest() -> None:
    """Popping to the end yields the totals in descending order."""
    chance = random.Random(7)
    for size in range(1, 30):
        totals = [chance.randrange(6) for _ in range(size)]
        nodes = [ScoredNode(str(i), {}, total) for i, total in enumerate(totals)]
        heapify(nodes)
        assert [pop(nodes).total for _ in range(size)] == sorted(totals, reverse=True)


def test_equal_totals_come_in_the_order_of_the_array() -> None:
    """With six equal nodes the last one takes the root's place each time, as in Go."""
    nodes = [ScoredNode(name, {}, 1) for name in "abcdef"]
    heapify(nodes)
    assert [pop(nodes).node for _ in range(6)] == list("afedcb")


def test_a_right_child_wins_only_if_strictly_greater() -> None:
    """Of two equal children the left one rises."""
    nodes = [ScoredNode("a", {}, 1), ScoredNode("b", {}, 2), ScoredNode("c", {}, 2)]
    heapify(nodes)
    assert nodes[0].node == "b"
