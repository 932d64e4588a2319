"""The types of what is sent: worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from playground.protocol.declarations import Raw, row
from playground.protocol.settings import CacheMode


class CostWire(TypedDict):
    strategy: str
    cycles: int
    placed: int
    evaluations: int
    hits: int
    lookups: int
    writes: int
    invalidated: int
    operations: int
    bytes: int
    seconds: float
    microsecondsPerCycle: float
    firstDifference: int | None
    placementsDiffering: int


_SideCause = Annotated[Sequence[Any], row(cause=str, hits=int)]


class SideWire(TypedDict):
    cache: CacheMode
    audit: bool
    cycles: int
    placed: int
    hits: int
    evaluations: int
    stale: int
    causes: Sequence[_SideCause]


class SideDecisionWire(TypedDict):
    pod: str
    result: str
    node: str | None
    message: str
    nominated: str | None
    victims: Sequence[str]
    stale: Sequence[Annotated[Any, Raw("Omit<StaleHit, 'node'> & { node: string }")]]


class FirstDivergenceWire(TypedDict):
    index: int
    step: str
    pod: str
    here: SideDecisionWire | None
    there: SideDecisionWire | None
    words: str


class DivergenceWire(TypedDict):
    here: SideWire
    there: SideWire
    differing: int
    first: FirstDivergenceWire | None
