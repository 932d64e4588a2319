"""The sources of the results in the node × predicate matrix, as runs over the table of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scheduler_core.record.cache_record import CacheRecord

LETTERS = ".hmb-"  # for Source's numbers, and for a node that does not exist
ABSENT = len(LETTERS) - 1


def sources(record: CacheRecord | None, node_at: Sequence[int], table: int) -> list[list[list[Any]]] | None:
    """Return ``[letter, count]`` runs per predicate, over the wire's ``table`` nodes in order.

    ``None`` if no cache was consulted: it is off, or the strategy or the pod bypasses it.
    """
    if record is None or record.sources is None:
        return None
    whole = np.full((len(record.sources), table), ABSENT, np.uint8)
    whole[:, np.asarray(node_at, np.int64)] = record.sources
    return [_runs(row) for row in whole]


def _runs(row: npt.NDArray[np.uint8]) -> list[list[Any]]:
    starts = np.append(np.zeros(min(1, len(row)), np.int64), np.flatnonzero(row[1:] != row[:-1]) + 1)
    lengths = np.diff(starts, append=len(row))
    return [[LETTERS[value], count] for value, count in zip(row[starts].tolist(), lengths.tolist())]


def invalidated(record: CacheRecord | None, node_at: Sequence[int]) -> list[list[Any]]:
    """Return ``[predicate index, [node index, …] | None for all]`` of what was cleared after its lookup."""
    if record is None or record.cleared is None:
        return []
    places = np.asarray(node_at, np.int64)
    return [
        [place, None if row.all() else places[row].tolist()]
        for place, row in enumerate(record.cleared)
        if row.any()
    ]
