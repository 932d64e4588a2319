"""The types of what is sent: descheduling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Never, NotRequired, TypedDict

from playground.protocol.declarations import row


class DeschedulerPassWire(TypedDict):
    number: int
    time: float
    cause: str
    evicted: int
    refused: int
    violations: int
    spread: Mapping[str, int]


_DeschedulerUtilizationNode = Annotated[
    Sequence[Any], row(node=str, category=str, usage=Mapping[str, int], cordoned=bool)
]


class DeschedulerUtilizationWire(TypedDict):
    """The nodes by a utilization strategy: thresholds and usage in percent."""

    low: Mapping[str, int]
    high: Mapping[str, int]
    nodes: Sequence[_DeschedulerUtilizationNode]
    counts: Mapping[str, int]


_DeschedulerStrategyCandidate = Annotated[Sequence[Any], row(pod=str, node=str, outcome=str, reason=str)]


class DeschedulerStrategyWire(TypedDict):
    name: str
    profile: str
    point: str
    stopped: str
    candidates: Sequence[_DeschedulerStrategyCandidate]
    candidateCount: int
    outcomes: Mapping[str, int]
    utilization: DeschedulerUtilizationWire | None


class DeschedulerRunWire(TypedDict):
    time: float
    edition: str
    dryRun: bool
    nodeCount: int
    skipped: str
    strategies: Sequence[DeschedulerStrategyWire]


_DeschedulerReturn = Annotated[Sequence[Any], row(workload=str, node=str, times=int)]


class DeschedulerPartWire(TypedDict):
    """The descheduler until a step, the last pass in full; `spread` is null before the end of a run."""

    passes: Sequence[DeschedulerPassWire]
    passCount: int
    spread: Mapping[str, int] | None
    returns: Sequence[_DeschedulerReturn]
    last: DeschedulerRunWire | None
    why: NotRequired[Never]
