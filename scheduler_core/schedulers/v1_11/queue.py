"""The scheduling queue: active pods, unschedulable pods, and the pods nominated to each node."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import ClassVar

from scheduler_core.forks import Copier, Forkable, Memo, copied
from scheduler_core.record.cycle import QUEUE_SHOWN, QueueState
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.columns.pods import PodKind, PodState

QueuePosition = tuple[int, int, PodState]
"""Priority, negated position of creation, which no two pods share, and the pod: the head is the greatest."""


def _forked(active: list[QueuePosition], memo: Memo) -> list[QueuePosition]:
    return [(priority, place, copied(pod, memo)) for priority, place, pod in active]


class PriorityQueue(Nominations, Forkable):
    """Active pods by priority, then creation; unschedulable pods wait until an event requeues them
    (core.PriorityQueue). A nominated pod in either queue counts on its node.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {"_active": _forked}

    def __init__(self) -> None:
        super().__init__()
        self._active: list[QueuePosition] = []  # ascending: the head is popped from the end
        self._unschedulable: dict[str, PodState] = {}
        self._seeking: dict[str, PodState] = {}  # unschedulable pods with required affinity terms
        self._moved = False  # whether a move was requested since the last pop
        self.activated = 0  # pods that left the unschedulable queue by an event

    def __len__(self) -> int:
        return len(self._active)

    def add(self, pods: Iterable[PodState]) -> None:
        """Put pods into the active queue."""
        fresh = []
        for pod in pods:
            self.nominate(pod)
            fresh.append(self.position_of(pod))
        self._insert(fresh)

    @staticmethod
    def position_of(pod: PodState) -> QueuePosition:
        """Return the position of a pod in the active queue."""
        return pod.priority, -pod.order, pod

    def _insert(self, fresh: list[QueuePosition]) -> None:
        if len(fresh) > 8:
            self._active.extend(fresh)
            self._active.sort()
        else:
            for entry in fresh:
                insort(self._active, entry)

    def pop(self) -> PodState:
        """Pop the head; its own nomination does not count during its attempt."""
        self._moved = False
        pod = self._active.pop()[2]
        self.withdraw(pod.key)
        return pod

    def fail(self, pod: PodState) -> None:
        """Put a pod whose attempt failed into the unschedulable queue, with its nomination.

        If a move was requested during the attempt, the pod goes to the active queue instead, because the
        event may be the one it waits for (PriorityQueue.AddUnschedulableIfNotPresent, receivedMoveRequest).
        """
        if self._moved:
            self.add([pod])
            return
        self._unschedulable[pod.key] = pod
        if pod.info.terms.required:
            self._seeking[pod.key] = pod
        self.nominate(pod)

    def move_all(self) -> None:
        """Move every unschedulable pod to the active queue (MoveAllToActiveQueue)."""
        self._moved = True
        self._activate(list(self._unschedulable.values()))

    def move_matching(self, kind: PodKind) -> None:
        """Move the pods with a required affinity term that a newly bound pod matches (AssignedPodAdded)."""
        self._moved = True
        if self._seeking:
            self._activate(
                [
                    pod
                    for pod in self._seeking.values()
                    if any(term.selects(kind.namespace, kind.labels) for term in pod.info.terms.required)
                ]
            )

    def _activate(self, pods: list[PodState]) -> None:
        self.activated += len(pods)
        for pod in pods:
            del self._unschedulable[pod.key]
            self._seeking.pop(pod.key, None)
        self._insert([self.position_of(pod) for pod in pods])

    @property
    def seeks(self) -> bool:
        """Whether an unschedulable pod waits for another one to be placed."""
        return bool(self._seeking)

    def next_positions(self) -> Iterator[QueuePosition]:
        """Yield the entries of the active queue, in the order in which they are popped."""
        return reversed(self._active)

    def pop_all(self, count: int) -> None:
        """Pop the next pods, none of which is nominated; the last one's attempt has ended."""
        del self._active[-count:]

    def fail_all(self, pods: Iterable[PodState], *, moved: bool) -> None:
        """Put popped pods into the unschedulable queue; ``moved``: the last attempt of all placed a pod."""
        self._moved = False
        for pod in pods:
            self.fail(pod)
        self._moved = moved

    def put_back(self, positions: Sequence[QueuePosition], failed: Iterable[PodState]) -> None:
        """Undo the attempts of the pods that were popped last, from the first one to the last."""
        for pod in failed:
            self._unschedulable.pop(pod.key, None)
            self._seeking.pop(pod.key, None)
        self._active += reversed(positions)
        self._moved = False

    def remove(self, pod: PodState) -> None:
        """Remove a pod from the queue that holds it, if one does."""
        self.withdraw(pod.key)
        self._seeking.pop(pod.key, None)
        if self._unschedulable.pop(pod.key, None) is None:
            place = bisect_left(self._active, (pod.priority, -pod.order))
            if place < len(self._active) and self._active[place][2] is pod:
                del self._active[place]

    def clear_nomination(self, key: str) -> None:
        """Clear the nomination of a waiting pod."""
        self.nominated[self._nodes[key]][key].nominated = ""
        self.withdraw(key)

    def state(self, shown: int = QUEUE_SHOWN) -> QueueState:
        """Return the state of both queues, with at most ``shown`` entries of each."""
        active = [(pod.key, priority, -order) for priority, order, pod in self._active[: -shown - 1 : -1]]
        waiting = islice(self._unschedulable.values(), shown)
        return QueueState(
            active=active,
            active_count=len(self._active),
            unschedulable=[(pod.key, pod.priority, pod.order) for pod in waiting],
            unschedulable_count=len(self._unschedulable),
        )
