"""The predicates as a ladder: how many nodes each one removed."""

from __future__ import annotations

import numpy as np

from scheduler_core.record.cycle import Cycle
from scheduler_core.run.v1_37.record import release_record

Rung = tuple[str, int, int]  # predicate, nodes in, nodes out


def ladder(cycle: Cycle) -> list[Rung]:
    """Return a rung for every predicate, in evaluation order; none if none ran."""
    matrix = cycle.matrix
    if matrix is None:
        return []
    alive = np.ones(matrix.codes.shape[1], dtype=np.bool_)
    if release_record(cycle) is not None:
        alive &= (matrix.codes >= 0).any(axis=0)  # v1.37's walk ends once enough nodes are feasible
    rungs: list[Rung] = []
    for position, name in enumerate(matrix.order):
        before = int(alive.sum())
        alive &= matrix.codes[position] == 0
        rungs.append((name, before, int(alive.sum())))
    return rungs


def stopped(rungs: list[Rung]) -> dict[str, int]:
    """Return how many nodes each predicate stopped, without those that stopped none."""
    return {name: before - after for name, before, after in rungs if before != after}
