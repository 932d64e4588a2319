"""PodGroups after a cycle: all of them in short, one of them in full, and what happened around the cycle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.panels.happenings import told
from playground.panels.phases import phases_of, ways_of
from scheduler_core.coscheduling.pre_filter import PreFilterResult
from scheduler_core.coscheduling.resource_check import ResourceCheck
from scheduler_core.cycle import Cycle
from scheduler_core.timed.gangs import Member, PodGroupRecord
from scheduler_core.timed.standing import GroupSummary

NO_TIME = (
    "The scheduler of v1.11 knows no PodGroups: it binds each pod by itself, and time stands still between "
    "its cycles. PodGroups come to life with a KubeSchedulerConfiguration that enables Coscheduling."
)
NO_GROUP = "This scenario has no PodGroup."
NO_PLUGIN = (
    "The plugin Coscheduling does not run here: the controller counts members and sets phases, and the "
    "scheduler binds each pod by itself."
)
MEMBERS_SHOWN = 100
CHECK_NODES = 30  # of a resource check
DENIALS_SHOWN = 50
PODS_NAMED = 20

Index = Mapping[str, int]


def podgroups(cycle: Cycle, node_index: Index) -> dict[str, Any]:
    """Return the protocol's ``podgroups`` part; ``node_index`` is the wire's."""
    groups = cycle.groups
    if groups is None:
        return {"why": NO_TIME}
    record = cycle.pod_group
    if not groups.count and record is None:
        return {"why": NO_GROUP, **_around(cycle)}
    return {
        "edition": groups.table,
        "coscheduling": groups.coscheduling,
        "note": "" if groups.coscheduling else NO_PLUGIN,
        "phases": list(phases_of(groups.table)),
        "ways": [list(way) for way in ways_of(groups.table)],
        "groups": [_summary(summary) for summary in groups.listed],
        "count": groups.count,
        "group": record and group(record, node_index, attempted=True),
        **_around(cycle),
    }


def _around(cycle: Cycle) -> dict[str, Any]:
    return {
        "time": cycle.time,
        "happenings": told(cycle.happenings, ""),
        "consequences": told(cycle.consequences, cycle.pod),
    }


def _summary(summary: GroupSummary) -> list[Any]:
    return [
        summary.key,
        summary.phase,
        summary.min_member,
        summary.members,
        summary.assigned,
        summary.waiting,
        summary.denied_until,
    ]


def group(record: PodGroupRecord, node_index: Index, *, attempted: bool) -> dict[str, Any]:
    """Return the protocol's ``Group``; ``attempted``: it is that of the cycle's pod."""
    return {
        "key": record.key,
        "minMember": record.min_member,
        "phase": record.phase,
        "before": record.before,
        "counters": record.counters,
        "assigned": record.assigned,
        "members": [_member(member, node_index) for member in record.members[:MEMBERS_SHOWN]],
        "memberCount": record.count,
        "deniedUntil": record.denied_until,
        "backedOffUntil": record.backed_off_until,
        "permittedUntil": record.permitted_until,
        "denials": [list(denial) for denial in record.denials[:DENIALS_SHOWN]],
        "denialCount": len(record.denials),
        "attempted": attempted,
        "preFilter": _pre_filter(record.pre_filter),
        "check": _check(record.pre_filter.check if record.pre_filter is not None else None, node_index),
        "permit": _permit(record),
        "postFilter": _post_filter(record),
    }


def _member(member: Member, node_index: Index) -> list[Any]:
    state = "running" if member.state == "bound" and member.phase == "Running" else member.state
    return [
        member.pod,
        state,
        node_index.get(member.node),
        member.deadline,
        member.rejected,
        member.attempts,
        member.backoff_until,
    ]


def _pre_filter(found: PreFilterResult | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"code": found.code, "why": found.why, "message": found.message, "siblings": found.siblings}


def _check(check: ResourceCheck | None, node_index: Index) -> dict[str, Any] | None:
    if check is None:
        return None
    return {
        "enough": check.enough,
        "need": dict(check.need),
        "gap": dict(check.gap),
        "rows": [
            [
                node_index.get(row.node),
                r.resource,
                r.allocatable,
                r.requested,
                r.left,
                r.need_before,
                r.need_after,
            ]
            for row in check.rows[:CHECK_NODES]
            for r in row.resources
        ],
        "nodes": min(CHECK_NODES, len(check.rows)),
        "nodeCount": len(check.rows),
    }


def _permit(record: PodGroupRecord) -> dict[str, Any] | None:
    found = record.permit
    if found is None:
        return None
    return {
        "code": found.code,
        "why": found.why,
        "message": found.message,
        "assigned": found.assigned,
        "deadline": found.deadline,
        "allowed": list(found.allowed[:PODS_NAMED]),
        "allowedCount": len(found.allowed),
    }


def _post_filter(record: PodGroupRecord) -> dict[str, Any] | None:
    found = record.post_filter
    if found is None:
        return None
    rejection = found.rejection
    return {
        "why": found.why,
        "message": found.message,
        "assigned": found.assigned,
        "missingPercent": found.missing_percent,
        "thresholdPercent": found.threshold_percent,
        "rejected": len(rejection.rejected) if rejection is not None else 0,
        "deniedUntil": rejection.denied_until if rejection is not None else None,
    }
