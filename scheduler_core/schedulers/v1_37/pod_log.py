"""Which pods came to rows and left them, for what follows the cluster between attempts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from scheduler_core.schedulers.v1_37.pods import CompiledPod

MAX_LOG = 50_000


class PodLog:
    """Which pods came to rows (1) or left them (-1), in order; what is kept between attempts follows it."""

    def __init__(self, dropped: int = 0) -> None:
        self._entries: list[tuple[int, CompiledPod, int]] = []
        self._rows: list[int] = []
        self._classes: list[int] = []  # of each entry
        self._places: list[list[int]] = []  # the positions of each class's entries
        self._numbers: dict[Hashable, int] = {}  # of the classes
        self.examples: list[CompiledPod] = []
        """By number of the class: what stands for its pods, which are not kept."""
        self._dropped = dropped

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy without entries: what follows them is not copied."""
        return PodLog, (self.end,)

    @property
    def start(self) -> int:
        """The position of the oldest entry."""
        return self._dropped

    @property
    def end(self) -> int:
        """The position behind the newest entry."""
        return self._dropped + len(self._entries)

    def append(self, entry: tuple[int, CompiledPod, int]) -> None:
        """Add an entry; old ones are dropped."""
        if len(self._entries) >= MAX_LOG:
            self._drop()
        row, pod, sign = entry
        number = self._numbers.setdefault(pod.class_key, len(self.examples))
        if number == len(self.examples):
            self.examples.append(pod)
            self._places.append([])
        self._places[number].append(self.end)
        self._entries.append((row, self.examples[number], sign))
        self._rows.append(row)
        self._classes.append(number)

    def skip(self) -> None:
        """Leave out many entries: what follows them begins again."""
        self._drop()
        self._dropped += 1

    def _drop(self) -> None:
        self._dropped += len(self._entries)
        self._entries.clear()
        for column in (self._rows, self._classes, *self._places):
            column.clear()

    def since(self, position: int) -> list[tuple[int, CompiledPod, int]] | None:
        """Return the entries from a position on; None if some of them were dropped.

        The pod of an entry is one of its class.
        """
        return None if position < self._dropped else self._entries[position - self._dropped :]

    def rows(self, position: int) -> list[int]:
        """Return the rows of the entries from a position on, in order."""
        return self._rows[position - self._dropped :]

    def classes(self, position: int) -> set[int]:
        """Return the classes of the entries from a position on: a number for pods with equal class keys."""
        return set(self._classes[position - self._dropped :])

    def of_classes(self, classes: Iterable[int], position: int) -> Iterator[tuple[int, int, int]]:
        """Yield class, row and sign of these classes' entries from a position on, in order."""
        places = [self._places[number] for number in classes]
        for place in sorted(at for of_one in places for at in of_one[bisect_left(of_one, position) :]):
            row, _, sign = self._entries[place - self._dropped]
            yield self._classes[place - self._dropped], row, sign
