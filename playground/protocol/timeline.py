"""The types of what is sent: timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypedDict

from playground.protocol.declarations import Named, row
from playground.protocol.tables import NodeIndex, PodIndex

Turn = Annotated[
    Sequence[Any], row(kind=Literal["phase", "rejected", "timeout"], group=str, phase=str), Named("Turn")
]
"""What happened to a PodGroup in a cycle or just before it; the phase where it has a new one."""
_MarksGroup = Annotated[Sequence[Any], row(index=int, rest=Turn)]
_MarksPasse = Annotated[Sequence[Any], row(index=int, number=int, evicts=bool, text=str)]
_MarksKueue = Annotated[Sequence[Any], row(index=int, preempts=bool, text=str)]


class MarksWire(TypedDict):
    pod: Sequence[PodIndex]
    node: Sequence[NodeIndex]
    # One letter a cycle: s scheduled, u unschedulable, e error, p preemption, w waiting at Permit.
    result: str
    time: Sequence[float]
    operations: Sequence[int]
    restarts: Sequence[int]
    cache: CacheMarksWire | None
    groups: Sequence[_MarksGroup]
    passes: Sequence[_MarksPasse]
    kueue: Sequence[_MarksKueue]


class CacheMarksWire(TypedDict):
    hits: Sequence[int]
    evaluations: Sequence[int]
    invalidated: Sequence[int]
    stale: Sequence[int]
