"""What waits in the queue: pods, and PodGroups that are scheduled as a whole (framework.QueuedEntityInfo)."""

from __future__ import annotations

from bisect import insort
from copy import copy
from typing import Any

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.backoff import DEFAULT, Backoff
from scheduler_core.schedulers.v1_37.pods import CompiledPod

Order = tuple[int, int, int]
"""Negated priority, time, number of arrival: ascending order is the queue's."""


class QueuedPodInfo(Struct, eq=False):
    """A waiting pod with what its attempts left behind."""

    pod: CompiledPod
    arrival: int
    since: int
    """When it was created or last failed; milliseconds."""

    attempts: int = 0
    failures: int = 0
    """Attempts that ended unschedulable."""

    errors: int = 0
    """Attempts in a row that ended by error."""

    rejected_by: frozenset[str] = frozenset()
    pending: frozenset[str] = frozenset()
    gated_by: str | None = None
    backoff: Backoff = DEFAULT
    entered: int | None = None
    """When it was active first, in milliseconds, if a plugin sorts the queue (InitialAttemptTimestamp)."""

    def __deepcopy__(self, memo: dict[int, Any]) -> QueuedPodInfo:
        """Copy it alone: what it refers to never changes."""
        del memo
        return copy(self)

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.pod.key

    @property
    def priority(self) -> int:
        """The pod's priority."""
        return self.pod.priority

    @property
    def members(self) -> list[QueuedPodInfo]:
        """Itself, so that pods and groups are walked alike."""
        return [self]

    @property
    def rejectors(self) -> frozenset[str]:
        """The plugins whose rejection it waits out."""
        return self.rejected_by | self.pending

    @property
    def order(self) -> Order:
        """Its place in the active queue (PrioritySort)."""
        return -self.priority, self.since, self.arrival

    @property
    def backoff_expires(self) -> int | None:
        """When its backoff ends, in milliseconds; None if it never failed."""
        return self.backoff.expiry(self.since, self.errors or self.failures)

    def is_indifferent(self, registered: frozenset[str]) -> bool:
        """Return whether plugins rejected it, and none of these did: their event says nothing to it."""
        own, pending = self.rejected_by, self.pending
        return bool(own or pending) and own.isdisjoint(registered) and pending.isdisjoint(registered)

    def failed(self, now: int, rejected_by: frozenset[str], pending: frozenset[str]) -> None:
        """Note an attempt that placed nothing."""
        self.rejected_by, self.pending = rejected_by, pending
        if self.rejectors:
            self.failures += 1
            self.errors = 0
        else:
            self.errors += 1
        self.since = now


class QueuedGroup(Struct, eq=False):
    """The waiting members of a PodGroup. What rejected them only the members know: its own set is empty."""

    key: str
    priority: int
    arrival: int
    since: int
    members: list[QueuedPodInfo] = field(default_factory=list)
    """In the order in which they are tried."""

    failures: int = 0
    errors: int = 0
    gated_by: str | None = None
    backoff: Backoff = DEFAULT
    backoff_expires: int | None = None
    """When its backoff ends, in milliseconds; None if it never failed. Large groups back off longer."""

    @property
    def rejectors(self) -> frozenset[str]:
        """Nothing: so it backs off as after an error, and comes back only by time."""
        return frozenset()

    @property
    def order(self) -> Order:
        """Its place in the active queue."""
        return -self.priority, self.since, self.arrival

    def failed(self, now: int, *, error: bool) -> None:
        """Note a cycle that placed nothing; ``error``: the members could not be evaluated."""
        self.errors = self.errors + 1 if error else 0
        self.failures += not error
        self.since = now
        self.backoff_expires = self.backoff.expiry(now, self.errors or self.failures, len(self.members))

    def succeeded(self) -> None:
        """Note a cycle that placed members: what failed before no longer counts."""
        self.errors = self.failures = 0
        self.backoff_expires = None

    def add(self, member: QueuedPodInfo) -> None:
        """Add a member in its place (PodGroupMemberPodsOrderingFunc)."""
        insort(self.members, member, key=lambda m: (-m.priority, -m.attempts, m.since, m.pod.name))

    def take(self, pod: str) -> QueuedPodInfo | None:
        """Remove a member and return it."""
        for index, member in enumerate(self.members):
            if member.key == pod:
                return self.members.pop(index)
        return None


Entity = QueuedPodInfo | QueuedGroup
