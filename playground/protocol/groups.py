"""The types of what is sent: groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Never, NotRequired, TypedDict

from playground.protocol.declarations import Named, row
from playground.protocol.sentences import AbsentWire, Sentence


class GroupMemberWire(TypedDict):
    pod: str
    state: str
    node: str | None
    deadline: float | None
    rejected: bool
    attempts: int
    backoffUntil: float | None
    since: float | None
    refusedBy: Sequence[str]
    retryAt: float | None


class NodeGapResourceWire(TypedDict):
    resource: str
    allocatable: int
    requested: int
    left: int
    needBefore: int
    needAfter: int


class NodeGapWire(TypedDict):
    node: str
    resources: Sequence[NodeGapResourceWire]


class ResourceCheckWire(TypedDict):
    enough: bool
    need: Mapping[str, int]
    gap: Mapping[str, int]
    nodes: Sequence[NodeGapWire]
    nodeCount: int


class GroupUntilWire(TypedDict):
    group: str
    until: float


class GroupPreFilterWire(TypedDict):
    code: str
    why: str
    message: str
    siblings: int | None
    gated: int | None
    until: float | None


_GroupOutlookNext = Annotated[Sequence[Any], row(at=float | None, kind=str, text=Sentence)]


class GroupOutlookWire(TypedDict):
    now: Sentence
    next: Sequence[_GroupOutlookNext]


class GroupRecordWire(TypedDict):
    """A PodGroup as it stands after a cycle; docs/trace.schema.json has its podGroup."""

    key: str
    minMember: int | None
    phase: str | None
    phaseBefore: str | None
    counters: Mapping[str, int]
    assigned: int
    members: Sequence[GroupMemberWire]
    memberCount: int
    states: Mapping[str, int]
    deniedUntil: float | None
    backedOffUntil: float | None
    permittedUntil: float | None
    denials: Sequence[GroupUntilWire]
    denialCount: int
    backOffs: Sequence[GroupUntilWire]
    backOffCount: int
    preFilter: GroupPreFilterWire | None
    resourceCheck: ResourceCheckWire | None
    permit: PermitWire | None
    postFilter: PostFilterWire | None
    time: float
    attempted: bool
    outlook: GroupOutlookWire


class PermitWire(TypedDict):
    code: str
    why: str
    message: str
    assigned: int | None
    seconds: float | None
    deadline: float | None
    activated: Sequence[str]
    activatedCount: int
    allowed: Sequence[str]
    allowedCount: int


class PostFilterWire(TypedDict):
    why: str
    message: str
    assigned: int | None
    missingPercent: int | None
    thresholdPercent: int | None
    rejected: Sequence[str]
    rejectedCount: int
    deniedUntil: float | None
    backedOffUntil: float | None
    extended: bool


GroupRow = Annotated[
    Sequence[Any],
    row(
        key=str,
        phase=str,
        minMember=int,
        members=int,
        assigned=int,
        waiting=int,
        deniedUntil=float | None,
        backedOffUntil=float | None,
    ),
    Named("GroupRow"),
]
"""A PodGroup in the list of all."""
_PodGroupsWay = Annotated[Sequence[Any], row(from_=str, to=str, when=str)]
_PodGroupsHappening = Annotated[Sequence[Any], row(time=float, text=Sentence)]


class PodGroupsPartWire(TypedDict):
    edition: Literal["classic", "current"]
    coscheduling: bool
    note: Literal[""] | Sentence
    phases: Sequence[str]
    final: Sequence[str]
    ways: Sequence[_PodGroupsWay]
    time: float
    groups: Sequence[GroupRow]
    count: int
    group: GroupRecordWire | None
    happenings: Sequence[_PodGroupsHappening]
    consequences: Sequence[_PodGroupsHappening]
    why: NotRequired[Never]


_NativeMember = Annotated[Sequence[Any], row(pod=str, node=str | None)]
_NativeCondition = Annotated[Sequence[Any], row(type=str, text=str)]
_NativePlacement = Annotated[Sequence[Any], row(name=str, nodes=int, total=int | None)]


class NativePodGroupWire(TypedDict):
    """A PodGroup of scheduling.k8s.io after a cycle."""

    key: str
    minCount: int | None
    topology: str | None
    members: Sequence[_NativeMember]
    memberCount: int
    assigned: int
    conditions: Sequence[_NativeCondition]


class NativePodGroupsWire(TypedDict):
    """The part of PodGroups where kube-scheduler itself schedules them."""

    native: Sequence[NativePodGroupWire]
    count: int
    flying: str
    placements: Sequence[_NativePlacement]
    why: NotRequired[Never]
    time: NotRequired[Never]
    happenings: NotRequired[Never]
    consequences: NotRequired[Never]


class NoPodGroupsWire(AbsentWire):
    """The part of PodGroups where they do nothing."""

    time: NotRequired[float]
    happenings: NotRequired[Sequence[_PodGroupsHappening]]
    consequences: NotRequired[Sequence[_PodGroupsHappening]]
