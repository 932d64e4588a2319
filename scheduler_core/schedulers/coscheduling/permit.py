"""Permit and Unreserve: a member waits for its group, is allowed with it, or fails with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from scheduler_core.kubernetes.model import Pod, PodGroup
from scheduler_core.schedulers.coscheduling.arguments import Arguments
from scheduler_core.schedulers.coscheduling.editions import Edition, PluginCode
from scheduler_core.schedulers.coscheduling.groups import Gangs, group_key
from scheduler_core.schedulers.coscheduling.rejection import Rejection, reject_group
from scheduler_core.schedulers.coscheduling.state import GangState, WaitingMember

DEFAULT_WAIT = 60.0  # seconds, if neither the group nor the plugin sets a time
LONGEST_WAIT = 15 * 60.0  # the framework's cap on any Permit plugin
REJECTION = "rejection in Unreserve"
PermitReason = Literal["no-group", "group-missing", "complete", "incomplete"]


class PermitResult(Struct, frozen=True):
    """The result of Permit: ``assigned`` of ``min_member`` hold a node, including this pod.

    On Wait ``seconds`` is the pod's own timer, ``deadline`` when it ends; ``activated`` are the siblings that
    are moved back to the active queue. On Success ``allowed`` are the waiting members that are bound now.
    """

    code: PluginCode
    why: PermitReason
    message: str = ""
    group: str = ""
    assigned: int | None = None
    min_member: int | None = None
    seconds: float | None = None
    deadline: float | None = None
    activated: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


def assigned_in_snapshot(pods: Iterable[Pod], group: str) -> int:
    """Count the members that hold a node in the snapshot at the cycle's start: bound, assumed, waiting.

    A snapshot excludes completed pods (classic: PodGroupManager.CalculateAssignedPods).
    """
    return sum(
        1 for pod in pods if pod.pod_group and pod.node_name and not pod.terminal and group_key(pod) == group
    )


def wait_seconds(arguments: Arguments, group: PodGroup) -> float:
    """Return how long a member waits: the group's time, else the plugin's, else 60 s; 0 counts as unset."""
    seconds = group.schedule_timeout_seconds or arguments.permit_waiting_seconds or DEFAULT_WAIT
    return min(float(seconds), LONGEST_WAIT)


def permit(
    edition: Edition,
    arguments: Arguments,
    gangs: Gangs,
    state: GangState,
    pod: Pod,
    node: str,
    in_snapshot: int,
    now: float,
) -> PermitResult:
    """Decide on a pod assumed on ``node``; ``in_snapshot`` members held a node at the cycle's start.

    A pod that waits is added to ``state.waiting``; :func:`end_wait` removes it.
    """
    key, group = gangs.of_pod(pod)
    if not key:
        return PermitResult("Success", "no-group")
    if group is None:
        return PermitResult("Unschedulable", "group-missing", "PodGroup not found", key)
    assigned = state.assign(key, pod.meta.name) if edition.keeps_assigned else in_snapshot + 1
    needed = group.min_member
    if assigned >= needed:
        state.failed_at.pop(key, None)
        allowed = tuple(state.waiting_of(key))
        return PermitResult("Success", "complete", "", key, assigned, needed, allowed=allowed)
    seconds = wait_seconds(arguments, group)
    wakes = edition.wakes_siblings == "each" or assigned == 1
    state.waiting[pod.meta.key] = WaitingMember(key, node, now, now + seconds)
    return PermitResult(
        "Wait",
        "incomplete",
        "",
        key,
        assigned,
        needed,
        seconds,
        now + seconds,
        activated=tuple(gangs.siblings(pod)) if wakes else (),
    )


def end_wait(state: GangState, pod: Pod) -> None:
    """Remove a pod from the waiting ones: it was allowed, rejected, or timed out."""
    state.waiting.pop(pod.meta.key, None)


def unreserve(
    edition: Edition, arguments: Arguments, gangs: Gangs, state: GangState, pod: Pod, now: float
) -> Rejection | None:
    """Unreserve a pod (timeout, rejection, failed bind) and reject the rest of its group with it.

    Returns ``None`` if the pod has no group.
    """
    end_wait(state, pod)
    key, group = gangs.of_pod(pod)
    if group is None:
        return None
    state.unassign(key, pod.meta.name)
    return reject_group(edition, arguments, state, key, REJECTION, now)
