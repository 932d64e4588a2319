"""A Workload in a queue: what it requests for each pod set, and where its search for flavors goes on."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from scheduler_core.cluster.kueue.amounts import times
from scheduler_core.cluster.kueue.objects import Amounts, PodSet
from scheduler_core.cluster.kueue.workload import Workload

Positions = tuple[Mapping[str, int], ...]
"""For each pod set the index of the flavor that was tried last by resource, -1 for the last of its group."""


class PodSetRequest(Struct, frozen=True):
    """What a pod set requests: ``each`` is of one pod."""

    pod_set: PodSet
    count: int
    each: Amounts

    @property
    def total(self) -> Amounts:
        """The amounts of all its pods."""
        return times(self.each, self.count)


class Tried(Struct, frozen=True):
    """Where a search ended; it counts while the ClusterQueue's generation stays."""

    positions: Positions
    generation: int

    @property
    def is_pending(self) -> bool:
        """Whether some resource has flavors left to try."""
        return any(index != -1 for one in self.positions for index in one.values())

    def next_index(self, pod_set: int, resource: str) -> int:
        """Return the index of the flavor that comes next."""
        if pod_set >= len(self.positions):
            return 0
        return self.positions[pod_set].get(resource, -1) + 1


class Entry(Struct, frozen=True):
    """A Workload as a queue holds it."""

    workload: Workload
    cluster_queue: str
    requests: tuple[PodSetRequest, ...]
    tried: Tried | None = None

    @property
    def key(self) -> str:
        """The Workload's key."""
        return self.workload.key

    @property
    def order(self) -> tuple[float, float, bytes]:
        """Its place in the queue: priority, then time, then uid."""
        one = self.workload
        return -one.rank, one.queued_since, one.uid.encode()
