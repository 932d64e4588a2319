"""QueueSort: which of two pods is tried first (Coscheduling.Less)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from scheduler_core.framework.plugins.coscheduling.editions import Edition
from scheduler_core.framework.plugins.coscheduling.groups import Gangs
from scheduler_core.framework.plugins.coscheduling.state import GangState
from scheduler_core.objects.model import Pod
from scheduler_core.objects.times import seconds_of

TimeFrom = Literal["pod", "group", "failure"]
NEVER = datetime(1, 1, 1, tzinfo=UTC).timestamp()
"""The time of an object whose creation nobody noted: Go's zero time."""


@dataclass(frozen=True, slots=True)
class SortKey:
    """What a pod is sorted by: the smaller :attr:`order` is tried first.

    ``time`` is in seconds since 1970, ``time_from`` tells whose it is: the moment the pod entered the queue,
    the group's creation, or the group's last failure.
    """

    priority: int
    time: float
    time_from: TimeFrom
    key: str

    @property
    def order(self) -> tuple[int, float, str]:
        """Return the key as a tuple that sorts: higher priority, earlier time, smaller ``namespace/name``."""
        return -self.priority, self.time, self.key


def sort_key(edition: Edition, gangs: Gangs, state: GangState, pod: Pod, queued: float) -> SortKey:
    """Return a pod's sort key; ``queued`` is the virtual time at which it first entered the queue.

    The group's creation is taken to the second, as the API keeps it; a group that has none is older than all
    others (Go's zero time), one that is missing leaves the pod its own time.
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
    """Tell whether the first pod is tried before the second."""
    return first.order < second.order
