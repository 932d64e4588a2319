"""The equivalence cache as arrays: for each predicate a matrix of classes by nodes, with a validity mask.

It answers every lookup as the proposal's three levels of maps do, ``node -> predicate ->
equivalenceHash -> HostPredicate(fit, reasons)``: a lookup is a hit if all three keys exist. The row of a
class is read and written at once, and the column of a node is invalidated for all classes at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.record.cache_record import CacheStats
from scheduler_core.schedulers.columns.reasons import FAILED_BY_ERROR, Codes

A = TypeVar("A", bound=np.generic)
BoolMatrix = npt.NDArray[np.bool_]
WriteSteps = npt.NDArray[np.int32]

MAX_CLASSES = 4096
MAX_BYTES = 128 * 1024 * 1024
FIRST_SLOTS = 4
ENTRY_BYTES = 2 + 1 + 4  # code, valid, written


class CacheEntry(Struct, frozen=True):
    """One valid entry. ``code`` indexes the cluster's reason table, ``step`` is the cycle that wrote it."""

    node: str
    predicate: str
    hash: int
    code: int
    step: int


class _Plane:
    """One predicate's entries: ``(classes, nodes)`` each of int16 codes, bool validity, int32 steps."""

    __slots__ = ("codes", "valid", "written")

    def __init__(self, slots: int, size: int) -> None:
        self.codes = np.zeros((slots, size), np.int16)
        self.valid = np.zeros((slots, size), np.bool_)
        self.written = np.zeros((slots, size), np.int32)

    def rearranged(self, slots: IntVector, capacity: int, columns: IntVector | None = None) -> _Plane:
        """Return a plane of these slots, in this order, and these columns (-1: a new node).

        It has room for ``capacity`` classes.
        """
        size = self.codes.shape[1] if columns is None else len(columns)
        fresh = _Plane(capacity, size)
        kept = slice(len(slots))
        if columns is None:
            fresh.codes[kept], fresh.valid[kept] = self.codes[slots], self.valid[slots]
            fresh.written[kept] = self.written[slots]
            return fresh
        there = np.flatnonzero(columns >= 0)
        picked = np.ix_(slots, columns[there])
        placed = np.ix_(np.arange(len(slots)), there)
        fresh.codes[placed], fresh.valid[placed] = self.codes[picked], self.valid[picked]
        fresh.written[placed] = self.written[picked]
        return fresh


class EquivalenceCache:
    """Predicate results of equivalent pods on the given nodes, whose row numbers all vectors are in.

    Bounded by classes and bytes: the least recently used class (looked up or written) is evicted first, with
    all its entries; at least one class is kept.
    """

    def __init__(
        self, nodes: Sequence[str], *, max_classes: int = MAX_CLASSES, max_bytes: int = MAX_BYTES
    ) -> None:
        self.max_classes = max_classes
        self.max_bytes = max_bytes
        self._nodes = tuple(nodes)
        self._index = {name: row for row, name in enumerate(self._nodes)}
        self._planes: dict[str, _Plane] = {}
        self._slots: dict[int, int] = {}  # hash to slot, the least recently used first
        self._free: list[int] = []
        self._capacity = 0
        self._entries = 0
        self._evicted = (0, 0)
        self._moved: dict[str | None, IntVector] = {}  # how often a node's entries were invalidated

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes, by row."""
        return self._nodes

    def row(self, node: str) -> int:
        """Return a node's row, -1 if it has none."""
        return self._index.get(node, -1)

    # Used by scheduling

    def lookup(self, number: int, predicate: str, rows: IntVector | None = None) -> tuple[Codes, BoolVector]:
        """Return codes ``(R,) int16`` and their validity ``(R,) bool``, for some rows or for all nodes.

        An invalid code is meaningless. The arrays for all nodes are views that must be read before anything
        is written or invalidated.
        """
        slot, plane = self._slots.get(number), self._planes.get(predicate)
        if slot is not None:
            self._slots[number] = self._slots.pop(number)
        if slot is None or plane is None:
            size = len(self._nodes) if rows is None else len(rows)
            return np.zeros(size, np.int16), np.zeros(size, np.bool_)
        if rows is None:
            return _read_only(plane.codes[slot]), _read_only(plane.valid[slot])
        return plane.codes[slot, rows], plane.valid[slot, rows]

    def write(
        self,
        number: int,
        predicate: str,
        codes: Codes | None,
        step: int,
        *,
        rows: IntVector | None = None,
        generations: IntVector | None = None,
    ) -> int:
        """Store a predicate's result for a class and return how many entries were created or updated.

        ``codes`` is ``(R,) int16`` for ``rows`` or for all nodes, ``None`` if the pod fits on every one.
        Nothing is stored where the predicate raised an error (EquivalenceCache.RunPredicate returns before it
        writes). ``generations`` are :meth:`generations` from before the evaluation: rows that have been
        invalidated since are skipped (#67308).
        """
        targets = np.arange(len(self._nodes)) if rows is None else rows
        stored = np.zeros(len(targets), np.int16) if codes is None else codes
        keep = stored != FAILED_BY_ERROR
        if generations is not None:
            keep &= self.generations(predicate, targets) == generations
        if not keep.all():
            targets, stored = targets[keep], stored[keep]
        if not len(targets):
            return 0
        plane = self._planes.get(predicate) or self._add_plane(predicate)
        slot = self._slot(number)
        plane = self._planes[predicate]  # an eviction or resize may have rearranged it
        self._entries += len(targets) - int(np.count_nonzero(plane.valid[slot, targets]))
        plane.codes[slot, targets] = stored
        plane.valid[slot, targets] = True
        plane.written[slot, targets] = step
        return len(targets)

    def invalidate(self, predicates: Iterable[str] | None, rows: IntVector | None) -> int:
        """Invalidate entries of all classes and return how many; ``None``: all predicates, or all nodes.

        ``rows`` must contain no row twice.
        """
        keys = tuple(self._planes) if predicates is None else tuple(predicates)
        place = slice(None) if rows is None else rows
        for key in (None,) if predicates is None else keys:
            if key not in self._moved:
                self._moved[key] = np.zeros(len(self._nodes), np.int64)
            self._moved[key][place] += 1
        cleared = 0
        for key in keys:
            plane = self._planes.get(key)
            if plane is None:
                continue
            count = int(np.count_nonzero(plane.valid[:, place]))
            if count:
                plane.valid[:, place] = False
                cleared += count
        self._entries -= cleared
        return cleared

    def generations(self, predicate: str, rows: IntVector | None = None) -> IntVector:
        """Return how often a predicate's entries on each node were invalidated, ``(R,) int64``.

        Read before an evaluation and passed to :meth:`write`, they identify results that an event made stale
        (v1.12's NodeCache generations, #67308). They do not survive :meth:`remap`.
        """
        size = len(self._nodes)
        total = sum(
            (self._moved[key] for key in (None, predicate) if key in self._moved), np.zeros(size, np.int64)
        )
        return total if rows is None else total[rows]

    # The node list

    def remap(self, nodes: Sequence[str]) -> int:
        """Adopt a new list of nodes, by name; return how many entries were lost with the removed nodes."""
        fresh = tuple(nodes)
        if fresh == self._nodes:
            self._nodes = fresh  # so that the caller recognizes it by identity
            return 0
        columns = np.array([self._index.get(name, -1) for name in fresh], np.int64)
        before = self._entries
        slots = self._taken()
        self._planes = {
            key: plane.rearranged(slots, self._capacity, columns) for key, plane in self._planes.items()
        }
        self._renumber()
        self._moved.clear()
        self._nodes, self._index = fresh, {name: row for row, name in enumerate(fresh)}
        self._entries = sum(int(np.count_nonzero(plane.valid)) for plane in self._planes.values())
        lost = before - self._entries
        self._fit()
        return lost

    # Used by views

    @property
    def stats(self) -> CacheStats:
        """The current size of the cache and its evictions."""
        size = self._capacity * len(self._nodes) * len(self._planes) * ENTRY_BYTES
        return CacheStats(self._entries, size, len(self._slots), len(self._planes), *self._evicted)

    def written(self, number: int, predicate: str, row: int) -> int | None:
        """Return the step at which an entry was written, ``None`` if it is not valid."""
        slot, plane = self._slots.get(number), self._planes.get(predicate)
        if slot is None or plane is None or not plane.valid[slot, row]:
            return None
        return int(plane.written[slot, row])

    def matrices(self) -> Iterator[tuple[str, Codes, BoolMatrix, WriteSteps]]:
        """Yield each predicate's codes, validity and write steps, ``(classes, N)`` each.

        These are views that must be read before anything is written or invalidated.
        The row of a class is in :attr:`slots`; other rows have no valid entries.
        """
        for key, plane in self._planes.items():
            yield key, _read_only(plane.codes), _read_only(plane.valid), _read_only(plane.written)

    @property
    def slots(self) -> Mapping[int, int]:
        """The row of each class by hash, the least recently used first."""
        return self._slots

    def entries(
        self,
        *,
        node: str | None = None,
        predicate: str | None = None,
        number: int | None = None,
        limit: int = 200,
    ) -> tuple[list[CacheEntry], int]:
        """Return the valid entries, optionally filtered by node, predicate and class.

        At most ``limit`` are listed, by predicate, class and node; the second value counts all of them.
        """
        found: list[CacheEntry] = []
        total = 0
        column = slice(None) if node is None else slice(self.row(node), self.row(node) + 1)
        if node is not None and node not in self._index:
            return found, total
        wanted = self._slots if number is None else {n: s for n, s in self._slots.items() if n == number}
        for key in (
            self._planes if predicate is None else [key for key in (predicate,) if key in self._planes]
        ):
            plane = self._planes[key]
            for known, slot in wanted.items():
                rows = np.flatnonzero(plane.valid[slot, column]) + (column.start or 0)
                total += len(rows)
                for row in rows[: max(0, limit - len(found))].tolist():
                    code, step = int(plane.codes[slot, row]), int(plane.written[slot, row])
                    found.append(CacheEntry(self._nodes[row], key, known, code, step))
        return found, total

    # Room

    def _room(self, planes: int) -> int:
        """Return how many classes fit with this number of predicates."""
        each = ENTRY_BYTES * max(1, len(self._nodes)) * max(1, planes)
        return max(1, min(self.max_classes, self.max_bytes // each))

    def _add_plane(self, predicate: str) -> _Plane:
        self._fit(1)
        plane = self._planes[predicate] = _Plane(self._capacity, len(self._nodes))
        return plane

    def _slot(self, number: int) -> int:
        known = self._slots.pop(number, None)
        if known is None:
            room = self._room(len(self._planes))
            if len(self._slots) >= room:
                self._evict()
            if not self._free:
                self._resize(min(room, max(FIRST_SLOTS, 2 * self._capacity)))
            known = self._free.pop()
        self._slots[number] = known
        return known

    def _fit(self, more_planes: int = 0) -> None:
        """Evict classes until the rest fit with this number of additional predicates."""
        room = self._room(len(self._planes) + more_planes)
        while len(self._slots) > room:
            self._evict()
        if self._capacity > room:
            self._resize(room)

    def _evict(self) -> None:
        number = next(iter(self._slots))
        slot = self._slots.pop(number)
        lost = 0
        for plane in self._planes.values():
            lost += int(np.count_nonzero(plane.valid[slot]))
            plane.valid[slot] = False
        self._free.append(slot)
        self._entries -= lost
        self._evicted = (self._evicted[0] + 1, self._evicted[1] + lost)

    def _resize(self, capacity: int) -> None:
        slots = self._taken()
        self._planes = {key: plane.rearranged(slots, capacity) for key, plane in self._planes.items()}
        self._capacity = capacity
        self._renumber()

    def _taken(self) -> IntVector:
        return np.array(list(self._slots.values()), np.int64)

    def _renumber(self) -> None:
        self._slots = {number: slot for slot, number in enumerate(self._slots)}
        self._free = list(range(self._capacity - 1, len(self._slots) - 1, -1))


def _read_only(vector: npt.NDArray[A]) -> npt.NDArray[A]:
    view = vector.view()
    view.flags.writeable = False
    return view
