"""What a cycle tells of its pod's group: members, timers, denials, the numbers behind each decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scheduler_core.framework.plugins.coscheduling.permit import PermitResult
from scheduler_core.framework.plugins.coscheduling.post_filter import PostFilterResult
from scheduler_core.framework.plugins.coscheduling.pre_filter import PreFilterResult
from scheduler_core.framework.plugins.coscheduling.resource_check import ResourceCheck

ROWS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Member:
    """A pod of a group as the cycle left it.

    ``state`` is active, backoff, unschedulable or gated in the queue, waiting at Permit, bound, or how it
    ended: Succeeded, Failed. ``deadline`` is when its time at Permit is up; ``rejected`` that it was in this
    cycle or since the one before.
    """

    pod: str
    state: str
    node: str = ""
    deadline: float | None = None
    rejected: bool = False
    phase: str = ""  # the pod's own
    attempts: int = 0
    backoff_until: float | None = None  # which may be past
    since: float | None = None  # in its queue, or waiting at Permit
    moved_by: str = ""  # into its queue: see QueueEntry
    refused_by: tuple[str, ...] = ()  # the plugins that failed it last
    retry_at: float | None = None  # when its queue tries it again, whatever happens


@dataclass(frozen=True, slots=True)
class PodGroupRecord:
    """The group of a cycle's pod, after the cycle; times are virtual seconds.

    ``phase`` is ``None`` where the PodGroup does not exist; ``before`` is the phase that the cycle found.
    ``assigned`` members hold a node. ``denied_until`` and the like are ``None`` where nothing is in force;
    ``denials`` are those of all groups, as (group, until), and ``back_offs`` likewise; ``time`` is the moment
    of the record.
    """

    key: str
    min_member: int | None
    phase: str | None
    before: str | None
    counters: dict[str, int]
    assigned: int
    members: tuple[Member, ...]
    count: int
    denied_until: float | None = None
    backed_off_until: float | None = None
    permitted_until: float | None = None
    denials: tuple[tuple[str, float], ...] = ()
    back_offs: tuple[tuple[str, float], ...] = ()
    states: dict[str, int] = field(default_factory=dict)  # of all members
    time: float = 0.0
    pre_filter: PreFilterResult | None = None
    permit: PermitResult | None = None
    post_filter: PostFilterResult | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the trace's object."""
        return {
            "key": self.key,
            "minMember": self.min_member,
            "phase": self.phase,
            "phaseBefore": self.before,
            "counters": self.counters,
            "assigned": self.assigned,
            "members": [
                {
                    "pod": member.pod,
                    "state": member.state,
                    "node": member.node or None,
                    "deadline": member.deadline,
                    "rejected": member.rejected,
                    "attempts": member.attempts,
                    "backoffUntil": member.backoff_until,
                    "since": member.since,
                    "refusedBy": list(member.refused_by),
                    "retryAt": member.retry_at,
                }
                for member in self.members
            ],
            "memberCount": self.count,
            "states": self.states,
            "deniedUntil": self.denied_until,
            "backedOffUntil": self.backed_off_until,
            "permittedUntil": self.permitted_until,
            "denials": [{"group": group, "until": until} for group, until in self.denials],
            "backOffs": [{"group": group, "until": until} for group, until in self.back_offs],
            "preFilter": _pre_filter(self.pre_filter),
            "resourceCheck": _check(self.pre_filter.check if self.pre_filter is not None else None),
            "permit": _permit(self.permit),
            "postFilter": _post_filter(self.post_filter),
        }


def _pre_filter(found: PreFilterResult | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "code": found.code,
        "why": found.why,
        "message": found.message,
        "siblings": found.siblings,
        "gated": found.gated,
        "until": found.until,
    }


def _check(check: ResourceCheck | None) -> dict[str, Any] | None:
    if check is None:
        return None
    return {
        "enough": check.enough,
        "need": dict(check.need),
        "gap": dict(check.gap),
        "nodes": [
            {
                "node": row.node,
                "resources": [
                    {
                        "resource": r.resource,
                        "allocatable": r.allocatable,
                        "requested": r.requested,
                        "left": r.left,
                        "needBefore": r.need_before,
                        "needAfter": r.need_after,
                    }
                    for r in row.resources
                ],
            }
            for row in check.rows[:ROWS_SHOWN]
        ],
        "nodeCount": len(check.rows),
    }


def _permit(found: PermitResult | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "code": found.code,
        "why": found.why,
        "message": found.message,
        "assigned": found.assigned,
        "seconds": found.seconds,
        "deadline": found.deadline,
        "activated": list(found.activated),
        "allowed": list(found.allowed),
    }


def _post_filter(found: PostFilterResult | None) -> dict[str, Any] | None:
    if found is None:
        return None
    rejection = found.rejection
    return {
        "why": found.why,
        "message": found.message,
        "assigned": found.assigned,
        "missingPercent": found.missing_percent,
        "thresholdPercent": found.threshold_percent,
        "rejected": list(rejection.rejected) if rejection is not None else [],
        "deniedUntil": rejection.denied_until if rejection is not None else None,
        "backedOffUntil": rejection.backed_off_until if rejection is not None else None,
        "extended": rejection.extended if rejection is not None else False,
    }
