"""Which pods came to rows and left them, for what follows the cluster between attempts."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from scheduler_core.schedulers.v1_37.pods import CompiledPod

MAX_LOG = 50_000


class PodLog:
    """Which pods came to rows (1) or left them (-1), in order; what is kept between attempts follows it."""

    def __init__(self, dropped: int = 0) -> None:
        self._entries: list[tuple[int, CompiledPod, int]] = []
        self._rows: list[int] = []
        self._classes: list[int] = []  # of each entry
        self._numbers: dict[Hashable, int] = {}  # of the classes
        self.examples: list[CompiledPod] = []
        """By number of the class: what stands for its pods, which are not kept."""
        self._dropped = dropped

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy without entries: what follows them is not copied."""
        return PodLog, (self.end,)

    @property
    def end(self) -> int:
        """The position behind the newest entry."""
        return self._dropped + len(self._entries)

    def append(self, entry: tuple[int, CompiledPod, int]) -> None:
        """Add an entry; old ones are dropped."""
        if len(self._entries) >= MAX_LOG:
            self._dropped += len(self._entries)
            for column in (self._entries, self._rows, self._classes):
                column.clear()
        row, pod, sign = entry
        number = self._numbers.setdefault(pod.class_key, len(self.examples))
        if number == len(self.examples):
            self.examples.append(pod)
        self._entries.append((row, self.examples[number], sign))
        self._rows.append(row)
        self._classes.append(number)

    def since(self, position: int) -> list[tuple[int, CompiledPod, int]] | None:
        """Return the entries from a position on; None if some of them were dropped.

        The pod of an entry is one of its class.
        """
        return None if position < self._dropped else self._entries[position - self._dropped :]

    def rows(self, position: int) -> list[int]:
        """Return the rows of the entries from a position on, in order."""
        return self._rows[position - self._dropped :]

    def classes(self, position: int) -> list[int]:
        """Return a number for each entry from a position on: the same for pods with equal class keys."""
        return self._classes[position - self._dropped :]
