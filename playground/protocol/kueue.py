"""The types of what is sent: Kueue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Never, NotRequired, TypedDict

from playground.protocol.declarations import row
from playground.protocol.why import WhySectionWire

_Amounts = Annotated[Sequence[Any], row(quota=str, used=str, borrowed=str, lent=str, available=str)]
_Limits = Annotated[Sequence[Any], row(borrowing=str, lending=str)]
_Bar = Annotated[Sequence[Any], row(own=float, borrowed=float, lent=float)]
_Quota = Annotated[Sequence[Any], row(flavor=str, resource=str, amounts=_Amounts, limits=_Limits, bar=_Bar)]


class KueueNodeWire(TypedDict):
    """A cohort or queue; the bar's parts are percentages, `share` is -1 where it is infinite."""

    name: str
    depth: int
    queue: bool
    strategy: str
    why: str
    weight: float
    share: float
    pending: int
    waiting: int
    reserving: int
    quotas: Sequence[_Quota]


_Pending = Annotated[Sequence[Any], row(workload=str, priority=int, since=float, asks=str, message=str)]


class KueueQueueWire(TypedDict):
    name: str
    sticky: str
    active: Sequence[_Pending]
    activeCount: int
    inadmissible: Sequence[_Pending]
    inadmissibleCount: int


_Domain = Annotated[Sequence[Any], row(depth=int, name=str, free=str, used=str, pods=int)]


class KueueTopologyWire(TypedDict):
    flavor: str
    topology: str
    levels: Sequence[str]
    domains: Sequence[_Domain]
    domainCount: int


_Tried = Annotated[Sequence[Any], row(podSet=str, flavor=str, taken=bool, verdict=str)]
_Target = Annotated[Sequence[Any], row(workload=str, reason=str)]
_Considered = Annotated[Sequence[Any], row(workload=str, queue=str, priority=int, verdict=str)]
_Placement = Annotated[Sequence[Any], row(podSet=str, domains=str)]


class KueueHeadWire(TypedDict):
    """A Workload that a cycle tried; outcomes: admitted, preempts, waits, skipped, evicted, inadmissible."""

    workload: str
    queue: str
    priority: int
    message: str
    outcome: str
    mode: str
    borrowing: int
    flavors: Sequence[_Tried]
    targets: Sequence[_Target]
    considered: Sequence[_Considered]
    domains: Sequence[_Placement]


class KueueCycleWire(TypedDict):
    number: int
    time: float
    heads: Sequence[KueueHeadWire]
    headCount: int
    crashes: Sequence[str]


_LocalQueue = Annotated[Sequence[Any], row(key=str, clusterQueue=str)]


class KueueAnswerWire(TypedDict):
    """Why a Workload waits and what admits it; of one that is `submitted`, what becomes of others by it."""

    workload: str
    state: Literal["finished", "admitted", "reserved", "evicted", "pending"]
    submitted: bool
    sentences: Sequence[str]
    preempted: Sequence[_Target]
    displaced: Sequence[str]
    sections: Sequence[WhySectionWire]


class KueuePartWire(TypedDict):
    """Kueue at the end of a step, with its last cycles."""

    fair: bool
    tree: Sequence[KueueNodeWire]
    treeCount: int
    queues: Sequence[KueueQueueWire]
    queueCount: int
    topologies: Sequence[KueueTopologyWire]
    localQueues: Sequence[_LocalQueue]
    cycles: Sequence[KueueCycleWire]
    cycleCount: int
    why: NotRequired[Never]
