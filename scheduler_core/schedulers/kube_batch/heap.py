"""The binary heap in which queues, jobs and tasks wait (util.PriorityQueue over container/heap).

Orders are evaluated when items are compared and a heap is never repaired: an item whose order changes while
it waits stays where it is. That changes decisions, so this has to be the very same heap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class Heap(Generic[T]):
    """An array heap by a strict order; ``items`` is the array as it is."""

    __slots__ = ("_less", "items")

    def __init__(self, less: Callable[[T, T], bool], items: Iterable[T] = ()) -> None:
        self._less = less
        self.items: list[T] = []
        for item in items:
            self.push(item)

    def __len__(self) -> int:
        return len(self.items)

    def push(self, item: T) -> None:
        """Append an item and move it up while it is less than its parent (heap.Push)."""
        items, less = self.items, self._less
        items.append(item)
        place = len(items) - 1
        while place:
            parent = (place - 1) // 2
            if not less(item, items[parent]):
                break
            items[place] = items[parent]
            place = parent
        items[place] = item

    def pop(self) -> T:
        """Remove and return the first item; the last one takes its place and moves down (heap.Pop).

        Raises:
            IndexError: The heap is empty.
        """
        items, less = self.items, self._less
        last = items.pop()
        if not items:
            return last
        first, size, place = items[0], len(items), 0
        while (child := 2 * place + 1) < size:
            if child + 1 < size and less(items[child + 1], items[child]):
                child += 1
            if not less(items[child], last):
                break
            items[place] = items[child]
            place = child
        items[place] = last
        return first
