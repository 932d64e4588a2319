"""A cycle's record of PodGroups: members, timers, denials, and the numbers behind each decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.kubernetes.conversion import converted
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.record.plugin_record import TimelineMark
from scheduler_core.schedulers.coscheduling.line import (
    GroupTimer,
    MemberLine,
    PermitLine,
    PodGroupLine,
    PostFilterLine,
    PreFilterLine,
    ResourceCheckLine,
)
from scheduler_core.schedulers.coscheduling.permit import PermitResult
from scheduler_core.schedulers.coscheduling.post_filter import PostFilterResult
from scheduler_core.schedulers.coscheduling.pre_filter import PreFilterResult
from scheduler_core.schedulers.coscheduling.rejection import Rejection
from scheduler_core.schedulers.coscheduling.resource_check import ResourceCheck

ROWS_SHOWN = 100


class GroupMember(Struct, frozen=True):
    """A pod of a group after the cycle.

    ``state`` is active, backoff, unschedulable or gated in the queue, waiting at Permit, bound, or its final
    phase: Succeeded, Failed. ``deadline`` is when it times out at Permit; ``rejected`` is whether it was
    rejected there in this cycle or since the previous one.
    """

    pod: str
    state: str
    node: str | None = None
    deadline: float | None = None
    rejected: bool = False
    phase: str = ""  # the pod's own
    attempts: int = 0
    backoff_until: float | None = None  # may be in the past
    since: float | None = None  # in its queue, or waiting at Permit
    moved_by: str = ""  # into its queue: see QueueEntry
    refused_by: tuple[str, ...] = ()  # the plugins that rejected it last
    retry_at: float | None = None  # when its queue retries it, even without an event


class PodGroupRecord(Struct, frozen=True):
    """The group of a cycle's pod, after the cycle; times are virtual seconds.

    ``phase`` is ``None`` if the PodGroup does not exist; ``before`` is the phase that the cycle found.
    ``assigned`` members hold a node. ``denied_until``, ``backed_off_until`` and ``permitted_until`` are
    ``None`` if nothing is in force; ``denials`` and ``back_offs`` are those of all groups; ``time`` is the
    time of the record.
    """

    key: str
    min_member: int | None
    phase: str | None
    before: str | None
    counters: dict[str, int]
    assigned: int
    members: tuple[GroupMember, ...]
    count: int
    denied_until: float | None = None
    backed_off_until: float | None = None
    permitted_until: float | None = None
    denials: tuple[GroupTimer, ...] = ()
    back_offs: tuple[GroupTimer, ...] = ()
    states: dict[str, int] = field(default_factory=dict)  # of all members
    time: float = 0.0
    pre_filter: PreFilterResult | None = None
    permit: PermitResult | None = None
    post_filter: PostFilterResult | None = None

    def line(self) -> PodGroupLine:
        """Return the trace's object."""
        check = self.pre_filter.check if self.pre_filter is not None else None
        return PodGroupLine(
            key=self.key,
            min_member=self.min_member,
            phase=self.phase,
            phase_before=self.before,
            counters=self.counters,
            assigned=self.assigned,
            members=converted(self.members, tuple[MemberLine, ...]),
            member_count=self.count,
            states=self.states,
            denied_until=self.denied_until,
            backed_off_until=self.backed_off_until,
            permitted_until=self.permitted_until,
            denials=self.denials,
            back_offs=self.back_offs,
            pre_filter=None if self.pre_filter is None else converted(self.pre_filter, PreFilterLine),
            resource_check=None if check is None else _check(check),
            permit=None if self.permit is None else converted(self.permit, PermitLine),
            post_filter=None if self.post_filter is None else _post_filter(self.post_filter),
        )


class GroupSummary(Struct, frozen=True):
    """A summary of a PodGroup; ``assigned`` members hold a node, ``waiting`` of them wait at Permit."""

    key: str
    phase: str
    min_member: int
    members: int
    assigned: int
    waiting: int
    denied_until: float | None
    backed_off_until: float | None = None


class Groups(Struct, frozen=True):
    """The first PodGroups, in order of creation, and the ``count`` of all.

    ``table`` is the edition whose rules the controller follows; ``coscheduling`` is whether the plugin runs.
    """

    time: float
    table: str
    coscheduling: bool
    listed: tuple[GroupSummary, ...]
    count: int


class CoschedulingRecord(Struct, frozen=True):
    """PodGroups around a cycle.

    ``groups`` are all groups after the cycle, ``pod_group`` is the group of the cycle's pod; both are
    ``None`` without a trace. ``groups_left`` is the state after the previous cycle; ``groups_met`` and
    ``group_met`` are the state that the attempt found. With one of ``post_filter_phases`` the result of
    PostFilter is known.
    """

    marks: tuple[TimelineMark, ...] = ()
    groups: Groups | None = None
    pod_group: PodGroupRecord | None = None
    groups_left: Groups | None = None
    groups_met: Groups | None = None
    group_met: PodGroupRecord | None = None
    post_filter_phases: tuple[str, ...] = ("postFilter",)

    def up_to(self, phases: Sequence[str]) -> CoschedulingRecord:
        """Return the PodGroups as the attempt found them, with the plugins' results in ``phases``."""
        return replace(
            self,
            marks=(),
            groups=self.groups_met if phases else self.groups_left,
            pod_group=self._group_up_to(phases),
        )

    def _group_up_to(self, phases: Sequence[str]) -> PodGroupRecord | None:
        decided, met = self.pod_group, self.group_met
        if decided is None or met is None or not phases:
            return None
        return replace(
            met,
            before=decided.before,
            pre_filter=decided.pre_filter if "preFilter" in phases else None,
            permit=decided.permit if "permit" in phases else None,
            post_filter=None if set(self.post_filter_phases).isdisjoint(phases) else decided.post_filter,
        )

    def fields(self) -> dict[str, Any]:
        """Return the trace's ``podGroup``."""
        return {"podGroup": self.pod_group and self.pod_group.line()}


NOTHING = CoschedulingRecord()


def record_of(recorded: Cycle | FinalState) -> CoschedulingRecord:
    """Return the PodGroups of a cycle or of the end of a run; an empty record if no time is simulated."""
    found = (one for one in recorded.plugins if isinstance(one, CoschedulingRecord))
    return next(found, NOTHING)


def _check(check: ResourceCheck) -> ResourceCheckLine:
    return ResourceCheckLine(
        enough=check.enough,
        need=dict(check.need),
        gap=dict(check.gap),
        nodes=check.rows[:ROWS_SHOWN],
        node_count=len(check.rows),
    )


def _post_filter(found: PostFilterResult) -> PostFilterLine:
    rejection = found.rejection or Rejection(found.group, (), "")
    return PostFilterLine(
        why=found.why,
        message=found.message,
        assigned=found.assigned,
        missing_percent=found.missing_percent,
        threshold_percent=found.threshold_percent,
        rejected=rejection.rejected,
        denied_until=rejection.denied_until,
        backed_off_until=rejection.backed_off_until,
        extended=rejection.extended,
    )
