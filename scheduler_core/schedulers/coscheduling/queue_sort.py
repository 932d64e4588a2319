"""QueueSort: which of two pods is scheduled first (Coscheduling.Less)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from msgspec import Struct

from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.times import seconds_of
from scheduler_core.schedulers.coscheduling.editions import Edition
from scheduler_core.schedulers.coscheduling.groups import Gangs
from scheduler_core.schedulers.coscheduling.state import GangState

TimeFrom = Literal["pod", "group", "failure"]
NEVER = datetime(1, 1, 1, tzinfo=UTC).timestamp()
"""The time of an object without a creation timestamp: Go's zero time."""


class SortKey(Struct, frozen=True):
    """A pod's sort key: the pod with the smaller :attr:`order` is scheduled first.

    ``time`` is in seconds since 1970; ``time_from`` is its source: the pod's entry into the queue, the
    group's creation, or the group's last failure.
    """

    priority: int
    time: float
    time_from: TimeFrom
    key: str

    @property
    def order(self) -> tuple[int, float, str]:
        """Return a tuple to sort by: higher priority, earlier time, smaller ``namespace/name``."""
        return -self.priority, self.time, self.key


def sort_key(edition: Edition, gangs: Gangs, state: GangState, pod: Pod, queued: float) -> SortKey:
    """Return a pod's sort key; ``queued`` is the virtual time at which it first entered the queue.

    The group's creation time has a resolution of one second, as in the API; a group without one is older than
    all others (Go's zero time); if the group does not exist, the pod's own time is used.
    """
    key, group = gangs.of_pod(pod)
    failed = state.failed_at.get(key) if edition.failure_sorts and key else None
    if failed is not None:
        return SortKey(pod.priority, state.epoch + failed, "failure", pod.meta.key)
    if group is not None:
        created = seconds_of(group.meta.creation_timestamp)
        return SortKey(pod.priority, NEVER if created is None else created, "group", pod.meta.key)
    return SortKey(pod.priority, state.epoch + queued, "pod", pod.meta.key)


def less(first: SortKey, second: SortKey) -> bool:
    """Return whether the first pod is scheduled before the second."""
    return first.order < second.order
