"""Which pods are Terminating after every cycle: deleted, and there until their kubelet has ended them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable

from playground.playback.tables import Tables

TerminatingChanges = list[list[int]]  # [pod index, 1: it is from now on, 0: no more]


class TerminatingTrail:
    """Changes by cycle; rows that were stored before pods could be Terminating have none."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._given = {
            place for place, pod in enumerate(tables.pods[: tables.known]) if pod.meta.deletion_timestamp
        }
        self._now = set(self._given)
        self._cycles = array("i")  # of each change, ascending
        self._changes: TerminatingChanges = []

    def look(self, index: int, keys: Collection[str]) -> None:
        """Record what changed by the end of cycle ``index``: these are the keys of Terminating pods then."""
        if keys or self._now:
            self.extend(index, self.different(keys))

    def different(self, keys: Collection[str]) -> TerminatingChanges:
        """Return how these keys differ from what is after the last cycle, without recording it."""
        pods = self._tables.pod_index
        found = {pods[key] for key in keys if key in pods}
        return [
            *([pod, 1] for pod in sorted(found - self._now)),
            *([pod, 0] for pod in sorted(self._now - found)),
        ]

    def extend(self, index: int, changes: Iterable[list[int]]) -> None:
        """Add the changes of a cycle."""
        for pod, is_from_now in changes:
            (self._now.add if is_from_now else self._now.discard)(pod)
            self._cycles.append(index)
            self._changes.append([pod, is_from_now])

    @property
    def now(self) -> Collection[int]:
        """The pods that are Terminating after the last cycle."""
        return self._now

    def of(self, index: int) -> TerminatingChanges:
        """Return what changed in a cycle."""
        return self._changes[bisect_left(self._cycles, index) : bisect_left(self._cycles, index + 1)]

    def before(self, index: int) -> list[int]:
        """Return the pods that are Terminating before a cycle, ascending."""
        found = dict.fromkeys(self._given, 1)
        found.update((pod, now) for pod, now in self._changes[: bisect_left(self._cycles, index)])
        return sorted(pod for pod, now in found.items() if now)
