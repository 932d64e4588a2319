"""The type of the field ``podGroup`` of a trace's line; docs/trace.schema.json is generated from it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from scheduler_core.kubernetes.plain import Count, Seconds, one_of
from scheduler_core.schedulers.coscheduling.resource_check import NodeRow

STATES = (
    *("active", "backoff", "unschedulable", "gated", "pending", "waiting", "bound"),
    *("Succeeded", "Failed"),
)


class PodGroupPart(Struct, frozen=True, rename="camel", kw_only=True):
    """An object of ``podGroup``. Most are converted from records by the names of their fields."""


class MemberLine(PodGroupPart, frozen=True):
    """A pod of a group after the cycle."""

    pod: str
    state: Annotated[str, one_of(STATES)]
    node: str | None
    deadline: Seconds | None
    rejected: bool
    attempts: Count
    backoff_until: Seconds | None
    since: Seconds | None
    refused_by: tuple[str, ...]
    retry_at: Annotated[Seconds | None, Meta(description="When its queue tries it again, whatever happens.")]


class GroupTimer(Struct, frozen=True):
    """A denial or a back-off of a group, and when it expires."""

    group: str
    until: Seconds


class PreFilterLine(PodGroupPart, frozen=True):
    """The result of PreFilter."""

    code: str
    why: str
    message: str
    siblings: int | None
    gated: int | None
    until: Seconds | None


class ResourceCheckLine(PodGroupPart, frozen=True):
    """The numbers of a check of the cluster's resources."""

    enough: bool
    need: dict[str, int]
    gap: dict[str, int]
    nodes: Annotated[tuple[NodeRow, ...], Meta(max_length=100)]
    node_count: int


class PermitLine(PodGroupPart, frozen=True):
    """The result of Permit."""

    code: str
    why: str
    message: str
    assigned: int | None
    seconds: Seconds | None
    deadline: Seconds | None
    activated: tuple[str, ...]
    allowed: tuple[str, ...]


class PostFilterLine(PodGroupPart, frozen=True):
    """The result of PostFilter."""

    why: str
    message: str
    assigned: int | None
    missing_percent: Seconds | None
    threshold_percent: int | None
    rejected: tuple[str, ...]
    denied_until: Seconds | None
    backed_off_until: Seconds | None
    extended: bool


class PodGroupLine(PodGroupPart, frozen=True):
    """The group of the cycle's pod, after the cycle."""

    key: str
    min_member: int | None
    phase: Annotated[str | None, Meta(description="null: there is no such PodGroup.")]
    phase_before: str | None
    counters: dict[str, int]
    assigned: Annotated[
        int, Meta(description="Members that hold a node, bound or waiting at Permit, after the cycle.")
    ]
    members: Annotated[tuple[MemberLine, ...], Meta(max_length=200)]
    member_count: int
    states: Annotated[
        dict[str, Annotated[int, Meta(ge=1)]], Meta(description="How many members are in each state.")
    ]
    denied_until: Seconds | None
    backed_off_until: Seconds | None
    permitted_until: Seconds | None
    denials: tuple[GroupTimer, ...]
    back_offs: tuple[GroupTimer, ...]
    pre_filter: PreFilterLine | None
    resource_check: ResourceCheckLine | None
    permit: PermitLine | None
    post_filter: PostFilterLine | None


PodGroupField = Annotated[
    PodGroupLine | None,
    Meta(
        description="The group of the cycle's pod as the cycle left it; null for a pod without one, and "
        "where time stands still. Times are virtual seconds."
    ),
]
