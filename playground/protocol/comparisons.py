"""The types of what is sent: comparing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from playground.protocol.declarations import row
from playground.protocol.page import SourceWire


class ComparedSideWire(TypedDict):
    """One side of a comparison, as it was asked for."""

    source: SourceWire
    title: str
    scheduler: str | None
    # Of a stored comparison: the release that answers the side.
    release: NotRequired[str]


class FirstOtherPodWire(TypedDict):
    """The first cycle that differs, with what each side has of it."""

    index: int
    pod: str | None
    left: Mapping[str, Any] | None
    right: Mapping[str, Any] | None
    rule: str | None
    history: Sequence[str]
    what: Sequence[str]
    details: Sequence[str]


class OtherPlacementWire(TypedDict):
    pod: str
    left: str
    right: str


class ComparedMetricsWire(TypedDict):
    left: Mapping[str, Any]
    right: Mapping[str, Any]


_ComparisonAlignment = Annotated[Sequence[Any], row(left=int, right=int, count=int)]
_ComparisonDifference = Annotated[Sequence[Any], row(left=int, right=int, pod=str, one=str, other=str)]


class RuleBehindWire(TypedDict):
    """A rule in which two releases differ; `proven`: without it, the one decides as the other does."""

    subject: str
    release: str
    here: str
    other: str
    there: str
    source: str
    proven: bool


class ChangedMessageWire(TypedDict):
    """The first cycle with the same decision and another message."""

    index: int
    pod: str
    a: str
    b: str
    rules: Sequence[RuleBehindWire]


class PodChangeWire(TypedDict):
    pod: str
    workload: str
    change: str
    a: str
    b: str


class UpgradeWire(TypedDict):
    """What changes from one release to another; `counts` are of all pods, by the change."""

    releases: Sequence[str]
    rules: Sequence[RuleBehindWire]
    message: ChangedMessageWire | None
    counts: Mapping[str, int]
    rows: Sequence[PodChangeWire]


class ComparisonWire(TypedDict):
    """Where two sources differ; its page asks for it over HTTP."""

    left: ComparedSideWire
    right: ComparedSideWire
    # The sides that are played with controllers because the other one has some.
    living: NotRequired[Sequence[str]]
    same: bool
    first: FirstOtherPodWire | None
    difference: Mapping[str, Any] | None  # of the scores, where they differ first
    configuration: Sequence[str]
    differing: int
    placements: Sequence[OtherPlacementWire]
    metrics: ComparedMetricsWire
    # Of two releases that are one set of plugins, and were run for it.
    upgrade: NotRequired[UpgradeWire | None]
    alignment: Sequence[_ComparisonAlignment] | None
    differences: Sequence[_ComparisonDifference]
    moreDifferences: bool
    workloads: Sequence[Any]
    workloadCount: int


class StoredComparisonWire(ComparisonWire):
    """A comparison as it was when it was made, over HTTP; `expires` is postponed when it is opened."""

    id: str
    url: str
    title: str
    created: str
    expires: str | None
