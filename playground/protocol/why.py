"""The types of what is sent: why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from playground.protocol.page import ProblemWire
from playground.protocol.sources import RecordedAnswerWire


class AmountsWire(TypedDict):
    resource: str
    requested: str
    free: str
    shortBy: str
    allocatable: str
    used: str


class FailureWire(TypedDict):
    """Why a predicate fails.

    `details` and `numbers` only on the node that was asked about. `further`: the scheduler's own answer
    leaves it out, because an earlier failure ends its evaluation of the node.
    """

    predicate: str
    reasons: Sequence[str]
    error: str | None
    further: bool
    details: NotRequired[Sequence[str]]
    numbers: NotRequired[Sequence[AmountsWire]]


class NodeVerdictWire(TypedDict):
    """Whether a pod fits on a node; `details` and `numbers` are those of all failures."""

    node: str
    fits: bool
    failures: Sequence[FailureWire]
    details: Sequence[str]
    numbers: Sequence[AmountsWire]


class ChangePatchWire(TypedDict):
    action: Literal["patch", "create", "delete"]
    kind: str
    name: str
    namespace: NotRequired[str]
    type: NotRequired[str]
    patch: NotRequired[Mapping[str, Any]]
    object: NotRequired[Mapping[str, Any]]


class WhyChangeWire(TypedDict):
    """A change that makes a pod fit."""

    id: str
    node: str
    words: Sequence[str]
    notes: Sequence[str]
    effort: int
    yaml: str
    fits: Sequence[str]
    fitsCount: int
    chosen: str | None
    patches: Sequence[ChangePatchWire]


class ScoreStoryLeadWire(TypedDict):
    priority: str
    weight: int
    chosen: int
    other: int
    points: int


class ScoreStoryWire(TypedDict):
    """The cycle that placed a pod: the best totals, those that are equal, and the rival's scores."""

    index: int
    step: str
    node: str | None
    feasibleCount: int
    nodesCount: int
    totals: Mapping[str, int]
    ties: Sequence[str]
    tiesCount: int
    lastNodeIndex: int
    rival: str | None
    leads: Sequence[ScoreStoryLeadWire]
    sentences: Sequence[str]


class FailureGroupWire(TypedDict):
    failures: Sequence[FailureWire]
    count: int
    nodes: Sequence[str]


class WhySectionWire(TypedDict):
    """Facts on one subject, such as the preemption of a cycle or a PodGroup, a sentence each."""

    title: str
    sentences: Sequence[str]


class WhyAnswerWire(TypedDict):
    pod: str
    state: Literal["placed", "bound", "pending", "finished", "preempted", "deleted", "absent", "other"]
    node: str | None
    asked: str | None
    index: int
    step: str
    before: bool
    summary: str
    story: ScoreStoryWire | None
    nodes: Sequence[NodeVerdictWire]
    nodesCount: int
    groups: Sequence[FailureGroupWire]
    changes: Sequence[WhyChangeWire]
    applicable: bool
    recorded: RecordedAnswerWire | None
    sections: Sequence[WhySectionWire]
    warnings: Sequence[ProblemWire]


class WhyAppliedWire(TypedDict):
    """What a change of Why? did in its copy."""

    draft: str
    url: str
    way: Literal["manifests", "operation"]
    pod: str
    index: int
    node: str | None
    words: Sequence[str]
