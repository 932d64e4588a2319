"""What is sent of the best placement of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from playground.protocol.declarations import row

_GreedNode = Annotated[Sequence[Any], row(name=str, cpu=int, memory=int)]


class GreedWire(TypedDict):
    """The best placement with its proofs and moves, and what schedulers place; ``pods``: cpu, memory."""

    step: int
    objectives: Sequence[str]
    pending: int
    nodes: Sequence[_GreedNode]
    pods: Mapping[str, Sequence[int]]
    optimum: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]
    bundle: str
