"""The types of what is sent: network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Never, NotRequired, TypedDict

from playground.protocol.declarations import row

_NetworkClassRequest = Annotated[Sequence[Any], row(cpu=int, memory=int, ephemeral=int)]
_NetworkClassArc = Annotated[
    Sequence[Any], row(to=str, machines=int, flow=int, capacity=int, cost=int, paid=int)
]


class NetworkClassWire(TypedDict):
    """Arcs of a task class: the amounts are numbers of pods, the costs those of the CPU-memory cost model."""

    name: str
    first: str
    request: _NetworkClassRequest
    tasks: int
    unscheduled: int
    refused: Mapping[str, int]
    arcs: Sequence[_NetworkClassArc]
    arcCount: int


class NetworkPhaseWire(TypedDict):
    kind: str
    cost: int
    unscheduled: int
    dropped: Sequence[str]
    classes: Sequence[NetworkClassWire]
    classCount: int


_NetworkPath = Annotated[
    Sequence[Any],
    row(pod=str, phase=int, of=str, node=str, index=int, cost=int, next=str, nextCost=int, why=str),
]
_NetworkLeftAlone = Annotated[Sequence[Any], row(pod=str, why=str)]


class NetworkPartWire(TypedDict):
    """The flow network of a round of Firmament."""

    number: int
    time: float
    unscheduledCost: int
    phases: Sequence[NetworkPhaseWire]
    phaseCount: int
    paths: Sequence[_NetworkPath]
    pathCount: int
    leftAlone: Sequence[_NetworkLeftAlone]
    leftAloneCount: int
    why: NotRequired[Never]
