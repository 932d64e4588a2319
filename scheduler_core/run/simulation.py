"""Step through a scenario in virtual time: the framework's scheduler, its queue and clock, and controllers.

Between two cycles time jumps from timer to timer: Permit timeouts, ends of backoff, flushes, terminating
pods, operations. A step returns the same Cycle as v1.11's
:class:`scheduler_core.run.instant.Simulation`, plus the events before it and its consequences.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import ClassVar, Self

from msgspec.structs import replace

from scheduler_core.cluster.availability import COUNTED, FAILED, MOST_FAILED, AvailabilityTracker
from scheduler_core.cluster.descheduler.actor import Descheduler
from scheduler_core.cluster.kueue.actor import Kueue
from scheduler_core.forks import Copier, dropped, released
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.record.availability import Availability
from scheduler_core.record.cycle import Cycle, Decision, FinalState, Queues
from scheduler_core.record.timeline import UNSETTLED, TimelineEvent
from scheduler_core.run.beside import Beside, CustomSchedulers
from scheduler_core.run.builder import build, make_manager
from scheduler_core.run.control import ControlledFramework, Manager
from scheduler_core.run.cycles import cycle_of, decision_of, events_of, phases_of
from scheduler_core.run.loop import Stepper
from scheduler_core.run.operation_effects import land, live, record_operation, selects
from scheduler_core.run.queues import queue_state, queues_of, waiting_of
from scheduler_core.run.restarts import restart
from scheduler_core.run.run_end import Ending, RunEndSubject
from scheduler_core.run.several.descheduler_record import DeschedulerObserver
from scheduler_core.run.several.kueue_record import QueueingObserver
from scheduler_core.run.shared_parts import shared
from scheduler_core.run.timeline_events import EventRecording, StepEvents, Unrecorded
from scheduler_core.run.view import FrameworkReader
from scheduler_core.run.waits import longest_wait
from scheduler_core.scenario.scenario import Operation, Scenario, Selection
from scheduler_core.schedulers.v1_22 import RELEASE
from scheduler_core.schedulers.v1_22.plugins.observers import OBSERVERS
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.scheduler import Pace
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod

UNSETTLED_KEPT = 20


class TimedSimulation(FrameworkReader, Stepper):
    """Step through what a scheduler of the framework would do with a scenario, in virtual time.

    Operations land in order: one with a time at that time; one with a step when nothing is left to do *now*
    (no pod is active, no turn is pending and no timer is due), and not before its time; one with
    ``major.minor`` after that many cycles, or when no further cycle would run. ``trace=False`` omits from
    each Cycle what only views need. ``observers`` record the state of the plugins' own objects.
    ``interrupt`` is called many times a second during any computation, from the first object on; it may
    raise, after which the simulation cannot be used. ``unsettled`` lists the bounds that the run has hit.

    Raises:
        PolicyError: The scenario's configuration cannot be used.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {"_awaiting_copy": dropped}

    release = RELEASE
    _awaiting_copy: Callable[[], object] | None = None
    _ahead_of: int | None = None  # the last cycle, in a copy that was made while time passed after it

    def __init__(
        self, scenario: Scenario, *, trace: bool = True, interrupt: Callable[[], None] | None = None
    ) -> None:
        super().__init__(scenario, trace=trace)
        self.happenings = 0  # of the whole run
        self.turns = 0  # how often time advanced or an operation landed: never more than events
        self.observers = [make() for make in OBSERVERS]
        self.messages: dict[str, str] = {}  # why each pod was unschedulable at its last attempt
        self.unsettled: list[str] = []  # bounds hit and rules that never settle; the first UNSETTLED_KEPT
        self.ending = Ending(scenario.settings.until, longest_wait(scenario))
        self._custom = CustomSchedulers(scenario.schedulers)
        self._beside: Beside = self._custom
        self._recording = EventRecording({})
        self._rest: FinalState | None = None
        self._broken = False  # controllers gave up, or the run did
        self._full = False  # controllers have reached the bound on pods
        self._touched: dict[str, None] = {}
        self._started = False  # the scheduler exists
        self._deleted = []
        manager = make_manager(scenario)
        self._run_framework(self._build(manager, interrupt))
        if manager.descheduler is not None:
            self.observers.append(DeschedulerObserver(manager.descheduler))
        if manager.kueue is not None:
            self.observers.append(QueueingObserver(manager.kueue))
        self._follow_availability(self.framework)
        manager.listed = ()  # typed forms of the start, which later versions replace
        self._started = True
        self._recording.places = self.placement()
        self._beside.notice(self.framework, self.framework.changed)
        self.framework.changed.clear()

    def _run_framework(self, framework: ControlledFramework) -> None:
        self.framework = framework
        self.cluster, self.queue = framework.cluster, framework.queue.nominator

    @property
    def manager(self) -> Manager:
        """The control plane."""
        return self.framework.manager

    def _build(self, manager: Manager, interrupt: Callable[[], None] | None) -> ControlledFramework:
        """Start what schedules the scenario's objects."""
        return build(
            self._configuration,
            manager.listed,
            manager=manager,
            keep=self._keep,
            controlled=self.scenario.controllers,
            details=self._trace,
            interrupt=interrupt,
        )

    def _follow_availability(self, framework: ControlledFramework) -> None:
        framework.availability = AvailabilityTracker.start(
            framework.manager.listed, framework.pods.values(), framework.clock.now
        )

    def record_nothing(self) -> None:
        """Leave out from now on what is read of a run beside its objects and decisions.

        These are its events, where pods moved, and the availability of workloads.
        """
        self.framework.availability = None
        self.observers.clear()
        self._recording = Unrecorded({})

    @property
    def observed(self) -> ControlledFramework:
        """The framework whose queues, waiting pods and plugins a record shows."""
        return self.framework

    @property
    def waiting(self) -> Iterable[WaitingPod]:
        """The pods that wait at Permit."""
        return self._subject.waiting

    @property
    def _subject(self) -> RunEndSubject:
        """What has to come to rest before the run ends."""
        return self.framework

    def counts(self) -> dict[str, float]:
        """Return the virtual seconds, the events, the turns and the pods that ended."""
        ended = sum(pod.phase == "Succeeded" for pod in self.framework.pods.values())
        return {
            "virtual_seconds": self.time,
            "events": self.happenings,
            "turns": self.turns,
            "succeeded": ended,
        }

    @property
    def terminating(self) -> Collection[str]:
        """The pods that are deleted, and there until a kubelet has ended them."""
        return self.framework.terminating

    def availability(self) -> Availability | None:
        """Return the availability of all workloads until now."""
        tracker = self.framework.availability
        if tracker is None:
            return None
        found = tracker.result(self.time)
        failed = dict.fromkeys((*found.failed, *self.manager.unfinished()))
        return replace(found, failed=tuple(islice(failed, MOST_FAILED)))

    @property
    def descheduler(self) -> Descheduler | None:
        """The bundle's descheduler, ``None`` if it has none."""
        return self.manager.descheduler

    @property
    def kueue(self) -> Kueue | None:
        """Kueue, ``None`` if the bundle has no ClusterQueue."""
        return self.manager.kueue

    def notes(self) -> Iterator[str]:
        """Yield the state of each PodGroup, and the drains that go on."""
        yield from super().notes()
        yield from self.manager.unfinished()

    def live_object(self, kind: str, key: str) -> KubernetesObject | None:
        """Return an object as scheduler and controllers have left it, ``None`` if there is none."""
        return live(self.framework, kind, key)

    def controlled_objects(self) -> Mapping[Key, KubernetesObject] | None:
        """Return what the controllers' store has; operations of a recording do not reach it."""
        return self.manager.objects if self.framework.controlled else None

    # Steps

    def step(self) -> Cycle | None:
        """Run one scheduling cycle and its immediate consequences; return ``None`` at the end of the run."""
        if self._trace:
            for observer in self.observers:
                observer.begin(self.observed)
        return super().step()

    def _cycle(self) -> Cycle:
        trace = self._trace
        cycle, attempt, pod = self._recorded_attempt()
        framework = self.observed
        self._consequences()
        found = self._take(whole=trace)
        cycle.moves, cycle.phases = found.moves, self._phases(cycle, attempt)
        if trace:
            timeline = (*found.before, *found.after)
            cycle.happenings, cycle.consequences = found.before, found.after
            cycle.waiting = waiting_of(framework)
            own = tuple(one.record(framework, pod, attempt, timeline) for one in self.observers)
            cycle.plugins = (*cycle.plugins, *own)
            cycle.events = events_of(timeline)
        else:
            cycle.plugins = tuple(one.marked() for one in self.observers)
        self._complete(cycle)
        self._commit(cycle.decision)
        return cycle

    def _recorded_attempt(self) -> tuple[Cycle, Attempt, QueuedPod | None]:
        """Run the next attempt; return it with its record so far and with the pod that was popped for it."""
        framework, trace = self.framework, self._trace
        scheduler = self._custom.due
        pod = None if scheduler else framework.queue.head()
        if trace:
            for observer in self.observers:
                observer.popped(framework, pod)
        queue = None if pod is None else queue_state(framework, pod, whole=trace)
        counter = framework.taken
        attempt = self._attempt()
        cycle = cycle_of(framework, None if pod is None else framework.profile_of(pod), attempt, counter)
        cycle.scheduler, cycle.session = scheduler, attempt.session
        cycle.queue = queue or self._custom.queue_state(framework, scheduler, attempt, whole=trace)
        return cycle, attempt, pod

    def _phases(self, cycle: Cycle, attempt: Attempt) -> tuple[str, ...]:
        """Return the phases of an attempt whose binding cycle may have run."""
        del cycle
        return phases_of(attempt)

    @property
    def rest(self) -> FinalState | None:
        """The state at the end of the run, ``None`` while cycles remain; advances to the next cycle."""
        if self._rest is None and not self.peek():
            found = self._take()
            timeline, framework = (*found.before, *found.after), self.observed
            records = tuple(observer.final(framework) for observer in self.observers)
            self._rest = FinalState(self.time, timeline, self._queues(), records, found.moves)
        return self._rest

    def _queues(self) -> Queues:
        """Return the queues while no pod is being scheduled."""
        return queues_of(self.framework)

    @contextmanager
    def _replaying(self) -> Iterator[None]:
        details, self.framework.details = self.framework.details, False
        try:
            yield
        finally:
            self.framework.details = details

    def _repeat(self, decision: Decision) -> bool:
        """Decide again and compare, because waits, denials and controllers depend on what is computed."""
        attempt = self._attempt()
        self._require_pod(attempt.pod, decision)
        self._require_same(decision_of(attempt), decision)
        self._consequences()
        self._take(whole=False)
        for observer in self.observers:
            observer.marked()
        self._commit(decision)
        return True

    def discard(self) -> None:
        """Let go of the run, whose parts refer to each other."""
        released(self, self._unchanging())

    def _unchanging(self) -> Iterator[object]:
        yield from super()._unchanging()
        yield self._rest
        yield self.framework.interrupt
        yield from self._shared()

    def _shared(self) -> Iterator[object]:
        """Yield what a copy may share, because nothing changes it."""
        yield from shared(self.scenario, self.framework)

    @property
    def is_copyable(self) -> bool:
        """Whether no write of a controller waits."""
        return self.manager.is_copyable

    def when_copyable(self, act: Callable[[], object]) -> None:
        """Call ``act`` once when a fork is a copy: at once, or while the run advances to its next cycle."""
        self._awaiting_copy = None
        if self.is_copyable:
            act()
        else:
            self._awaiting_copy = act

    @property
    def is_ahead(self) -> bool:
        """Whether it is a copy that was made while the run advanced beyond its last cycle."""
        return self._ahead_of == self.index

    def _offer_copy(self) -> None:
        """Let who waits for a copy make it, as the run could go on from here."""
        if self._awaiting_copy is not None and self.is_copyable:
            act, self._awaiting_copy = self._awaiting_copy, None
            self._ahead_of = self.index
            act()

    def fork(self, *, trace: bool) -> Self:
        """Return an independent copy; while writes wait, one that has replayed the decisions."""
        if self.is_copyable:
            return super().fork(trace=trace)
        other = type(self)(self.scenario, trace=False, interrupt=self.framework.interrupt)
        other.replay(self.decisions)
        other.record(trace=trace)
        return other

    def record(self, *, trace: bool) -> None:
        """Set whether cycles record, from the next one on, what views need or only the decisions."""
        self._trace = self.framework.details = trace

    # Parts of a step

    @property
    def _has_attempt(self) -> bool:
        """Whether a pod can be tried now, by the framework or by a custom scheduler that is due."""
        return self.framework.queue.has_active or bool(self._beside.due)

    def _attempt(self) -> Attempt:
        """Run the next attempt; its effects on other objects are still pending."""
        scheduler = self._custom.due
        return self._custom_attempt(scheduler) if scheduler else self._framework_attempt()

    def _custom_attempt(self, scheduler: str) -> Attempt:
        """Run an attempt of a custom scheduler and bind its pods; this takes none of the framework's time."""
        framework = self.framework
        attempt = self._custom.attempt(framework, scheduler)
        placements = decision_of(attempt).placements
        pods = tuple(key for key, _ in placements) or (attempt.pod,)
        self._look()
        self._recording.begin(pods, framework.clock.now)
        framework.bind_beside(placements)
        if not placements:
            framework.record_event("FailedScheduling", attempt.pod, attempt.message)
        for key, message in attempt.in_vain:
            framework.record_event("FailedScheduling", key, message)
        for victim in attempt.victims:
            framework.evict(victim, scheduler)
        framework.patch_groups(attempt.groups)
        self.ending.tried(framework.clock.now)
        self._look()
        self._custom.applied(framework, scheduler, attempt)
        return attempt

    def _framework_attempt(self) -> Attempt:
        """Run the framework's scheduling cycle."""
        framework = self.framework
        now, cycle = framework.clock.now, self._pace()
        framework.pace = Pace(cycle=cycle)
        self._look()
        head = framework.queue.head()
        assert head is not None
        self._recording.begin((head.key,), now + cycle)
        self._touch(head.key)
        attempt = framework.attempt()
        self.ending.tried(framework.clock.now)
        self._touch(attempt.pod)
        return attempt

    def _pace(self) -> float:
        """Return how long the next cycle takes, in seconds."""
        clock = self.framework.clock
        now, moments = clock.now, (clock.next_time(), self._agenda.next_time)
        free = min((at - now for at in moments if at is not None and at > now), default=None)
        return self.ending.pace(self._subject, free)

    def _consequences(self) -> None:
        """Apply the operations that land during this cycle, then run all pending turns."""
        self._land()
        self._take_turns()

    def _take_turns(self) -> bool:
        """Run all pending turns; return whether controllers or the framework gave up, which ends the run."""
        framework = self.framework
        framework.take_turns()
        if framework.manager.full and not self._full:
            self._full = True
            most = framework.manager.options.most_pods
            framework.record_event(
                UNSETTLED, "", f"Controllers create no more pods: there are {most:,}, the most"
            )
        undone = framework.manager.gave_up
        if undone:
            undone += ": controllers undo each other's work"
        gave_up = undone or framework.gave_up
        if gave_up:
            self._give_up(f"{gave_up}. The run ends here")
        return self._broken

    def _give_up(self, why: str) -> None:
        """End the run at the current step; only the first reason is recorded."""
        if not self._broken:
            self._broken = True
            self.framework.record_event(UNSETTLED, "", why)

    def _advance(self) -> bool:
        while True:
            self._offer_copy()
            self.turns += 1
            framework = self.framework
            clock = framework.clock
            framework.interrupt()
            if self._take_turns():
                return False
            if self.ending.stuck(self._subject):
                self._give_up(
                    f"The run was ended: {self.ending.moments - 1:,} events since the last cycle are too many"
                )
                return False
            self._look()
            self._beside.set_timers(framework)
            due = clock.next_time()
            if due is not None and due <= clock.now:
                clock.fire()
            elif self._agenda.due(self.minor, clock.now, active=self._has_attempt):
                self._land_next()
            elif self._has_attempt:
                to_come = self._agenda.next_time is not None and not self._agenda.overdue(clock.now)
                if not self.ending.stops(self._subject, clock.now, more=to_come):
                    break
                if not self._go_on(due):
                    return False
            elif not self._pass_time(due):
                return False
        self.cluster.refresh()
        return True

    def _pass_time(self, due: float | None) -> bool:
        """Advance to the next timer or operation; return False at the end of the run."""
        framework = self.framework
        landing = self._agenda.next_time
        moments = [moment for moment in (due, landing) if moment is not None]
        if not moments:
            return self._land_early()
        if self.ending.over(self._subject, min(moments), more=landing is not None):
            until = self.ending.until
            if until is not None and min(moments) > until:
                framework.clock.wait_until(until)
                return False
            return self._go_on(due)
        self._pass_to(due, landing)
        return True

    def _pass_to(self, due: float | None, landing: float | None) -> None:
        clock = self.framework.clock
        if landing is not None and (due is None or landing < due):
            clock.wait_until(landing)
        else:
            clock.fire()

    def _go_on(self, due: float | None) -> bool:
        """Advance although no pod is to be tried any more; return False at the end of the run.

        What remains are operations that wait until no pod is active, then the ends of all waits at Permit.
        """
        if self._land_early():
            return True
        clock, until = self.framework.clock, self.ending.until
        if len(self._subject.waiting) and due is not None and (until is None or due <= until):
            self._pass_to(due, self._agenda.next_time)
            return True
        now = clock.now
        if self.ending.exhausted(self._subject) and (until is None or now <= until):
            tries = self.ending.attempts
            self._give_up(f"The run was ended: {tries} tries since the last operation are too many")
        return False

    def _land_early(self) -> bool:
        """Apply the next operations if they would wait for cycles or calm in vain; return whether any do."""
        until, now = self.ending.until, self.framework.clock.now
        waits = self._agenda.counting or self._agenda.overdue(now)
        if not waits or (until is not None and now > until):
            return False
        self._land_next()
        return True

    def _waits_for_cycle(self, operation: Operation) -> bool:
        return operation.during and self._has_attempt

    def _selected(self, selection: Selection) -> list[str]:
        return sorted(key for key, pod in self.framework.pods.items() if selects(selection, pod))

    def _operate(self, operation: Operation) -> None:
        manager = self.manager
        if manager.operates(operation):
            record_operation(self.framework, operation)
            manager.operate(operation)
            self.framework.ask_to_settle()
        else:
            super()._operate(operation)

    def _write(self, operation: Operation) -> None:
        self.manager.landing = operation
        land(self.framework, operation)
        self.manager.landing = None

    def _restart(self, operation: Operation) -> None:
        """Restart the scheduler: its in-memory state is lost, pods waiting at Permit become pending."""
        previous, configuration = self.framework, operation.configuration
        assert configuration is not None
        previous.take_turns()
        record_operation(previous, operation)
        self._deleted += previous.deleted
        self._configuration = configuration
        self._run_framework(restart(previous, configuration, keep=self._keep, details=self._trace))
        self.framework.availability = previous.availability
        self._beside.restarted()
        for key in previous.pods:
            self._touch(key)
        self._restarted.append(operation.id)

    def _keep(self, what: Attempt | TimelineEvent) -> None:
        """Record a timeline event; attempts are ignored."""
        if isinstance(what, Attempt):
            return
        self.happenings += 1
        self.ending.notice(what)
        if what.what == UNSETTLED:
            self.unsettled = list(dict.fromkeys((*self.unsettled, what.text)))[:UNSETTLED_KEPT]
        if what.what == "FailedScheduling":
            self.messages[what.about] = what.text
        elif what.what == "Scheduled":
            self.messages.pop(what.about, None)
        pods = self.framework.pods if self._started else {}
        self._count(what, pods)
        for observer in self.observers:
            observer.notice(what, pods)
        self._look()
        self._recording.add(what)  # a fork made now may still report it

    def _count(self, event: TimelineEvent, pods: Mapping[str, Pod]) -> None:
        """Count an eviction, or its refusal, for the workload of its pod; keep what failed."""
        tracker = self.framework.availability if self._started else None
        if tracker is not None and event.what in COUNTED and event.about in pods:
            tracker.note(event.what, pods[event.about])
        if tracker is not None and event.what in FAILED:
            tracker.fail(event)

    def _touch(self, key: str) -> None:
        self._touched[key] = None

    def _look(self) -> None:
        """Record the pods that have moved."""
        if not self._started:
            return
        touched, changed = self._touched, self.framework.changed
        if touched or changed:
            self._beside.notice(self.framework, changed)
            self._recording.look((*touched, *changed), self._place_of, self.time)
            touched.clear()
            changed.clear()

    def _place_of(self, key: str) -> str | None:
        state = self.cluster.pods.get(key)
        return state.node_name if state is not None else None

    def _take(self, *, whole: bool = True) -> StepEvents:
        self._look()
        return self._recording.take(whole=whole)
