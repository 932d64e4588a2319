"""Pods of a cluster that are left behind what is counted of them until somebody reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from scheduler_core.schedulers.columns.pods import PodState

MOST_ROWS = 100  # read one by one; then it is sooner done for all

Follow = Callable[[int | None], None]
"""Brings the pods on a row up to date, ``None``: on all rows."""


class LatePods(Sequence[dict[str, PodState]]):
    """The pods on each node, by row: a row is brought up to date when it is read.

    ``pods`` and ``rows`` are as they were when they were read last; ``catch_up`` replaces this by them.
    """

    def __init__(
        self,
        pods: dict[str, PodState],
        rows: list[dict[str, PodState]],
        follow: Follow,
        catch_up: Callable[[], None],
    ) -> None:
        self.pods = pods
        self.rows = rows
        self.follow = follow
        self._catch_up = catch_up
        self._left = MOST_ROWS

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, row: int) -> dict[str, PodState]: ...
    @overload
    def __getitem__(self, row: slice) -> list[dict[str, PodState]]: ...
    def __getitem__(self, row: int | slice) -> dict[str, PodState] | list[dict[str, PodState]]:
        self._left -= 1
        if self._left <= 0 or isinstance(row, slice):
            self._catch_up()
        else:
            self.follow(row)
        return self.rows[row]
