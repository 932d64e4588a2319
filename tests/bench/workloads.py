"""What is measured: the four shapes on clusters of four sizes, with the placements that are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Workload:
    """A cluster and pods of one shape, with what v1.11 made of them where that is known."""

    shape: str
    nodes: int
    pods: int
    #: The first 16 hex digits of the SHA-256 over the placements.
    placements: str
    #: Pods a second of v1.11 on a machine of two cores; 0 if it was not run, and the placements are ours.
    upstream: float = 0.0


MATRIX = (
    Workload("plain", 100, 1000, "9c44e5f9cc91ddf8", 3850),
    Workload("plain", 1000, 500, "e382000fe192963a"),
    Workload("plain", 5000, 300, "f26148e89daee239", 73),
    Workload("plain", 20000, 500, "c73155dedcf6b1ab"),
    Workload("node-affinity", 100, 1000, "48739774bd778b63", 1530),
    Workload("node-affinity", 1000, 500, "ae1cf9920a3709a4"),
    Workload("node-affinity", 5000, 300, "760085e88136dab0", 26),
    Workload("node-affinity", 20000, 500, "ad8258e6108905b1"),
    Workload("anti-affinity", 100, 80, "cbaa93103385883a", 1570),
    Workload("anti-affinity", 1000, 500, "f82a828993414c13"),
    Workload("anti-affinity", 5000, 200, "d2d1a052d79fa9a2", 24),
    Workload("anti-affinity", 20000, 500, "9c07dd754ffa4acc"),
    Workload("pod-affinity", 100, 500, "cad796a96cf34526", 433),
    Workload("pod-affinity", 1000, 500, "5142f4e4a87a851d"),
    Workload("pod-affinity", 5000, 100, "38d10518a994e2eb", 28),
    Workload("pod-affinity", 20000, 500, "5f8437d1e1a368f8"),
)
"""The rows with a rate of v1.11 are those that it was timed on, with its placements.

At 1,000 and 20,000 nodes the number of pods is the same, so that growth compares like with like, and the
placements recorded are our own: they change only when a decision does.
"""

SHAPES = tuple(dict.fromkeys(workload.shape for workload in MATRIX))
GROWTH = (1000, 20000)  # nodes: the time per pod on the second over that on the first

AIMS: Mapping[tuple[str, int], float] = {
    ("plain", 100): 4000,
    ("plain", 5000): 7000,
    ("node-affinity", 5000): 3000,
    ("anti-affinity", 5000): 2500,
    ("pod-affinity", 5000): 2500,
}
"""Pods a second without a trace, by shape and nodes."""
MOST_FULL_TO_OFF = 5.0  # a full trace costs at most so many times the time without
MOST_GROWTH: Mapping[str, float] = {"plain": 8.0}
MOST_MEMORY_GROWTH = 1.5  # memory a node on the largest cluster over that on the next smaller one: linear
