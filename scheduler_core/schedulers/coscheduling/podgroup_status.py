"""The status of PodGroups at a moment: a summary of all, a record of one, and that of a cycle's pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from itertools import islice

from msgspec.structs import replace

from scheduler_core.kubernetes.model import Pod, PodGroup
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.coscheduling.groups import group_key
from scheduler_core.schedulers.coscheduling.line import GroupTimer
from scheduler_core.schedulers.coscheduling.members import (
    HOLDING,
    controller_of,
    members_of,
    pods_of,
    state_of,
)
from scheduler_core.schedulers.coscheduling.permit import PermitResult
from scheduler_core.schedulers.coscheduling.plugin import Coscheduling
from scheduler_core.schedulers.coscheduling.post_filter import PostFilterResult
from scheduler_core.schedulers.coscheduling.pre_filter import PreFilterResult
from scheduler_core.schedulers.coscheduling.record import Groups, GroupSummary, PodGroupRecord
from scheduler_core.schedulers.coscheduling.state import Expiring, GangState
from scheduler_core.schedulers.v1_22.interface import Handle
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod

GROUPS_SHOWN = 100
MEMBERS_SHOWN = 200
FOR_EVER = 1e12  # seconds: infinity, which JSON cannot represent


def groups_of(framework: Handle) -> Groups:
    """Return a summary of the PodGroups."""
    memories = _memories(framework)
    return Groups(
        framework.clock.now,
        controller_of(framework).edition,
        bool(memories),
        tuple(_summary(framework, key, memories) for key in islice(framework.groups, GROUPS_SHOWN)),
        len(framework.groups),
    )


def _summary(framework: Handle, key: str, memories: list[GangState]) -> GroupSummary:
    group, now = framework.groups[key], framework.clock.now
    states = [state_of(framework, pod) for pod in pods_of(framework, key)]
    return GroupSummary(
        key,
        group.status.phase,
        group.min_member,
        len(states),
        sum(state in HOLDING for state in states),
        states.count("waiting"),
        _until((memory.denied for memory in memories), key, now),
        _until((memory.backed_off for memory in memories), key, now),
    )


def standing(framework: Handle, key: str) -> PodGroupRecord | None:
    """Return the current record of a PodGroup, ``None`` if it does not exist and no pod names it."""
    found = _record(framework, key)
    return found if found.phase is not None or found.count else None


def group_record(
    framework: Handle, pod: QueuedPod, attempt: Attempt, phase: str | None, events: Iterable[TimelineEvent]
) -> PodGroupRecord | None:
    """Return the record of a pod's group, ``None`` if it names none; ``events`` are the cycle's events."""
    key = group_key(pod.state.pod)
    if not key:
        return None
    rejected = {happening.about for happening in events if isinstance(happening.detail, WaitingPod)}
    details = [status.detail for _, name, status in attempt.statuses if name == Coscheduling.name]
    return replace(
        _record(framework, key, rejected),
        before=phase,
        pre_filter=next((d for d in details if isinstance(d, PreFilterResult)), None),
        permit=next((d for d in details if isinstance(d, PermitResult)), None),
        post_filter=next((d for d in details if isinstance(d, PostFilterResult)), None),
    )


def group_met(framework: Handle, pod: QueuedPod) -> PodGroupRecord | None:
    """Return a pod's group as its attempt finds it, ``None`` if the pod names none."""
    key = group_key(pod.state.pod)
    return _record(framework, key) if key else None


def before(framework: Handle, pod: Pod) -> str | None:
    """Return the phase of a pod's group, ``None`` if the PodGroup does not exist."""
    group = framework.groups.get(group_key(pod))
    return group.status.phase if group is not None else None


def _record(framework: Handle, key: str, rejected: Container[str] = ()) -> PodGroupRecord:
    """Return the current record of a group; ``rejected`` are the pods just rejected at Permit."""
    group, members = framework.groups.get(key), members_of(framework, key, rejected)
    now, memories = framework.clock.now, _memories(framework)
    denied = [memory.denied for memory in memories]
    backed_off = [memory.backed_off for memory in memories]
    return PodGroupRecord(
        key,
        group.min_member if group is not None else None,
        group.status.phase if group is not None else None,
        group.status.phase if group is not None else None,
        _counters(group),
        sum(member.state in HOLDING for member in members),
        tuple(members[:MEMBERS_SHOWN]),
        len(members),
        _until(denied, key, now),
        _until(backed_off, key, now),
        _until((memory.permitted for memory in memories), key, now),
        _alive(denied, now),
        _alive(backed_off, now),
        dict(Counter(member.state for member in members)),
        now,
    )


def _memories(framework: Handle) -> list[GangState]:
    """Return the plugins' states: each profile that runs Coscheduling has its own plugin."""
    return [plugin.state for plugin in framework.plugins if isinstance(plugin, Coscheduling)]


def _until(entries: Iterable[Expiring], key: str, now: float) -> float | None:
    """Return when a group's last entry in any profile expires, ``None`` if it has no live entry."""
    found = [until for one in entries if (until := one.until(key, now)) is not None]
    return min(max(found), FOR_EVER) if found else None


def _alive(entries: list[Expiring], now: float) -> tuple[GroupTimer, ...]:
    """Return all groups with a live entry, each with the time of its expiry."""
    keys = dict.fromkeys(key for one in entries for key, _ in one.alive(now))
    return tuple(GroupTimer(key, until) for key in keys if (until := _until(entries, key, now)) is not None)


def _counters(group: PodGroup | None) -> dict[str, int]:
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
