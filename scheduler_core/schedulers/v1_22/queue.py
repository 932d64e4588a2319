"""The scheduling queue of Kubernetes 1.22 in virtual time: active, backoff and unschedulable.

The backoff queue is flushed every second and the unschedulable pods every 30 seconds, counted from the start;
a timer is set only for a flush that will move a pod.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Any, Literal

from msgspec import Struct

from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.v1_22.clock import VirtualClock
from scheduler_core.schedulers.v1_22.events import WILDCARDS, EventName
from scheduler_core.schedulers.v1_22.queue_flushes import backoff_look, unschedulable_look

FIRST_BACKOFF = 1.0  # seconds; doubles with every attempt
LONGEST_BACKOFF = 10.0
FLUSH = "flush"  # the prefix of the flush timers' names

QueueName = Literal["active", "backoff", "unschedulable", "gated"]


class QueuedPod(Struct, eq=False):
    """A pod in the queue: its times in seconds of virtual time, and the plugins that rejected it last."""

    state: PodState
    queued: float  # when it first entered the queue; kept over retries
    timestamp: float  # when it last entered the queue
    attempts: int = 0
    refused_by: frozenset[str] = frozenset()
    place: QueueName | None = None
    moved_by: str = ""  # the event that moved it to its place
    backoff: tuple[float, float] = (FIRST_BACKOFF, LONGEST_BACKOFF)
    turn: tuple[Any, int] = ((), -1)  # sort order in the active queue: its key, then order of arrival

    @property
    def key(self) -> str:
        """Return ``namespace/name``."""
        return self.state.key

    @property
    def backoff_until(self) -> float:
        """Return when its backoff ends, counted from when it last entered the queue."""
        first, longest = self.backoff
        return self.timestamp + min(first * 2.0 ** min(self.attempts - 1, 30), longest)


@dataclass(slots=True, eq=False)
class VirtualQueue:
    """``sort_key`` is the QueueSort plugin's; ``events`` maps a plugin to the events it registers."""

    clock: VirtualClock
    sort_key: Callable[[QueuedPod], Any]
    events: Mapping[str, frozenset[str]]
    unschedulable_stay: float = 60.0
    cycle: int = 0  # attempts begun so far
    move_cycle: int = -1  # the attempt during which pods were last moved
    nominator: Nominations = field(default_factory=Nominations)
    pods: dict[str, QueuedPod] = field(default_factory=dict)
    backoff: tuple[float, float] = (FIRST_BACKOFF, LONGEST_BACKOFF)
    _placed: dict[QueueName, dict[str, QueuedPod]] = field(
        default_factory=lambda: {"active": {}, "backoff": {}, "unschedulable": {}, "gated": {}}
    )
    _heap: list[tuple[Any, int, QueuedPod]] = field(default_factory=list)
    _order: int = 0  # of the next entry of the heap
    _looks: set[tuple[str, float]] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self._placed["active"])

    def placed(self, place: QueueName) -> list[QueuedPod]:
        """Return the pods in one of the queues; the active ones in scheduling order."""
        found = list(self._placed[place].values())
        if place == "active":
            found.sort(key=lambda pod: pod.turn)
        return found

    def count(self, place: QueueName) -> int:
        """Return how many pods are in one of the queues."""
        return len(self._placed[place])

    @property
    def has_active(self) -> bool:
        """Return whether the active queue has a pod."""
        return bool(self._placed["active"])

    def head(self) -> QueuedPod | None:
        """Return the pod that :meth:`pop` would return, ``None`` if none is active."""
        while self._heap and self._heap[0][2].place != "active":
            heappop(self._heap)
        return self._heap[0][2] if self._heap else None

    # Entering and leaving

    def add(self, state: PodState, *, gated: bool = False) -> None:
        """Queue a new pod; a pod with scheduling gates is held until they are removed."""
        pod = QueuedPod(state, self.clock.now, self.clock.now, backoff=self.backoff)
        self._put(pod, "gated" if gated else "active", "created")
        self.nominate(state)

    def pop(self) -> QueuedPod:
        """Pop the head of the active queue; its own nomination does not count during the attempt."""
        if not self.has_active:
            raise IndexError("no pod is active")
        while (pod := heappop(self._heap)[2]).place != "active":  # it was removed
            pass
        self._leave(pod)
        pod.attempts += 1
        self.cycle += 1
        self.nominator.withdraw(pod.key)
        return pod

    def fail(self, pod: QueuedPod, refused_by: Iterable[str] | None, *, backs_off: bool = False) -> QueueName:
        """Requeue a pod that could not be scheduled; ``None`` keeps the plugins that rejected it last time.

        If pods were moved during its attempt, the event may have helped this pod too: it enters the backoff
        queue, as it does if it waits for no event (``backs_off``).
        """
        if refused_by is not None:
            pod.refused_by = frozenset(refused_by)
        pod.timestamp = self.clock.now
        place: QueueName = "backoff" if backs_off or self.move_cycle >= self.cycle else "unschedulable"
        self._put(pod, place, "failed")
        self.nominate(pod.state)
        return place

    def nominate(self, state: PodState) -> None:
        """Register a pod on its nominated node."""
        self.nominator.nominate(state)

    # Moves

    def activate(self, keys: Iterable[str]) -> list[str]:
        """Move pods to the active queue at once, whatever is left of their backoff; return those moved."""
        moved = [
            pod for key in keys if (pod := self.pods.get(key)) and pod.place in ("backoff", "unschedulable")
        ]
        for pod in moved:
            self._put(pod, "active", "activated")
        return [pod.key for pod in moved]

    def move_all(self, event: EventName, but: str = "") -> list[str]:
        """Move the unschedulable pods that an event may help: to backoff while it lasts, else to active.

        ``but`` is the key of a pod that is not moved.
        """
        moved = [
            pod
            for pod in self._placed["unschedulable"].values()
            if self._helps(event, pod) and pod.key != but
        ]
        for pod in moved:
            self._retry(pod, event)
        self.move_cycle = self.cycle
        return [pod.key for pod in moved]

    def move_matching(self, bound: PodState, event: EventName) -> list[str]:
        """Move the pods with a required affinity term that matches a pod just bound or changed.

        This counts as a move even if no pod is moved (PriorityQueue.AssignedPodAdded).
        """
        kind = bound.kind
        moved = [
            pod
            for pod in self._placed["unschedulable"].values()
            if any(term.selects(kind.namespace, kind.labels) for term in pod.state.info.terms.required)
            and self._helps(event, pod)
        ]
        for pod in moved:
            self._retry(pod, event)
        self.move_cycle = self.cycle
        return [pod.key for pod in moved]

    def open_gates(self, state: PodState) -> None:
        """Move a pod whose scheduling gates were removed to the active queue."""
        pod = self.pods.get(state.key)
        if pod is not None and pod.place == "gated":
            pod.state = state
            self._put(pod, "active", "gates removed")

    def update(self, state: PodState) -> None:
        """Update a queued pod; an unschedulable pod is retried, as it may have become schedulable."""
        known = self.pods.get(state.key)
        if known is None:
            return
        known.state = state
        if known.place == "unschedulable":
            self._retry(known, "updated")
        elif known.place == "active":
            self.resort()
        self.nominate(state)

    def remove(self, key: str) -> None:
        """Remove a deleted pod."""
        pod = self.pods.get(key)
        if pod is not None:
            self._leave(pod)
        self.nominator.withdraw(key)

    def resort(self) -> None:
        """Sort the active pods again after their sort keys have changed."""
        active = self._placed["active"].values()
        for pod in active:
            pod.turn = (self.sort_key(pod), pod.turn[1])
        self._heap = [(*pod.turn, pod) for pod in active]
        heapify(self._heap)

    def retry_at(self, pod: QueuedPod) -> float | None:
        """Return when a flush moves a pod, in virtual seconds; ``None`` if it is active or gated."""
        if pod.place == "backoff":
            return backoff_look(pod.backoff_until)
        return self._flush_of(pod) if pod.place == "unschedulable" else None

    def helped_by(self, pod: QueuedPod) -> tuple[str, ...]:
        """Return the cluster events that move an unschedulable pod; all of them if no plugin rejected it."""
        plugins = pod.refused_by or self.events
        return tuple(sorted({event for plugin in plugins for event in self.events.get(plugin, ())}))

    # Internals

    def _flush_of(self, pod: QueuedPod) -> float:
        return unschedulable_look(pod.timestamp, self.unschedulable_stay)

    def _helps(self, event: EventName, pod: QueuedPod) -> bool:
        if not pod.refused_by or event in WILDCARDS:
            return True
        return any(event in self.events.get(plugin, ()) for plugin in pod.refused_by)

    def _leave(self, pod: QueuedPod) -> None:
        self.pods.pop(pod.key, None)
        if pod.place is not None:
            del self._placed[pod.place][pod.key]
            pod.place = None

    def _retry(self, pod: QueuedPod, by: str) -> None:
        """Requeue a pod: to the active queue, or to backoff while its backoff lasts."""
        self._put(pod, "backoff" if pod.backoff_until > self.clock.now else "active", by)

    def _put(self, pod: QueuedPod, place: QueueName, by: str) -> None:
        self._leave(pod)
        self.pods[pod.key] = self._placed[place][pod.key] = pod
        pod.place, pod.moved_by = place, by
        if place == "active":
            pod.turn = (self.sort_key(pod), self._order)
            heappush(self._heap, (*pod.turn, pod))
            self._order += 1
        elif place == "backoff":
            self._look("backoff", backoff_look(pod.backoff_until), self._flush_backoff)
        elif place == "unschedulable":
            self._look("unschedulable", self._flush_of(pod), self._flush_unschedulable)

    def _look(self, queue: str, at: float, action: Callable[[], None]) -> None:
        if (queue, at) in self._looks:
            return
        self._looks.add((queue, at))
        self.clock.schedule(at, partial(self._looked, queue, at, action), f"{FLUSH} of the {queue} queue")

    def _looked(self, queue: str, at: float, action: Callable[[], None]) -> None:
        self._looks.discard((queue, at))
        action()

    def _flush_backoff(self) -> None:
        now = self.clock.now
        ended = [pod for pod in self._placed["backoff"].values() if pod.backoff_until <= now]
        for pod in sorted(ended, key=lambda pod: pod.backoff_until):
            self._put(pod, "active", "backoff ended")

    def _flush_unschedulable(self) -> None:
        now = self.clock.now
        old = [
            pod
            for pod in self._placed["unschedulable"].values()
            if now - pod.timestamp > self.unschedulable_stay
        ]
        for pod in old:
            self._retry(pod, "UnschedulableTimeout")
        if old:
            self.move_cycle = self.cycle
