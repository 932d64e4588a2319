"""The types of what is sent: runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypedDict

from playground.protocol.declarations import row

_RunCacheCountsCause = Annotated[Sequence[Any], row(cause=str, hits=int)]


class RunCacheCountsWire(TypedDict):
    hits: int
    evaluations: int
    invalidated: int
    stale: int
    hitRate: float
    causes: Sequence[_RunCacheCountsCause]


class RunWire(TypedDict):
    run: str
    scenario: str | None  # of one that is gone
    title: str
    state: Literal["queued", "running", "cancelling", "done", "cancelled", "failed"]
    position: int | None
    done: int
    total: int | None
    placed: int
    pending: int
    unschedulable: int
    cache: RunCacheCountsWire | None
    seconds: float
    peakMib: float
    error: str | None
    mine: bool
    created: str
    started: str | None
    finished: str | None
    expires: str
