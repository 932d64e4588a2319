"""A scenario that steps in virtual time: the framework's scheduler, its queue and clock, and controllers.

Between two cycles time jumps from timer to timer: permits that run out, backoff that ends, flushes, pods that
end, operations that land. A step's cycle is that of v1.11's
:class:`scheduler_core.simulation.instant.Simulation`, with what happened before it and what it brought about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any

from scheduler_core.config.policy.difference import differences
from scheduler_core.framework.configuration.profiles import Configuration
from scheduler_core.framework.plugins.observers import OBSERVERS
from scheduler_core.framework.record import Attempt
from scheduler_core.framework.scheduler import Pace
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.scheduling.cycle import Cycle, Decision, FinalState, Restart
from scheduler_core.scheduling.timeline import UNSETTLED, TimelineEvent
from scheduler_core.simulation.virtual.agenda import Agenda
from scheduler_core.simulation.virtual.building import build, make_manager
from scheduler_core.simulation.virtual.cycles import cycle_of, decision_of, events_of, phases_of
from scheduler_core.simulation.virtual.ending import Ending
from scheduler_core.simulation.virtual.forking import shared
from scheduler_core.simulation.virtual.landing import land, tell_of
from scheduler_core.simulation.virtual.queues import queue_state, queues_of, waiting_of
from scheduler_core.simulation.virtual.recording import EventRecording, StepEvents
from scheduler_core.simulation.virtual.restarting import restart
from scheduler_core.simulation.virtual.view import FrameworkReader
from scheduler_core.simulation.virtual.waits import longest_wait

UNSETTLED_KEPT = 20


class TimedSimulation(FrameworkReader):
    """Step through what a scheduler of the framework would do with a scenario, in virtual time.

    Operations land in their order: one with a time at that time; one with a step when nothing is left to do
    *now*, that is no pod is active, nobody waits for a turn and no timer is due, and not before its time;
    with ``major.minor`` after so many cycles, or when no other is to come. ``trace=False`` leaves
    out of each Cycle what only views need. ``observers`` record what plugins' own objects go through.
    ``interrupt`` is called many times a second while anything is worked out, from the first object on; it may
    raise, and then the simulation is of no more use. ``unsettled`` names the bounds that the run has hit.

    Raises:
        PolicyError: The scenario's configuration cannot be used.
    """

    def __init__(
        self, scenario: Scenario, *, trace: bool = True, interrupt: Callable[[], None] | None = None
    ) -> None:
        self.scenario = scenario
        self.decisions = []
        self.major = 1
        self.minor = 0
        self.happenings = 0  # of the whole run
        self.turns = 0  # how often time was let pass or something landed: never more than things that happen
        self.observers = [make() for make in OBSERVERS]
        self.messages: dict[str, str] = {}  # why each pod was not scheduled when it was last tried
        self.unsettled: list[str] = []  # bounds that were hit, and rules that never settle; the first of them
        self.ending = Ending(scenario.settings.until, longest_wait(scenario))
        self._trace = trace
        self._configuration = Configuration(scenario.policy, scenario.settings)
        self._agenda = Agenda.of(scenario.operations)
        self._landing: list[Operation] = []
        self._applied: list[str] = []
        self._restarted: list[str] = []
        self._recording = EventRecording({})
        self._rest: FinalState | None = None
        self._broken = False  # controllers gave up, or the run did
        self._full = False  # controllers have met the bound on pods
        self._touched: dict[str, None] = {}
        self._started = False  # the scheduler is there
        self._deleted = []
        self.framework = build(
            self._configuration,
            scenario.objects,
            manager=make_manager(scenario.objects, scenario.most_pods),
            keep=self._keep,
            controlled=self.scenario.controllers,
            details=trace,
            interrupt=interrupt,
        )
        self._started = True
        self._before = self.profile
        self._recording.places = self.placement()
        self.framework.changed.clear()

    # Steps

    def __iter__(self) -> Iterator[Cycle]:
        while (cycle := self.step()) is not None:
            yield cycle

    def step(self) -> Cycle | None:
        """Run one scheduling cycle and what follows from it at once; ``None`` at the end of the run."""
        trace = self._trace
        if trace:
            for observer in self.observers:
                observer.begin(self.framework)
        if not self._advance():
            return None
        framework = self.framework
        pod = framework.queue.head()
        assert pod is not None
        if trace:
            for observer in self.observers:
                observer.popped(framework, pod)
        queue = queue_state(framework, pod, whole=trace)
        counter = framework.taken
        attempt = self._attempt()
        cycle = cycle_of(framework, pod, attempt, counter)
        self._consequences()
        found = self._take(whole=trace)
        cycle.queue, cycle.moves, cycle.phases = queue, found.moves, phases_of(attempt)
        if trace:
            told = (*found.before, *found.after)
            cycle.happenings, cycle.consequences = found.before, found.after
            cycle.waiting = waiting_of(framework)
            cycle.plugins = tuple(one.record(framework, pod, attempt, told) for one in self.observers)
            cycle.events = events_of(told)
        else:
            cycle.plugins = tuple(one.marked() for one in self.observers)
        self._complete(cycle)
        self._commit(cycle.decision)
        return cycle

    @property
    def rest(self) -> FinalState | None:
        """How the run stands at its end, ``None`` while cycles are to come. What comes before happens."""
        if self._rest is None and not self.peek():
            found = self._take()
            told, framework = (*found.before, *found.after), self.framework
            records = tuple(observer.final(framework) for observer in self.observers)
            self._rest = FinalState(self.time, told, queues_of(framework), records, found.moves)
        return self._rest

    @property
    def done(self) -> bool:
        """Whether no cycle is to come. What comes before the next one happens for that."""
        return not self.peek()

    def peek(self) -> bool:
        """Let happen what comes before the next cycle; tell whether there is one."""
        return self._advance()

    def replay(self, decisions: Iterable[Decision]) -> None:
        """Go through cycles whose decisions are known, without recording what views need.

        They are made again, for waits, denials and controllers follow from them, and compared.

        Raises:
            ValueError: A cycle decides something else.
        """
        details, self.framework.details = self.framework.details, False
        try:
            for decision in decisions:
                self._repeat(decision)
        finally:
            self.framework.details = details

    def _repeat(self, decision: Decision) -> None:
        if not self._advance():
            raise ValueError(
                f"cycle {self.index + 1}: no pod is left to schedule, but a decision for {decision.pod}"
            )
        attempt = self._attempt()
        if attempt.pod != decision.pod:
            raise ValueError(
                f"cycle {self.index + 1} is about {attempt.pod}, the decision about {decision.pod}"
            )
        made = decision_of(attempt)
        if made != decision:
            raise ValueError(f"cycle {self.index + 1} decides {made}, not {decision}")
        self._consequences()
        self._take(whole=False)
        for observer in self.observers:
            observer.marked()
        self._commit(decision)

    def fork(self, *, trace: bool) -> TimedSimulation:
        """Return another simulation that stands where this one does, and goes on by itself.

        Objects, decisions and compiled pods are shared, for nothing changes them.
        """
        unchanging = (
            self._before,
            self._configuration,
            self._rest,
            *self.decisions,
            *self._recording.happenings,
            *shared(self.scenario, self.framework),
        )
        memo: dict[int, Any] = {id(one): one for one in unchanging}
        memo[id(self.framework.interrupt)] = self.framework.interrupt
        memo[id(self.framework.manager)] = self.framework.manager.copy()
        other = deepcopy(self, memo)
        other.record(trace=trace)
        return other

    def record(self, *, trace: bool) -> None:
        """Record, from the next cycle on, what views need, or what is decided alone."""
        self._trace = self.framework.details = trace

    # Parts of a step

    def _attempt(self) -> Attempt:
        """Run the scheduling cycle; what it does beside the objects is still in line."""
        framework = self.framework
        now = framework.clock.now
        moments = (framework.clock.next_time(), self._agenda.next_time)
        free = min((at - now for at in moments if at is not None and at > now), default=None)
        cycle = self.ending.pace(framework, free)
        framework.pace = Pace(cycle=cycle)
        self._look()
        head = framework.queue.head()
        assert head is not None
        self._recording.begin(head.key, now + cycle)
        self._touch(head.key)
        attempt = framework.attempt()
        self.ending.tried(framework.clock.now)
        self._touch(attempt.pod)
        return attempt

    def _consequences(self) -> None:
        """Let everybody have their turn before the next cycle, operations inside this one first."""
        landing, self._landing = self._landing, []
        for operation in landing:
            self._operate(operation)
        self._take_turns()

    def _take_turns(self) -> bool:
        """Let everybody have their turn; tell whether somebody gave up, so that the run is over."""
        framework = self.framework
        framework.take_turns()
        if framework.manager.full and not self._full:
            self._full = True
            most = framework.manager.options.most_pods
            framework.tell(UNSETTLED, "", f"Controllers make no more pods: there are {most:,}, the most")
        undone = framework.manager.gave_up
        if undone:
            undone += ": controllers undo each other's work"
        gave_up = undone or framework.gave_up
        if gave_up:
            self._give_up(f"{gave_up}. The run ends here")
        return self._broken

    def _give_up(self, why: str) -> None:
        """End the run where it is; only the first reason counts."""
        if not self._broken:
            self._broken = True
            self.framework.tell(UNSETTLED, "", why)

    def _advance(self) -> bool:
        """Let time pass until there is a pod to try; tell whether there is one."""
        while True:
            self.turns += 1
            framework = self.framework
            clock = framework.clock
            framework.interrupt()
            if self._take_turns():
                return False
            if self.ending.stuck(framework):
                self._give_up(
                    f"The run was ended: {self.ending.moments - 1:,} events since the last cycle are too many"
                )
                return False
            due = clock.next_time()
            self._look()
            if due is not None and due <= clock.now:
                clock.fire()
            elif self._agenda.due(self.minor, clock.now, active=framework.queue.has_active):
                self._land_next()
            elif framework.queue.has_active:
                to_come = self._agenda.next_time is not None and not self._agenda.overdue(clock.now)
                if not self.ending.stops(framework, clock.now, more=to_come):
                    break
                if not self._go_on(due):
                    return False
            elif not self._pass_time(due):
                return False
        self.cluster.refresh()
        return True

    def _pass_time(self, due: float | None) -> bool:
        """Go to the next timer or operation; tell whether there is one that is still to come."""
        framework = self.framework
        landing = self._agenda.next_time
        moments = [moment for moment in (due, landing) if moment is not None]
        if not moments:
            return self._land_early()
        if self.ending.over(framework, min(moments), more=landing is not None):
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
        """Let come, though nobody is to be tried any more, what still has to; tell whether anything does.

        That is operations which wait for a calm, and then the end of every wait at Permit.
        """
        if self._land_early():
            return True
        framework, until = self.framework, self.ending.until
        if len(framework.waiting) and due is not None and (until is None or due <= until):
            self._pass_to(due, self._agenda.next_time)
            return True
        now = framework.clock.now
        if self.ending.exhausted(framework) and (until is None or now <= until):
            tries = self.ending.attempts
            self._give_up(f"The run was ended: {tries} tries since the last operation are too many")
        return False

    def _land_early(self) -> bool:
        """Let operations land that wait for cycles or a calm that will not come; tell if there are any."""
        until, now = self.ending.until, self.framework.clock.now
        waits = self._agenda.counting or self._agenda.overdue(now)
        if not waits or (until is not None and now > until):
            return False
        self._land_next()
        return True

    def _land_next(self) -> None:
        step, operations = self._agenda.take()
        self.major, self.minor = step + 1, 0
        for operation in operations:
            self._applied.append(operation.id)
            if operation.during and self.framework.queue.has_active:
                self._landing.append(operation)
            else:
                self._operate(operation)

    def _operate(self, operation: Operation) -> None:
        if operation.configuration is not None:
            self._restart(operation, operation.configuration)
        else:
            land(self.framework, operation)

    def _restart(self, operation: Operation, configuration: Configuration) -> None:
        """Start the scheduler anew: what it had in memory is gone, pods that waited at Permit are pending."""
        former = self.framework
        former.take_turns()
        tell_of(former, operation)
        self._deleted += former.deleted
        self._configuration = configuration
        self.framework = restart(former, configuration, keep=self._keep, details=self._trace)
        for key in former.pods:
            self._touch(key)
        self._restarted.append(operation.id)

    def _keep(self, what: Attempt | TimelineEvent) -> None:
        """Take note of an attempt, or of what happened."""
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
        for observer in self.observers:
            observer.notice(what, pods)
        self._look()
        self._recording.tell(what)  # a copy that is made now may tell of it

    def _touch(self, key: str) -> None:
        self._touched[key] = None

    def _look(self) -> None:
        """Take note of the pods that are not where they were."""
        if not self._started:
            return
        touched, changed = self._touched, self.framework.changed
        if touched or changed:
            self._recording.look((*touched, *changed), self._place_of, self.time)
            touched.clear()
            changed.clear()

    def _place_of(self, key: str) -> str | None:
        state = self.cluster.pods.get(key)
        return state.node_name if state is not None else None

    def _take(self, *, whole: bool = True) -> StepEvents:
        self._look()
        return self._recording.take(whole=whole)

    def _complete(self, cycle: Cycle) -> None:
        """Fill in what only the run knows."""
        cycle.index = self.index + 1
        cycle.step = f"{self.major}.{self.minor + 1}"
        cycle.operations = tuple(self._applied)
        if self._restarted:
            cycle.restart = Restart(tuple(self._restarted), tuple(differences(self._before, self.profile)))

    def _commit(self, decision: Decision) -> None:
        self.decisions.append(decision)
        self._applied = []
        self._restarted = []
        self._before = self.profile
        self.minor += 1
