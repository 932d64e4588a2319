"""The heap is the original's: it neither repairs itself nor picks the true minimum."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.schedulers.kube_batch.heap import Heap


class Swapping:
    """The heap of the text, step by step with swaps."""

    def __init__(self, keys: dict[int, int]) -> None:
        self.keys, self.items = keys, list[int]()

    def less(self, one: int, other: int) -> bool:
        return self.keys[one] < self.keys[other]

    def push(self, item: int) -> None:
        self.items.append(item)
        place = len(self.items) - 1
        while place and self.less(self.items[place], self.items[(place - 1) // 2]):
            parent = (place - 1) // 2
            self.items[place], self.items[parent] = self.items[parent], self.items[place]
            place = parent

    def pop(self) -> int:
        items, last = self.items, len(self.items) - 1
        items[0], items[last] = items[last], items[0]
        place = 0
        while 2 * place + 1 < last:
            child = 2 * place + 1
            if child + 1 < last and self.less(items[child + 1], items[child]):
                child += 1
            if not self.less(items[child], items[place]):
                break
            items[place], items[child] = items[child], items[place]
            place = child
        return items.pop()


@given(st.lists(st.tuples(st.sampled_from(["push", "pop", "change"]), st.integers(0, 9), st.integers(0, 5))))
def test_it_is_the_heap_of_the_text_while_keys_change(moves: list[tuple[str, int, int]]) -> None:
    """The arrays are equal after every push and pop, whatever became of the keys of waiting items."""
    keys: dict[int, int] = dict.fromkeys(range(10), 0)
    heap: Heap[int] = Heap(lambda one, other: keys[one] < keys[other])
    model = Swapping(keys)
    for move, item, key in moves:
        if move == "change":
            keys[item] = key
        elif move == "push":
            heap.push(item)
            model.push(item)
        elif model.items:
            assert heap.pop() == model.pop()
        assert heap.items == model.items


def test_an_item_whose_order_improves_while_it_waits_stays_behind() -> None:
    """The fourth item has become the least, but nobody looks at it."""
    keys = {"a": 1, "b": 2, "c": 3, "d": 4}
    heap: Heap[str] = Heap(lambda one, other: keys[one] < keys[other], keys)
    keys["d"] = 0
    assert [heap.pop() for _ in range(4)] == ["a", "d", "b", "c"]
    heap = Heap(lambda one, other: keys[one] < keys[other], ["d"])
    assert heap.pop() == "d"
