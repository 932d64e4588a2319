"""What is sent of the best placement of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict

from playground.protocol.declarations import row
from scheduler_core.compare.optimum.greed import PlacementFigures

_GreedNode = Annotated[Sequence[Any], row(name=str, cpu=int, memory=int)]


class GreedRowWire(TypedDict):
    """A scheduler's placement; the figures are null where it cannot run, and `why` says so."""

    scheduler: str
    figures: PlacementFigures | None
    why: str
    leftOut: Sequence[str]
    verdict: Literal["", "improved", "optimal", "equal", "other"]
    means: str


class OptimumWire(TypedDict):
    """The best placement, with a proof for each objective and the moves that lead to it."""

    feasible: bool
    proofs: Sequence[Mapping[str, Any]]
    placements: Mapping[str, str]
    pending: Sequence[str]
    moves: Sequence[Mapping[str, Any]]
    leftOut: Sequence[str]
    unsearched: Sequence[str]
    evicted: Sequence[str]


class GreedWire(TypedDict):
    """The best placement with its proofs and moves, and what schedulers place; `pods`: cpu, memory.

    `bundle` makes the moves one after the other, under v1.37.
    """

    step: int
    objectives: Sequence[str]
    pending: int
    nodes: Sequence[_GreedNode]
    pods: Mapping[str, Sequence[int]]
    optimum: OptimumWire
    rows: Sequence[GreedRowWire]
    bundle: str
