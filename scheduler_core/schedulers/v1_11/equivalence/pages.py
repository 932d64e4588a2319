"""Browse the cache: the number of entries under each key, and the entries page by page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.v1_11.equivalence.cache import (
    BoolMatrix,
    CacheEntry,
    EquivalenceCache,
    WriteSteps,
)

Level = Literal["node", "predicate", "class"]
LEVELS: tuple[Level, ...] = ("node", "predicate", "class")


class EntryCount(Struct, frozen=True):
    """The valid entries under one key of a level: a node's name, a predicate or a class's hash."""

    key: str | int
    entries: int
    fits: int


def tallies(cache: EquivalenceCache, level: Level, order: Sequence[str]) -> list[EntryCount]:
    """Count the valid entries under each key of a level.

    Nodes are in their order, predicates in ``order``, classes by last use, the least recent first. Keys
    without entries are left out.
    """
    classes, size = list(cache.slots.items()), len(cache.nodes)
    rows = {"node": size, "class": 1 + max((slot for _, slot in classes), default=-1)}
    counted = np.zeros((2, rows.get(level, 0)), np.int64)
    found: list[EntryCount] = []
    axis = 0 if level == "node" else 1
    for key, codes, valid, _ in _matrices(cache, order):
        fits = valid & (codes == 0)
        if level == "predicate":
            found.append(EntryCount(key, int(np.count_nonzero(valid)), int(np.count_nonzero(fits))))
        else:
            for place, mask in enumerate((valid, fits)):
                counted[place] += np.count_nonzero(mask, axis=axis)[: counted.shape[1]]
    entries, fit = counted.tolist()
    if level == "node":
        found = [EntryCount(name, entries[row], fit[row]) for row, name in enumerate(cache.nodes)]
    elif level == "class":
        found = [EntryCount(number, entries[slot], fit[slot]) for number, slot in classes]
    return [row for row in found if row.entries]


def page(
    cache: EquivalenceCache,
    classes: Iterable[tuple[int, str]],
    order: Sequence[str],
    *,
    node: str | None = None,
    predicate: str | None = None,
    number: int | None = None,
    find: str = "",
    first: int = 0,
    count: int = 100,
) -> tuple[list[CacheEntry], int]:
    """Return ``count`` entries from index ``first`` on, and the total number of matching entries.

    Predicates are listed in ``order``, within each the ``classes``, given as hashes with their names, and
    within each class the nodes in their order. ``find`` matches the names of node, predicate and class.
    """
    wanted = [
        (other, name)
        for other, name in classes
        if other in cache.slots and (number is None or other == number)
    ]
    columns = np.arange(len(cache.nodes)) if node is None else np.array([cache.row(node)], np.int64)
    if not wanted or not len(columns) or columns[0] < 0:
        return [], 0
    slots = np.array([cache.slots[other] for other, _ in wanted], np.int64)
    search = find.casefold()
    named = np.array([search in name.casefold() for _, name in wanted], np.bool_)
    nodes = np.array([search in cache.nodes[column].casefold() for column in columns.tolist()], np.bool_)
    found: list[CacheEntry] = []
    total = 0
    for key, codes, valid, written in _matrices(cache, order):
        if predicate is not None and key != predicate:
            continue
        whole = np.ones_like(named) if search in key.casefold() else named
        counts = _counts(valid, slots, columns, whole, nodes)
        ends = total + np.cumsum(counts)
        for place in np.flatnonzero((ends > first) & (ends - counts < first + count)).tolist():
            slot = int(slots[place])
            mask = valid[slot, columns] if whole[place] else valid[slot, columns] & nodes
            start = int(ends[place] - counts[place])
            for column in columns[mask][max(0, first - start) : first + count - start].tolist():
                code, step = int(codes[slot, column]), int(written[slot, column])
                found.append(CacheEntry(cache.nodes[column], key, wanted[place][0], code, step))
        total = int(ends[-1])
    return found, total


def _matrices(
    cache: EquivalenceCache, order: Sequence[str]
) -> list[tuple[str, Codes, BoolMatrix, WriteSteps]]:
    place = {key: number for number, key in enumerate(order)}
    return sorted(cache.matrices(), key=lambda row: place.get(row[0], len(place)))


def _counts(
    valid: BoolMatrix, slots: IntVector, columns: IntVector, whole: BoolVector, nodes: BoolVector
) -> IntVector:
    """Count each class's valid entries, ``(classes,)``; for classes not in ``whole``, only on ``nodes``."""
    picked = valid[slots] if len(columns) == valid.shape[1] else valid[np.ix_(slots, columns)]
    every: IntVector = picked.sum(axis=1)
    return every if whole.all() else np.where(whole, every, (picked & nodes).sum(axis=1))
