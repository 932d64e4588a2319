"""The heap of scored nodes, in the array of Go's container/heap, which decides between equal totals."""

from __future__ import annotations

from msgspec import Struct, field


class ScoredNode(Struct):
    """A node with its raw scores by plugin and its weighted total."""

    node: str
    raw: dict[str, int] = field(default_factory=dict)
    total: int = 0


def heapify(nodes: list[ScoredNode]) -> None:
    """Make the array a heap, greatest total first (heap.Init)."""
    for index in range(len(nodes) // 2 - 1, -1, -1):
        _sift_down(nodes, index, len(nodes))


def pop(nodes: list[ScoredNode]) -> ScoredNode:
    """Take the root; the last element takes its place and sinks (heap.Pop)."""
    last = len(nodes) - 1
    nodes[0], nodes[last] = nodes[last], nodes[0]
    _sift_down(nodes, 0, last)
    return nodes.pop()


def _sift_down(nodes: list[ScoredNode], index: int, end: int) -> None:
    while (child := 2 * index + 1) < end:
        if child + 1 < end and nodes[child + 1].total > nodes[child].total:
            child += 1
        if nodes[child].total <= nodes[index].total:
            return
        nodes[index], nodes[child] = nodes[child], nodes[index]
        index = child
