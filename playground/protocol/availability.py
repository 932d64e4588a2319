"""The types of what is sent: availability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from playground.protocol.declarations import Named, row

AvailableMoment = Annotated[
    Sequence[Any],
    row(at=float, desired=int, ready=int, pending=int, terminating=int),
    Named("AvailableMoment"),
]
"""The pods of a workload from a moment on, until the next one."""


class AvailableWire(TypedDict):
    """A workload over virtual time; `kind` and `key` are "" for the pods without a controller."""

    kind: str
    key: str
    moments: Sequence[AvailableMoment]
    completeAt: float | None
    fewestReady: int
    fewestAt: float
    mostReady: int
    mostPending: int
    below: float
    belowFrom: float | None
    belowUntil: float | None
    longest: float
    longestFrom: float | None
    evicted: int
    refused: int
    preempted: int


class OverTimeWire(TypedDict):
    """The workloads over virtual time, as far as `known` cycles reach."""

    known: float
    until: float
    calmAt: float
    leftOut: int
    failed: Sequence[str]
    total: AvailableWire
    workloads: Sequence[AvailableWire]
