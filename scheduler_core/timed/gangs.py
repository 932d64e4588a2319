"""What a cycle tells of its pod's group: members, timers, denials, the numbers behind each decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.coscheduling.groups import group_key
from scheduler_core.coscheduling.permit import PermitResult
from scheduler_core.coscheduling.plugin import Coscheduling, PodGroupController
from scheduler_core.coscheduling.post_filter import PostFilterResult
from scheduler_core.coscheduling.pre_filter import PreFilterResult
from scheduler_core.coscheduling.resource_check import ResourceCheck
from scheduler_core.coscheduling.state import Expiring
from scheduler_core.framework.plugins import Plugin
from scheduler_core.framework.queue import QueuedPod
from scheduler_core.framework.record import Attempt, Happening
from scheduler_core.framework.scheduler import Framework
from scheduler_core.objects.model import Pod, PodGroup

MEMBERS_SHOWN = 200
ROWS_SHOWN = 100
FOR_EVER = 1e12  # seconds: what never runs out, as JSON can say it


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


def before(framework: Framework, pod: Pod) -> str | None:
    """Return the phase of a pod's group, ``None`` where there is no such PodGroup."""
    group = framework.groups.get(group_key(pod))
    return group.status.phase if group is not None else None


def group_record(
    framework: Framework, pod: QueuedPod, attempt: Attempt, phase: str | None, told: Iterable[Happening]
) -> PodGroupRecord | None:
    """Tell of the group that a pod names, ``None`` if it names none; ``told`` is what happened around it."""
    key = group_key(pod.state.pod)
    if not key:
        return None
    group = framework.groups.get(key)
    lane = framework.lane_of(pod)
    plugin = coscheduling_of(p for plugins in lane.at.values() for p in plugins)
    rejected = {happening.about for happening in told if "rejected" in happening.text}
    members = members_of(framework, key, rejected)
    details = [status.detail for _, name, status in attempt.statuses if name == Coscheduling.name]
    now = framework.clock.now
    known = plugin.state if plugin is not None else None
    return PodGroupRecord(
        key,
        group.min_member if group is not None else None,
        group.status.phase if group is not None else None,
        phase,
        counters_of(group),
        sum(member.state in ("waiting", "bound") for member in members),
        tuple(members[:MEMBERS_SHOWN]),
        len(members),
        until_of(known.denied, key, now) if known is not None else None,
        until_of(known.backed_off, key, now) if known is not None else None,
        until_of(known.permitted, key, now) if known is not None else None,
        alive(known.denied, now) if known is not None else (),
        alive(known.backed_off, now) if known is not None else (),
        states_of(members),
        now,
        next((d for d in details if isinstance(d, PreFilterResult)), None),
        next((d for d in details if isinstance(d, PermitResult)), None),
        next((d for d in details if isinstance(d, PostFilterResult)), None),
    )


def coscheduling_of(plugins: Iterable[Plugin]) -> Coscheduling | None:
    """Return the Coscheduling among plugins, ``None`` where it does not run."""
    return next((plugin for plugin in plugins if isinstance(plugin, Coscheduling)), None)


def until_of(entries: Expiring, key: str, now: float) -> float | None:
    """Return until when something is in force for a group, ``None`` if it is not."""
    until = entries.until(key, now)
    return None if until is None else min(until, FOR_EVER)


def states_of(members: Iterable[Member]) -> dict[str, int]:
    """Count members by their state."""
    return dict(Counter(member.state for member in members))


def alive(entries: Expiring, now: float) -> tuple[tuple[str, float], ...]:
    """Return all groups that something is in force for, each with until when."""
    return tuple((key, min(now + left, FOR_EVER)) for key, left in entries.alive(now))


def controller_of(framework: Framework) -> PodGroupController:
    """Return the controller beside the scheduler, which knows who names a group."""
    return next(p for p in framework.plugins if isinstance(p, PodGroupController))


def members_of(framework: Framework, key: str, rejected: Container[str] = ()) -> list[Member]:
    """Return the pods of a namespace that name its group; ``rejected`` are those that just were."""
    return [
        _member(framework, framework.pods[member.meta.key], rejected=member.meta.key in rejected)
        for member in controller_of(framework).members(key.partition("/")[2])
        if group_key(member) == key and member.meta.key in framework.pods
    ]


def _member(framework: Framework, pod: Pod, *, rejected: bool) -> Member:
    key = pod.meta.key
    if pod.terminal:
        return Member(key, pod.phase, pod.node_name, phase=pod.phase)
    if pod.node_name:
        return Member(key, "bound", pod.node_name, phase=pod.phase)
    waiting = framework.waiting.get(key)
    if waiting is not None and not waiting.verdict:
        return Member(key, "waiting", waiting.node, waiting.deadline, phase=pod.phase, since=waiting.since)
    queued = framework.queue.pods.get(key)
    if queued is None or queued.place is None:
        return Member(key, "pending", rejected=rejected, phase=pod.phase)
    return Member(
        key,
        queued.place,
        rejected=rejected,
        phase=pod.phase,
        attempts=queued.attempts,
        backoff_until=queued.backoff_until if queued.attempts else None,
        since=queued.timestamp,
        moved_by=queued.moved_by,
        refused_by=tuple(sorted(queued.refused_by)),
        retry_at=framework.queue.retry_at(queued),
    )


def counters_of(group: PodGroup | None) -> dict[str, int]:
    """Return the counters in a PodGroup's status."""
    if group is None:
        return {}
    status = group.status
    return {
        "scheduled": status.scheduled,
        "running": status.running,
        "succeeded": status.succeeded,
        "failed": status.failed,
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
