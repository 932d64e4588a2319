"""PostFilter: decides whether a group fails with a pod that failed in PreFilter or on all nodes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from scheduler_core.kubernetes.model import Pod
from scheduler_core.schedulers.coscheduling.arguments import Arguments
from scheduler_core.schedulers.coscheduling.editions import Edition, PluginCode
from scheduler_core.schedulers.coscheduling.groups import Gangs
from scheduler_core.schedulers.coscheduling.rejection import Rejection, reject_group
from scheduler_core.schedulers.coscheduling.state import GangState

REJECTION = "optimistic rejection in PostFilter"
PostFilterReason = Literal["no-group", "extra", "small-gap", "rejected"]


class PostFilterResult(Struct, frozen=True):
    """The result of PostFilter: ``assigned`` of ``min_member`` hold a node, ``missing_percent`` do not.

    A gap of up to ``threshold_percent`` leaves the group waiting; else ``rejection`` lists the rejected pods.
    """

    why: PostFilterReason
    message: str = ""
    group: str = ""
    assigned: int | None = None
    min_member: int | None = None
    missing_percent: float | None = None
    threshold_percent: int | None = None
    rejection: Rejection | None = None
    code: PluginCode = "Unschedulable"

    @property
    def rejects_group(self) -> bool:
        """Return whether the group fails with the pod."""
        return self.rejection is not None


def post_filter(
    edition: Edition,
    arguments: Arguments,
    gangs: Gangs,
    state: GangState,
    pod: Pod,
    assigned: int,
    now: float,
) -> PostFilterResult:
    """Decide on a failed pod; ``assigned`` members of its group hold a node (see :mod:`.permit`)."""
    key, group = gangs.of_pod(pod)
    if group is None:
        return PostFilterResult("no-group", "can not find pod group", key)
    needed = group.min_member
    threshold = arguments.reject_percentage
    if assigned >= needed:
        return PostFilterResult("extra", "", key, assigned, needed, 0.0, threshold)
    missing = needed - assigned
    percent = 100 * missing / needed
    if missing * 100 <= threshold * needed:
        return PostFilterResult("small-gap", "", key, assigned, needed, percent, threshold)
    rejection = reject_group(
        edition,
        arguments,
        state,
        key,
        REJECTION,
        now,
        back_off=len(gangs.members(key)) >= needed,
    )
    message = (
        f"PodGroup {key} gets rejected due to Pod {pod.meta.name} is unschedulable even after PostFilter"
    )
    return PostFilterResult("rejected", message, key, assigned, needed, percent, threshold, rejection)
