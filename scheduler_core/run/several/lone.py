"""Step through a scenario as a kube-scheduler v1.37 by itself would, with controllers and kubelets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from math import floor, inf
from typing import Any, ClassVar

from scheduler_core.cluster.v1_37.loop import Loop, UnsettledError
from scheduler_core.cluster.v1_37.watches import StoredWrite
from scheduler_core.forks import Copier, emptied
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.agenda import Agenda
from scheduler_core.run.control import ControlledFramework
from scheduler_core.run.operation_effects import record_operation
from scheduler_core.run.plane.control_plane import ControlPlaneManager
from scheduler_core.run.plane.manifests import StoredManifests
from scheduler_core.run.plane.reasons import is_event
from scheduler_core.run.run_end import CYCLE
from scheduler_core.run.several.branch_checks import BranchPoint, parting
from scheduler_core.run.several.living_view import LivingView
from scheduler_core.run.several.server import SharedCluster
from scheduler_core.run.several.simulation import SeveralSimulation
from scheduler_core.run.several.v1_37_peer import V1_37Attempt, V1_37Peer
from scheduler_core.run.several.v1_37_view import Reserved, V1_37View
from scheduler_core.run.v1_37.claims import has_claims
from scheduler_core.run.v1_37.loop import V1_37Stepper
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.scheduler import Pace
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod
from scheduler_core.schedulers.v1_37.configuration import runs_coscheduling
from scheduler_core.schedulers.v1_37.queue import SchedulingQueue
from scheduler_core.schedulers.v1_37.run import SchedulerRun

DAY = 86_400.0
MOMENT = 1e-6
"""The least time between two events, in seconds."""


class LoneStepper(V1_37Stepper, SeveralSimulation):  # type: ignore[override]
    """Step through what one kube-scheduler v1.37 does at an API server of its own.

    No record of views is made. In a recording nobody else acts, and a cycle takes a millisecond.

    Raises:
        PolicyError: The scenario's configuration cannot be used.
    """

    lone = True

    def __init__(
        self, scenario: Scenario, *, trace: bool = True, interrupt: Callable[[], None] | None = None
    ) -> None:
        self._members = {}
        super().__init__(scenario, trace=trace, interrupt=interrupt)

    def _decide(self) -> tuple[Attempt, float]:
        attempt, began = super()._decide()
        self._note_attempt(attempt)
        return attempt, began

    def _note_attempt(self, attempt: Attempt) -> None:
        if isinstance(attempt, V1_37Attempt) and attempt.ran is not None:
            self._keep_members(attempt.ran, self.index + 1)
        if attempt.result in ("scheduled", "waiting"):
            self._touch(attempt.pod)
            for pod, _ in attempt.further:
                self._touch(pod)
        self._look()

    def _keep(self, what: Attempt | TimelineEvent) -> None:
        if isinstance(what, TimelineEvent) and isinstance(what.detail, WaitingPod):
            self._touch(what.about)  # it leaves the node that it held at Permit
        super()._keep(what)

    @property
    def _reserved(self) -> Mapping[str, Reserved]:
        """The pods that were placed and whose binding is not written yet."""
        view = self.observed
        return view.reserved if isinstance(view, V1_37View) else {}

    def placement(self) -> dict[str, str]:
        """Return the node of every pod, also that which it holds until it is bound; "" for a pending one."""
        found = super().placement()
        held = {key: one.node for key, one in self._reserved.items()}
        held |= {one.key: one.node for one in self.observed.waiting}
        return {**found, **{key: node for key, node in held.items() if found.get(key) == ""}}

    def _place_of(self, key: str) -> str | None:
        """Return a pod's node, also that which it holds until it is bound."""
        place = super()._place_of(key)
        held = (self.observed.waiting.get(key) or self._reserved.get(key)) if place == "" else None
        return place if held is None else held.node

    def _make_server(self, objects: Iterable[KubernetesObject], **given: Any) -> SharedCluster:
        given["gangs"] = any(map(runs_coscheduling, self.scenario.configurations))
        given["indexes"] = isinstance(given["manager"], ControlPlaneManager)
        return super()._make_server(objects, **given)

    def _restart(self, operation: Operation) -> None:
        """Restart the scheduler: its queue is filled from the API server, controllers keep running."""
        server = self.framework
        assert isinstance(server, SharedCluster)
        assert operation.configuration is not None
        server.take_turns()
        record_operation(server, operation)
        self._configuration = operation.configuration
        for peer in self.peers:
            for waiting in peer.view.waiting:
                self._touch(waiting.key)
            peer.stop()
        self._start(server)
        self._restarted.append(operation.id)

    @property
    def run(self) -> SchedulerRun:
        """The scheduler with its queue, and its cluster of manifests."""
        view = self.observed
        assert isinstance(view, V1_37View)
        return view.scheduler_run

    @property
    def unmade_claims(self) -> Mapping[str, str]:
        """Why ResourceClaims could not be made, by pod."""
        return {} if self.claims is None else self.claims.problems

    @property
    def stored(self) -> StoredManifests:
        """The manifests that the API server has."""
        assert self.manifests is not None
        return self.manifests

    def notes(self) -> Iterator[str]:
        """Yield the state of each PodGroup, and the drains that go on."""
        yield from super().notes()  # of a run of v1.37, which knows of no drain
        yield from self.manager.unfinished()


class LoneSimulation(LoneStepper):
    """Step through what kube-scheduler v1.37 and its control plane do, on the clock of their API server.

    ``loop`` is that clock, with the writes that wait, and ``peer`` the scheduler.

    The scheduler is one of those who write there: it hears of each write before the next one, a cycle takes
    no time but that of its writes, and a user's operation finds all done that takes no time.

    Raises:
        PolicyError: The scenario's configuration cannot be used.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {"_awaited": emptied, "_before_seconds": emptied}

    loop: Loop
    peer: V1_37Peer
    view: LivingView
    _queue: SchedulingQueue

    def __init__(
        self, scenario: Scenario, *, trace: bool = True, interrupt: Callable[[], None] | None = None
    ) -> None:
        super().__init__(scenario, trace=trace, interrupt=interrupt)
        self._awaited: list[float] = []
        self._before_seconds: dict[float, LoneSimulation] = {}
        self._last = inf
        if not trace:
            self.cluster.uncount()

    def _make_server(self, objects: Iterable[KubernetesObject], **given: Any) -> SharedCluster:
        return super()._make_server(objects, **given, pace=Pace(creation=0.0))

    def _start(self, server: SharedCluster) -> None:
        super()._start(server)
        (peer,) = self.peers
        assert isinstance(peer, V1_37Peer)
        assert isinstance(peer.view, LivingView)
        self.peer, self.view = peer, peer.view
        self._queue = peer.view.scheduler_run.queue

    def _run_framework(self, framework: ControlledFramework) -> None:
        super()._run_framework(framework)
        self.loop = self.plane.loop
        self.loop.holds = self._holds

    @property
    def plane(self) -> ControlPlaneManager:
        """The control plane."""
        manager = self.framework.manager
        assert isinstance(manager, ControlPlaneManager)
        return manager

    # Typed objects

    def record_nothing(self) -> None:
        """Leave out records, and let typed objects follow only where an operation reads them."""
        super().record_nothing()
        if not self.view.apart:
            self.plane.keep_back(self._note)

    def _note(self, write: StoredWrite) -> None:
        """Take note of a write whose event is not recorded."""
        if is_event(write):
            self.ending.restart(self.time)
        if write.kind == "Pod" and has_claims(write.new or write.old or {}):
            self.framework.later(self._catch_up)  # their controller reads typed pods

    def _catch_up(self) -> None:
        """Let the typed objects follow what was kept back; its events are of earlier moments."""
        if not self.plane.is_behind:
            return
        ending = copy(self.ending)
        self.framework.follow(self.plane.catch_up())
        self._take_turns()
        self.ending = ending

    def placement(self) -> dict[str, str]:
        """Return the node of every pod, also that which it holds until it is bound; "" for a pending one."""
        self._catch_up()
        return super().placement()

    def _land_on(self, operation: Operation) -> None:
        self._catch_up()
        super()._land_on(operation)

    def _holds(self) -> bool:
        """Return whether the scheduler tries a pod before the next write is made."""
        peer, view = self.peer, self.view
        if peer.ready or self._queue.is_empty:
            return peer.ready
        view.plan()
        return not view.busy and self.loop.now >= peer.rests_until and peer.wants

    @property
    def _has_attempt(self) -> bool:
        return self._holds()

    # Branches

    def parts_from(self, scenario: Scenario) -> float | None:
        """Return the second from which another scenario differs from this run's."""
        found = self._parting(scenario)
        return None if found is None or found.after is not None else found.second

    def _parting(self, scenario: Scenario) -> BranchPoint | None:
        asks = any(one.extenders for one in self.scenario.configurations)
        return None if asks else parting(self.scenario, scenario)

    def keep_before(self, second: float) -> None:
        """Keep a fork of the moment at which an operation of this second would land, for :meth:`branched`."""
        self._awaited.append(second)

    def stop_after(self, second: float) -> None:
        """Have the run end before anything that comes after a second."""
        self._last = second

    def has_kept(self, second: float) -> bool:
        """Return whether that moment has come."""
        return second in self._before_seconds

    def branched(self, scenario: Scenario, *, trace: bool) -> LoneSimulation | None:
        """Return a run of another scenario that goes on where it parts from this one, or earlier."""
        found = self._parting(scenario)
        if found is None:
            return None
        kept = [second for second in self._before_seconds if second <= found.second]
        run = self._before_seconds[max(kept)] if kept else self if self._is_before(found) else None
        if run is None:
            return None
        other = run.fork(trace=trace)
        other.go_on_as(scenario)
        return other

    def _is_before(self, parting: BranchPoint) -> bool:
        """Return whether a further operation would not have landed yet, nor changed anything."""
        until, (number, second, after) = self.ending.until, parting
        if self._rest is not None or self._broken or not self.is_copyable:
            return False
        if after is not None:
            landed = sum(len(one) for _, one in self._agenda.steps[: self._agenda.landed])
            passed = self.minor + self.is_ahead
            return not self.peer.ready and (landed < number or passed <= after)
        return self.loop.now < second >= self.ending.paced and (until is None or second <= until)

    def go_on_as(self, scenario: Scenario) -> None:
        """Continue with the operations of another scenario, which is the same until now."""
        self.scenario = scenario
        self._agenda = Agenda(Agenda.of(scenario.operations).steps, self._agenda.landed)
        self._configuration = self._before = scenario.configuration
        self.plane.manifests.go_on_as(scenario)

    def _coming(self, moment: float | None) -> float:
        """Return when something happens next, infinity at the end of the run."""
        more = self._agenda.next_time is not None
        over = moment is None or self.ending.over(self._subject, moment, more=more)
        return inf if moment is None or over else moment

    def _keep_forks(self, coming: float) -> None:
        """Keep forks for the awaited seconds that are there before the next thing happens."""
        for second in [one for one in self._awaited if one <= coming]:
            self._awaited.remove(second)
            if not self._broken and self.ending.paced <= second:
                self.run.scheduling.reuse.catch_up()
                self._catch_up()
                kept = self._before_seconds[second] = self.fork(trace=False)
                kept.loop.advance(second - MOMENT)

    # Attempts

    def _decide(self) -> tuple[Attempt, float]:
        peer, now = self.peer, self.framework.clock.now
        self._look()
        pace = self._pace()
        self._recording.begin((peer.decides_about,), now)
        peer.ready = False
        attempt = peer.decide()
        if pace > CYCLE:
            peer.rests_until = round(now + pace, 6)
        self.ending.tried(now)
        self._follow_news()
        self._note_attempt(attempt)
        return attempt, now

    def _consequences(self) -> None:
        self._land()
        self._follow_news()

    # Time

    def _follow_news(self) -> None:
        """Let the typed objects follow if anything was written or is to be heard of."""
        if self.plane.has_news or self.framework.turns:
            self._follow()

    def _follow(self) -> bool:
        """Let the typed objects follow what was written; return whether the run gave up."""
        framework = self.framework
        framework.clock.wait_until(whole_milliseconds(self.loop.now))
        framework.ask_to_settle()
        broken = self._take_turns()
        self.peer.prepare()
        return broken

    def _advance(self) -> bool:
        while not self.peer.ready:
            self._offer_copy()
            self.turns += 1
            self.framework.interrupt()
            settled = self._pass_in_plane(self.loop.now)
            if self._follow():
                return False
            if self.ending.stuck(self._subject):
                self._give_up(
                    f"The run was ended: {self.ending.moments - 1:,} events since the last cycle are too many"
                )
                return False
            self._look()
            clock = self.framework.clock
            due = clock.next_time()
            if due is not None and due <= self.loop.now:
                clock.fire()
            elif settled and (self._holds() or not self.loop.is_settled):
                continue  # what the typed objects observed gives the scheduler something to do
            elif self._lands(settled=settled):
                self._land_next()
            elif not settled:
                to_come = self._agenda.next_time is not None and not self._agenda.overdue(clock.now)
                if not self.ending.stops(self._subject, clock.now, more=to_come):
                    self.peer.start()
                    self.peer.ready = True
                elif not self._go_on(due):
                    return False
            elif not self._pass_time(earliest(due, self.view.due(self.peer.rests_until))):
                return False
        self.cluster.refresh()
        return True

    def _lands(self, *, settled: bool) -> bool:
        """Return whether the next operations land now."""
        if settled and self._awaited:
            self._keep_forks(self.loop.now)
        due = self._agenda.due
        return (settled or self._agenda.counting) and due(self.minor, self.loop.now, active=not settled)

    def _pass_in_plane(self, until: float) -> bool:
        """Let the control plane go on to a time; return False if the scheduler acts before."""
        try:
            return self.loop.advance(until)
        except UnsettledError as error:
            self.plane.gave_up = f"{error} keeps changing while no virtual time passes"
            return True

    def _pass_time(self, due: float | None) -> bool:
        """Pass on; up to a given end within a day also what prolongs no run by itself is not left out."""
        until, idle = self.ending.until, self.loop.first_time
        sooner = earliest(due, self._agenda.next_time)
        if sooner is not None and sooner > self._last:
            return False
        if self._awaited:
            self._keep_forks(self._coming(sooner if until is None else earliest(sooner, idle)))
        within = until is not None and idle is not None and idle <= until <= self.loop.now + DAY
        if within and idle is not None and (sooner is None or idle < sooner):
            self._pass_in_plane(idle)
            return True
        goes_on = super()._pass_time(due)
        if not goes_on and until is not None and self.framework.clock.now >= until:
            self._pass_in_plane(until)
            self._follow()
        return goes_on

    def _pass_to(self, due: float | None, landing: float | None) -> None:
        moment = earliest(due, landing)
        assert moment is not None
        self._pass_in_plane(moment)

    def _operate(self, operation: Operation) -> None:
        self.loop.tick()
        super()._operate(operation)


def whole_milliseconds(time: float) -> float:
    """Return a time as it is shown: without the microseconds that writes take."""
    return floor(time * 1000 + 1e-6) / 1000


def earliest(*moments: float | None) -> float | None:
    """Return the earliest of some times, ``None`` without any."""
    return min((at for at in moments if at is not None), default=None)
