"""A kube-scheduler v1.37 with other schedulers: its queue and cycle, on its own view, in virtual time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from msgspec.structs import replace

from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.cycle import Cycle, Queues, QueueState
from scheduler_core.record.plugin_record import PluginRecord
from scheduler_core.run.cycles import decision_of
from scheduler_core.run.queues import waiting_of
from scheduler_core.run.report import OwnRun
from scheduler_core.run.run_end import BacksOff
from scheduler_core.run.several.peers import Peer
from scheduler_core.run.several.v1_37_bindings import send_binding
from scheduler_core.run.several.v1_37_coscheduling import longest_hold
from scheduler_core.run.several.v1_37_groups import failures, is_leaving, schedule_group
from scheduler_core.run.several.v1_37_view import V1_37View
from scheduler_core.run.v1_37.cycle_record import record_of
from scheduler_core.run.v1_37.cycles import Places, bare_cycle, fill, leading, places_of
from scheduler_core.run.v1_37.cycles import decision_of as decision_of_ran
from scheduler_core.run.v1_37.queues import EntryCache, queue_state, queues_of
from scheduler_core.scenario.scenario import Operation
from scheduler_core.schedulers.v1_22.clock import Timer
from scheduler_core.schedulers.v1_22.queue import QueuedPod, QueueName
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.entities import Entity, QueuedGroup, QueuedPodInfo
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.queue import LEFTOVER_AFTER
from scheduler_core.schedulers.v1_37.run import Ran

_DEFAULT = "default-scheduler"


class BackingOff(NamedTuple):
    """The end of a pod's backoff, in virtual seconds."""

    backoff_until: float


@dataclass(slots=True)
class V1_37Attempt(Attempt):
    """An attempt of v1.37; ``ran`` is its own record, ``start`` the index that its walk began with.

    ``asked`` are the waiting pods that events asked about since the attempt before, ``calls`` the records of
    extenders.
    """

    ran: Ran | None = None
    start: int = 0
    asked: tuple[Mapping[str, Any], ...] = ()
    calls: tuple[PluginRecord, ...] = ()

    @property
    def ranked(self) -> bool:
        """Whether several nodes were feasible."""
        tried = None if self.ran is None else leading(self.ran)
        return tried is not None and tried.ranked


class V1_37Peer(Peer):
    """A kube-scheduler v1.37: one pod or PodGroup after the other, from a queue with hints and backoff.

    What a cycle does in a plain run of v1.37 (:meth:`.SchedulerRun.cycle`) is done here in two parts:
    what the scheduler does itself at the decision, and what it writes when that arrives.
    """

    pops = True
    leftover = LEFTOVER_AFTER / SECOND

    def __init__(self, view: V1_37View, *, listed: bool = False) -> None:
        super().__init__(view, listed=listed)
        self.view: V1_37View = view
        self.popped: Entity | None = None
        self.holds = longest_hold(view.scheduler_run.configuration)
        self._queue: QueueState | None = None
        self._flush: Timer | None = None
        self._entry_cache = EntryCache()
        self._places: tuple[tuple[str, ...], Places] | None = None  # of nodes of these names
        self._moves: list[Mapping[str, Any]] = []
        self._moved = view.moved
        self._note_moves()

    @property
    def runs(self) -> str:
        """Which release it is."""
        return self.view.scheduler_run.configuration.dialect.name

    @property
    def wants(self) -> bool:
        """Whether a pod can be tried: an active one or, as v1.37 does, one that backs off."""
        return self._head() is not None

    def _head(self) -> Entity | None:
        """Return what is tried next; what is being deleted is dropped."""
        queue = self.view.scheduler_run.queue
        while (head := queue.active.first() or queue.backoff.first()) is not None and _is_leaving(head):
            queue.pop()
            queue.done()
        return head

    @property
    def own_run(self) -> OwnRun:
        """The run on its view, with the pods whose bindings are not confirmed yet."""
        assumed = {pod: reserved.node for pod, reserved in self.view.reserved.items()}
        return OwnRun(self.label, self.view.scheduler_run, assumed)

    @property
    def queued_pod(self) -> QueuedPod | None:
        """The pod that was popped, if the scheduler runs Coscheduling, which observes it."""
        permits = self.view.permits
        return None if permits is None or self.popped is None else permits.queued(self.decides_about)

    @property
    def decides_about(self) -> str:
        """The pod that was popped, or the first of the group."""
        return "" if self.popped is None else self.popped.members[0].key

    @property
    def pending(self) -> int:
        """The pods in its queue, with the one that was popped."""
        return self.queued + (self.popped is not None)

    @property
    def queued(self) -> int:
        """How many pods are in its queue."""
        queue = self.view.scheduler_run.queue
        ranked = (queue.active, queue.backoff, queue.error_backoff)
        return sum(map(len, ranked)) + len(queue.unschedulable)

    def placed(self, place: QueueName) -> Sequence[BacksOff]:
        """Return when each backoff of its queue ends; nothing waits for the pods in others."""
        if place != "backoff":
            return ()
        queue = self.view.scheduler_run.queue
        return [
            BackingOff((entity.backoff_expires or 0) / SECOND + 1.0)
            for entity in (*queue.backoff, *queue.error_backoff)
        ]

    @property
    def queues(self) -> Queues:
        """Its queues while no pod is being scheduled."""
        found = queues_of(self.view.scheduler_run, self._moved, self._entry_cache)
        if not len(self.view.waiting):
            return found
        counts = {**found.counts, "waiting": len(self.view.waiting)}
        return replace(found, counts=counts, waiting=waiting_of(self.view))

    def send_manifest(self, operation: Operation, made: Manifest | None) -> None:
        """Send an operation on a kind that only manifests describe to its view."""
        self.view.send_later(operation.kind, operation.key, None, made)

    def shared(self) -> Iterator[object]:
        """Yield its configuration, and what that consists of."""
        configuration = self.view.scheduler_run.configuration
        yield configuration
        yield configuration.profiles
        yield from configuration.profiles.values()

    def serves(self, pod: Pod) -> bool:
        """Return whether one of its profiles has the pod's schedulerName."""
        return (pod.scheduler_name or _DEFAULT) in self.view.scheduler_run.configuration.profiles

    def prepare(self) -> None:
        """Let the queue's time pass, and set the timer of its next flush."""
        super().prepare()
        at = self.view.prepare()
        self._note_moves()
        timer = self._flush
        if timer is not None and timer.alive:
            if timer.at == at:
                return
            timer.cancel()
        self._flush = None
        if at is not None:
            self._flush = self.view.clock.schedule(at, self.view.catch_up, f"queue of {self.label}")

    def stop(self) -> None:
        """End the process, with the timer of its queue."""
        super().stop()
        if self._flush is not None:
            self._flush.cancel()

    def _note_moves(self) -> None:
        for move in self.view.scheduler_run.moves.drain():
            self._moves.append(move)
            if move["to"] is not None:
                self._moved[move["pod"]] = move["event"]

    def start(self) -> None:
        """Pop the pod. If deciding takes time, the queue is recorded now: a replay may ask for it later."""
        run, head = self.view.scheduler_run, self._head()
        assert head is not None
        self._queue = self._queue_without(head, whole=True) if self.view.of.decision_time else None
        popped = run.queue.pop()
        assert popped is head
        self.popped = head

    def _queue_without(self, head: Entity, *, whole: bool) -> QueueState:
        run = self.view.scheduler_run
        found = queue_state(run, head, self._moved, self._entry_cache, whole=whole)
        if found.timed is None or not len(self.view.waiting):
            return found
        counts = {**found.timed.counts, "waiting": len(self.view.waiting)}
        return replace(found, timed=replace(found.timed, counts=counts, waiting=waiting_of(self.view)))

    def queue_state(self, attempt: Attempt, *, whole: bool) -> QueueState:
        """Return the queue from which the pod was popped."""
        del attempt, whole
        assert self._queue is not None
        return self._queue

    def decide(self) -> V1_37Attempt:
        """Decide about the pod or the group that was popped, and send what follows."""
        waiting, self.popped = self.popped, None
        assert waiting is not None
        view, run = self.view, self.view.scheduler_run
        self._queue = self._queue or self._queue_without(waiting, whole=view.details)
        view.catch_up()
        extension = run.scheduling.extension
        if extension is not None:
            extension.trace = view.details
        start = run.scheduling.start
        if isinstance(waiting, QueuedGroup):
            ran = schedule_group(view, waiting, self._bind_member)
        else:
            ran = self._schedule(waiting)
        attempt = self._attempt(ran, start)
        attempt.calls = () if extension is None else (extension.drain(),)
        if view.permits is not None:
            attempt.statuses = view.permits.drain()
        for key, message in failures(ran):
            view.record_event("FailedScheduling", key, message)
        return attempt

    def _schedule(self, waiting: QueuedPodInfo) -> Ran:
        """Schedule one pod."""
        view, run = self.view, self.view.scheduler_run
        hint = run.batching.hint(waiting.pod, run.queue.popped, run.clock.now)
        schedule = run.scheduling.schedule if view.details else run.scheduling.schedule_untraced
        tried = schedule(waiting.pod, hint=hint)
        if view.permits is not None:
            view.permits.remember(tried)
        placed = tried.node is not None and tried.error is None
        if placed:
            placed = self._place(waiting, tried)
        else:
            self._fail(waiting, tried)
        key, victims = waiting.key, [pod.key for pod in tried.victims]
        return Ran(key, key, [tried], {key: str(tried.node)} if placed else {}, victims, [])

    def _place(self, waiting: QueuedPodInfo, tried: PodAttempt) -> bool:
        """Assume the pod and send its binding; return False if it waits at Permit, or is refused."""
        view, run = self.view, self.view.scheduler_run
        run.batching.store(tried, run.queue.popped, run.clock.now)
        run.scheduling.reserve(tried)
        if view.permits is not None and not view.permits.ask(waiting, tried):
            return False
        run.queue.done()
        if send_binding(view, waiting, tried):
            return True
        tried.queue = run.queue.requeue(waiting)
        return False

    def _bind_member(self, waiting: QueuedPodInfo, tried: PodAttempt) -> bool:
        """Assume a member of a native PodGroup and send its binding; if refused, it is not filed again."""
        run = self.view.scheduler_run
        run.scheduling.reserve(tried)
        run.queue.done()
        return send_binding(self.view, waiting, tried)

    def _fail(self, waiting: QueuedPodInfo, tried: PodAttempt) -> None:
        """Run PostFilter, file the pod, nominate it, and send the evictions (handleSchedulingFailure)."""
        view, run = self.view, self.view.scheduler_run
        if tried.error is None:
            run.scheduling.post_filter(tried)
        run.scheduling.fail(tried)
        for change in tried.changes:
            view.write_manifest(change)
        if tried.victims:
            run.rules.preempting.add(waiting.key)
        waiting.failed(run.clock.now, tried.unschedulable_plugins, tried.pending_plugins)
        view.note_failed(waiting)
        tried.queue = run.queue.requeue(waiting)
        if tried.nominated is None:
            run.nominations.put(run.cluster.pods[waiting.key])
        else:
            view.nominate(waiting.key, tried.nominated)
        victims = [pod.key for pod in tried.victims]
        view.preempt([waiting.key], victims, [pod.key for pod in tried.lost_nominations])
        view.report(waiting.key, tried)

    def _attempt(self, ran: Ran, start: int) -> V1_37Attempt:
        view, decided, tried = self.view, decision_of_ran(ran), leading(ran)
        self._note_moves()
        asked, self._moves = tuple(self._moves), []
        return V1_37Attempt(
            view.scheduler_run.queue.popped,
            view.clock.now,
            decided.pod,
            decided.result,  # type: ignore[arg-type]
            decided.node or "",
            "" if tried is None or ran.bound else tried.message or "",
            nominated=decided.nominated or "",
            victims=decided.victims,
            cleared=decided.cleared,
            further=decided.further,
            ran=ran,
            start=start,
            asked=asked,
        )

    def cycle(self, attempt: Attempt, counter: int) -> Cycle:
        """Return the record of an attempt, without the fields that only the run knows."""
        del counter
        assert isinstance(attempt, V1_37Attempt)
        assert attempt.ran is not None
        run, columns, whole = self.view.scheduler_run, self.view.cluster.columns, self.view.details
        cycle = bare_cycle(decision_of(attempt), columns.names)
        cycle.time = attempt.time
        fill(cycle, attempt.ran, self._node_places(), whole=whole)
        cycle.phases = tuple(_with_points(cycle.phases, {point for point, _, _ in attempt.statuses}))
        if whole:
            made = record_of(run, self._entry_cache, attempt.ran, cycle, attempt.start, attempt.asked)
            cycle.plugins = (made, *attempt.calls)
        return cycle

    def _node_places(self) -> Places:
        """Return where each row of v1.37's columns is among the nodes; kept until nodes come or go."""
        columns, nodes = self.view.cluster.columns, self.view.scheduler_run.cluster.nodes
        known = self._places
        if known is None or known[0] is not columns.names or len(known[1]) != len(nodes):
            known = self._places = columns.names, places_of(nodes, columns.index)
        return known[1]


def _with_points(phases: Sequence[str], said: set[str]) -> Iterator[str]:
    """Yield the phases of an attempt with those at which Coscheduling said something."""
    for phase in phases:
        yield phase
        if phase == "queue" and "PreFilter" in said:
            yield "preFilter"
    if "PostFilter" in said and "preemption" not in phases:  # which is PostFilter under v1.37
        yield "postFilter"


def _is_leaving(head: Entity) -> bool:
    return is_leaving(head) if isinstance(head, QueuedGroup) else head.pod.terminating
