"""The types of what is sent: drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from playground.protocol.availability import AvailableWire
from playground.protocol.declarations import row


class RevisionWire(TypedDict):
    """The revisions of a draft: the newest, that of its text, and that of its title."""

    revision: int
    text: int
    titled: int
    title: str


class BranchWire(TypedDict):
    draft: str
    title: str
    parent: str
    step: str
    words: Sequence[str]
    revision: int


class BranchRootWire(TypedDict):
    source: str
    title: str
    url: str


class BranchListWire(TypedDict):
    root: BranchRootWire | None
    branches: Sequence[BranchWire]


class StandingWire(TypedDict):
    cycles: int
    placed: int  # and not being deleted
    pending: int
    terminating: int
    stopped: bool


class FirstDifferenceWire(TypedDict):
    index: int
    step: str
    words: str


class BranchComparisonWire(TypedDict):
    words: Sequence[str]
    here: StandingWire
    parent: StandingWire | None
    first: FirstDifferenceWire | None
    elsewhere: int
    why: str


class DisruptionCountsWire(TypedDict):
    evicted: int
    refused: int
    preempted: int


class ComparedWorkloadWire(TypedDict):
    kind: str
    key: str
    branch: AvailableWire | None
    parent: AvailableWire | None


_OverTimeOutcomeNode = Annotated[Sequence[Any], row(name=str, before=int, after=int)]


class PendingOutcomeWire(TypedDict):
    kind: str
    key: str
    pods: int
    more: int
    message: str


class OverTimeOutcomeWire(TypedDict):
    """What a branch did to the workloads of its parent, over time and at the end.

    Null and none where no time passes.
    """

    at: float
    until: float | None
    calm: float | None
    total: DisruptionCountsWire | None
    workloads: Sequence[ComparedWorkloadWire]
    leftOut: int
    failed: Sequence[str]  # what failed or was refused in the branch alone, a sentence each
    followed: int  # workloads that have pods
    nodes: Sequence[_OverTimeOutcomeNode]
    pending: Sequence[PendingOutcomeWire]
