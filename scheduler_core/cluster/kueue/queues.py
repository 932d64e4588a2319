"""The queue of pending Workloads of a ClusterQueue: a heap, and beside it those that wait for an event."""

from __future__ import annotations

from heapq import heappop, heappush

from scheduler_core.cluster.kueue.entry import Entry

STRICT = "StrictFIFO"
FAILED_AFTER_NOMINATION = "FailedAfterNomination"
PENDING_PREEMPTION, PREEMPTION_FAILED = "PendingPreemption", "PreemptionFailed"
NAMESPACE_MISMATCH = "NamespaceMismatch"

_AT_ONCE = (FAILED_AFTER_NOMINATION, PENDING_PREEMPTION, PREEMPTION_FAILED)
"""Why a Workload of a BestEffortFIFO queue is tried again at once."""

_Ranked = tuple[tuple[float, float, bytes], str]


class PendingQueue:
    """Pending Workloads by key: ``active`` are tried in order, ``inadmissible`` wait for an event.

    ``digest`` differs whenever what is in the queue differs, with the positions of ``active`` ones.
    """

    def __init__(self) -> None:
        self.digest = 0
        self.active: dict[str, Entry] = {}
        self.inadmissible: dict[str, Entry] = {}
        self.sticky = ""
        self._heap: list[_Ranked] = []

    def copy(self) -> PendingQueue:
        """Return a queue with the same entries."""
        other = PendingQueue()
        other.active, other.inadmissible = dict(self.active), dict(self.inadmissible)
        other.sticky, other._heap, other.digest = self.sticky, list(self._heap), self.digest
        return other

    def __len__(self) -> int:
        return len(self.active) + len(self.inadmissible)

    def __contains__(self, key: object) -> bool:
        return key in self.active or key in self.inadmissible

    def find(self, key: str) -> Entry | None:
        """Return the entry of a Workload."""
        return self.active.get(key) or self.inadmissible.get(key)

    def push(self, entry: Entry) -> None:
        """Put a Workload into the heap."""
        old = self._take_out(entry.key)
        self.active[entry.key] = entry
        self.digest ^= _token(entry)
        if old is None or old.order != entry.order:
            heappush(self._heap, (entry.order, entry.key))

    def park(self, entry: Entry) -> None:
        """Let a Workload wait for an event."""
        self._take_out(entry.key)
        self.inadmissible[entry.key] = entry
        self.digest ^= hash(entry.key)

    def _take_out(self, key: str) -> Entry | None:
        """Take a Workload out; return its entry if it was in the heap."""
        if self.inadmissible.pop(key, None) is not None:
            self.digest ^= hash(key)
        found = self.active.pop(key, None)
        if found is not None:
            self.digest ^= _token(found)
        return found

    def drop(self, key: str) -> None:
        """Remove a Workload."""
        self._take_out(key)
        if self.sticky == key:
            self._stick("")

    def _stick(self, key: str) -> None:
        self.digest ^= hash((self.sticky, "sticky")) ^ hash((key, "sticky"))
        self.sticky = key

    def head(self) -> Entry | None:
        """Return the Workload that is tried next."""
        if self.sticky in self.active:
            return self.active[self.sticky]
        while self._heap:
            order, key = self._heap[0]
            found = self.active.get(key)
            if found is not None and found.order == order:
                return found
            heappop(self._heap)
        return None

    def pop(self) -> Entry | None:
        """Take out the Workload that is tried next; it stays sticky if it is."""
        found = self.head()
        if found is not None:
            self._take_out(found.key)
        return found

    def requeue(self, entry: Entry, strategy: str, reason: str) -> None:
        """Put a Workload back that was tried and not admitted."""
        if strategy == STRICT:
            at_once = reason != NAMESPACE_MISMATCH
        else:
            at_once = reason in _AT_ONCE
            if reason == PENDING_PREEMPTION:
                self._stick(entry.key)
        if at_once or (entry.tried is not None and entry.tried.is_pending):
            self.push(entry)
        else:
            self.park(entry)

    def listed(self) -> list[Entry]:
        """Return the Workloads of the heap in order."""
        return sorted(self.active.values(), key=lambda one: (one.key != self.sticky, one.order))

    def waiting(self) -> list[Entry]:
        """Return the inadmissible Workloads in order."""
        return sorted(self.inadmissible.values(), key=lambda one: (one.key != self.sticky, one.order))


def _token(entry: Entry) -> int:
    positions = entry.tried.positions if entry.tried else ()
    return hash((entry.key, tuple(tuple(sorted(one.items())) for one in positions)))
