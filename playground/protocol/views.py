"""The types of what is sent: views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Never, NotRequired, TypedDict

from playground.protocol.declarations import row


class BelievedNodeWire(TypedDict):
    """A session of kube-batch."""

    node: str
    unseen: Sequence[str]
    gone: Sequence[str]
    assumed: Sequence[str]
    believed: Mapping[str, int]
    true: Mapping[str, int]


class InFlightBindingWire(TypedDict):
    pod: str
    node: str
    decided: float
    lands: float | None


class SchedulerLaneWire(TypedDict):
    scheduler: str
    asOf: float
    deciding: float | None
    pod: str
    until: float | None
    pending: int
    watchDelay: float
    runs: str  # what it runs: a release of kube-scheduler, or the name of a custom scheduler
    unheard: int
    inFlight: Sequence[InFlightBindingWire]
    inFlightCount: int
    nodes: Sequence[BelievedNodeWire]
    nodesCount: int


class ViewOutcomeWire(TypedDict):
    scheduler: str
    pod: str
    node: str
    decided: float
    known: float
    noticed: str
    unseen: Sequence[str]
    message: str
    reason: str


_ViewWindowPromised = Annotated[Sequence[Any], row(pod=str, scheduler=str)]


class ViewWindowWire(TypedDict):
    """A node whose room may be given away twice; free below 0: it is, once all are bound."""

    node: str
    promised: Sequence[_ViewWindowPromised]
    unaware: Sequence[str]
    free: Mapping[str, int]


_ViewsPlacement = Annotated[Sequence[Any], row(pod=str, node=str)]


class ViewsPartWire(TypedDict):
    """The views of several schedulers, where they differ from what the API server has."""

    scheduler: str
    asOf: float
    began: float
    decided: float
    lands: float | None
    placements: Sequence[_ViewsPlacement]
    placementsCount: int
    lanes: Sequence[SchedulerLaneWire]
    outcomes: Sequence[ViewOutcomeWire]
    outcomesCount: int
    windows: Sequence[ViewWindowWire]
    windowsCount: int
    why: NotRequired[Never]
