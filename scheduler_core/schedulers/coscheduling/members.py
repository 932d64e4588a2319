"""The pods of a PodGroup: the state of each, and the reason for it."""

from __future__ import annotations

from collections.abc import Container, Iterator

from scheduler_core.kubernetes.model import Pod
from scheduler_core.schedulers.coscheduling.groups import group_key
from scheduler_core.schedulers.coscheduling.plugin import PodGroupController
from scheduler_core.schedulers.coscheduling.record import GroupMember
from scheduler_core.schedulers.v1_22.interface import Handle

HOLDING = frozenset({"waiting", "bound"})
"""The states of members that hold a node."""


def controller_of(framework: Handle) -> PodGroupController:
    """Return the controller next to the scheduler, which indexes the pods by group name."""
    return next(p for p in framework.plugins if isinstance(p, PodGroupController))


def pods_of(framework: Handle, key: str) -> Iterator[Pod]:
    """Yield the API's pods that name a group, from the group's own namespace."""
    for known in controller_of(framework).members(key.partition("/")[2]):
        pod = framework.pods.get(known.meta.key) if group_key(known) == key else None
        if pod is not None:
            yield pod


def state_of(framework: Handle, pod: Pod) -> str:
    """Return a pod's state: its final phase, bound, waiting (at Permit), its queue, or pending."""
    if pod.terminal:
        return pod.phase
    if pod.node_name:
        return "bound"
    waiting = framework.waiting.get(pod.meta.key)
    if waiting is not None and not waiting.verdict:
        return "waiting"
    queued = framework.queued(pod.meta.key)
    return (queued.place if queued is not None else None) or "pending"


def members_of(framework: Handle, key: str, rejected: Container[str] = ()) -> list[GroupMember]:
    """Return all members of a group; ``rejected`` are those just rejected at Permit."""
    return [_member(framework, pod, rejected=pod.meta.key in rejected) for pod in pods_of(framework, key)]


def _member(framework: Handle, pod: Pod, *, rejected: bool) -> GroupMember:
    key, state = pod.meta.key, state_of(framework, pod)
    waiting, queued = framework.waiting.get(key), framework.queued(key)
    if state == "waiting" and waiting is not None:
        return GroupMember(key, state, waiting.node, waiting.deadline, phase=pod.phase, since=waiting.since)
    if pod.node_name or queued is None or queued.place is None:
        return GroupMember(
            key, state, pod.node_name or None, rejected=rejected and not pod.node_name, phase=pod.phase
        )
    return GroupMember(
        key,
        state,
        rejected=rejected,
        phase=pod.phase,
        attempts=queued.attempts,
        backoff_until=queued.backoff_until if queued.attempts else None,
        since=queued.timestamp,
        moved_by=queued.moved_by,
        refused_by=tuple(sorted(queued.refused_by)),
        retry_at=framework.retry_at(queued),
    )
