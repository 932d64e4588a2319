"""Step through a scenario whose schedulers have views of their own.

A step is a decision of one of them, at the moment at which it is made: the view is that of when it began.
What is shown of the cluster (nodes, pods, placement) is what the API server has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from itertools import chain
from typing import Any, ClassVar

from scheduler_core.cluster.controllers.kubelet import REFUSED
from scheduler_core.forks import Copier, dropped
from scheduler_core.kubernetes.kinds import MANIFEST_KINDS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.record.cycle import Cycle, Queues
from scheduler_core.record.timeline import UNSETTLED, TimelineEvent
from scheduler_core.run.beside import CustomSchedulers
from scheduler_core.run.control import ControlledFramework, Manager
from scheduler_core.run.operation_effects import record_operation
from scheduler_core.run.plane.control_plane import ControlPlaneManager
from scheduler_core.run.plane.manifests import StoredManifests
from scheduler_core.run.report import Contest, OwnRun
from scheduler_core.run.restarts import listed
from scheduler_core.run.run_end import BacksOff, RunEndSubject
from scheduler_core.run.several.builder import PeerBuilder, make_peers, make_server
from scheduler_core.run.several.claims import ClaimController
from scheduler_core.run.several.figures import Figures
from scheduler_core.run.several.ledger import BindingLedger
from scheduler_core.run.several.peers import Peers
from scheduler_core.run.several.server import SharedCluster
from scheduler_core.run.several.v1_37_peer import V1_37Attempt
from scheduler_core.run.shared_parts import shared
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.extenders.answer_sources import Asking
from scheduler_core.schedulers.extenders.approval import transport
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.queue import QueuedPod, QueueName
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod
from scheduler_core.settings.release import BY_PLUGINS


class SeveralSimulation(TimedSimulation):
    """Step through what several schedulers do with a scenario, each on its own view.

    ``ledger`` has what became of their decisions, ``figures`` what the design is measured by, ``peers`` the
    schedulers.

    Raises:
        PolicyError: The scenario's configuration cannot be used.
    """

    peers: Peers
    ledger: BindingLedger
    figures: Figures | None  # of several
    manifests: StoredManifests | None  # if one of them runs v1.37
    claims: ClaimController | None  # where v1.37 runs
    asking: Asking | None  # the extenders of v1.37
    lone: ClassVar[bool] = False  # one v1.37 answers alone
    _everyone: AllSchedulers | None = None

    FORKED: ClassVar[Mapping[str, Copier]] = {"_everyone": dropped}

    def __init__(
        self, scenario: Scenario, *, trace: bool = True, interrupt: Callable[[], None] | None = None
    ) -> None:
        super().__init__(scenario, trace=trace, interrupt=interrupt)
        self._custom = CustomSchedulers({}, ())  # each has a view of its own
        schedulers = scenario.settings.schedulers
        self.ending.longest_wait += max((one.window for one in schedulers), default=0.0)
        self.ending.longest_wait += max(peer.leftover for peer in self.peers)

    def _build(self, manager: Manager, interrupt: Callable[[], None] | None) -> ControlledFramework:
        scenario = self.scenario
        native = self.lone or any(map(scenario.settings.runs, BY_PLUGINS))
        server = self._make_server(
            manager.listed,
            native=native,
            manager=manager,
            keep=self._keep,
            details=self._trace,
            controlled=scenario.controllers,
            interrupt=interrupt,
        )
        self.ledger = BindingLedger(server.clock, server.bound_to)
        server.ledger = None if self.lone else self.ledger
        self.manifests = None
        if native:
            self.manifests = self._make_manifests(server)
            server.watchers.append(self.manifests)
        self.claims = None if self.manifests is None else ClaimController(server, self.manifests)
        answers = None if self.manifests is None else scenario.answers
        self.asking = None if answers is None else Asking(answers, transport(), lambda: scenario.id)
        self.figures = None if self.lone else Figures(server.clock, server)
        self._start(server)
        if self.claims is not None:
            server.watchers.append(self.claims)
        if self.figures is not None:
            server.watchers.append(self.figures)
            self.figures.start()
        return server

    @property
    def compiled_copies(self) -> int:
        """How many schedulers have an object compiled from each manifest: the peers that run v1.37."""
        listed = self.scenario.settings.schedulers
        return self.lone or sum(one.replicas for one in listed if one.runs in BY_PLUGINS)

    def _make_server(self, objects: Iterable[KubernetesObject], **given: Any) -> SharedCluster:
        return make_server(self._configuration, objects, **given)

    def _make_manifests(self, server: SharedCluster) -> StoredManifests:
        manager = server.manager
        if isinstance(manager, ControlPlaneManager):
            return manager.manifests
        return StoredManifests(self.scenario, manager, listed(server))

    def _start(self, server: SharedCluster) -> None:
        """Start the schedulers over what the API server has."""
        scenario = self.scenario
        make = PeerBuilder(
            configuration=self._configuration,
            settings=scenario.settings,
            objects=tuple(listed(server)),
            texts=scenario.schedulers,
            manifests=self.manifests,
            server=server,
            ledger=self.ledger,
            keep=self._keep,
            custom=scenario.custom,
            lone=self.lone,
            claims=self.claims,
            asking=self.asking,
            number=self._number,
        )
        peers = make_peers(make)
        self._everyone = None
        self.ending.longest_wait = max(self.ending.longest_wait, *(peer.holds for peer in peers))
        self.peers = self._beside = Peers(peers, server, self.ledger, self.figures)
        self._observed = next((one.label for one in peers if one.is_observed), peers[0].label)

    def _number(self) -> int:
        """Return the number of the cycle that is made next, from 1."""
        return self.index + 1

    @property
    def observed(self) -> ControlledFramework:
        """The view of the kube-scheduler that decided last."""
        return self.peers.peers[self._observed].view

    def _queues(self) -> Queues:
        """Return the queues of the scheduler that decided last."""
        return self.peers.peers[self._observed].queues

    @property
    def profiles(self) -> dict[str, Profile]:
        """The profiles by schedulerName."""
        found: dict[str, Profile] = {}
        for peer in self.peers:
            for name, profile in peer.profiles.items():
                found.setdefault(name, profile)
        return found or super().profiles

    def responsible(self, pod: Pod) -> bool:
        """Return whether some scheduler is responsible for a pod."""
        return any(peer.serves(pod) for peer in self.peers)

    def recorded_answers(self) -> Document | None:
        """Return what extenders answered, ``None`` if none was called."""
        return None if self.asking is None else self.asking.recording()

    @property
    def contest(self) -> Contest | None:
        """What became of the schedulers' decisions, ``None`` for a scheduler by itself."""
        return None if self.figures is None else Contest(self.ledger, self.figures)

    def own_run_for(self, pod: Pod) -> OwnRun | None:
        """Return the run of the first scheduler that is responsible for a pod and keeps one."""
        found = (peer.own_run for peer in self.peers if peer.serves(pod))
        return next((run for run in found if run is not None), None)

    @property
    def _subject(self) -> RunEndSubject:
        if self._everyone is None:
            self._everyone = AllSchedulers(self.peers, self.framework)
        return self._everyone

    def _recorded_attempt(self) -> tuple[Cycle, Attempt, QueuedPod | None]:
        label, trace = self.peers.due, self._trace
        peer = self.peers.peers[label]
        view, counter = peer.view, peer.view.taken
        pod = peer.queued_pod
        if pod is not None:
            self._observed = label
        if trace:
            for observer in self.observers:
                observer.popped(self.observed, pod)
        views = trace and not self.lone
        found = self.peers.differences() if views else {}
        lanes = self.peers.lanes(found)
        attempt, began = self._decide()
        cycle = peer.cycle(attempt, counter)
        cycle.scheduler, cycle.session = "" if peer.pops else view.of.name, attempt.session
        cycle.queue = peer.queue_state(attempt, whole=trace)
        if views:
            cycle.view = self.peers.record(label, began, attempt, found, lanes)
        else:
            self.ledger.take()  # else a later cycle would show them
        return cycle, attempt, pod

    def _attempt(self) -> Attempt:
        attempt = self._decide()[0]
        self.ledger.take()  # of a cycle that is not recorded
        return attempt

    def _decide(self) -> tuple[Attempt, float]:
        label = self.peers.due
        peer = self.peers.peers[label]
        now = self.framework.clock.now
        self._look()
        popped = peer.queued_pod
        if popped is not None:
            self._observed = label
        self._recording.begin(() if popped is None else (popped.key,), now)
        attempt, began = self.peers.decide(label, self._pace())
        self.ending.tried(now)
        self._look()
        return attempt, began

    def _keep(self, what: Attempt | TimelineEvent) -> None:
        if isinstance(what, TimelineEvent) and what.what.startswith(REFUSED) and self._started:
            self.ledger.refused(what.about, what.text, what.what)
        super()._keep(what)

    def _restart(self, operation: Operation) -> None:
        """Report that the configuration stays: schedulers with views of their own are not restarted."""
        record_operation(
            self.framework, operation, " has no effect: schedulers with delays are not restarted"
        )
        text = f"operation {operation.id} has no effect: schedulers with delays are not restarted"
        self.framework.record_event(UNSETTLED, "", text)

    def _operate(self, operation: Operation) -> None:
        manifests = None if self.manager.operates(operation) else self.manifests
        if manifests is not None and operation.kind in MANIFEST_KINDS:
            record_operation(self.framework, operation)
            made = manifests.operated(operation)
            for peer in self.peers:
                peer.send_manifest(operation, made)
            if self.claims is not None:
                self.claims.operated(operation.kind, operation.key, made)
        else:
            super()._operate(operation)

    def _phases(self, cycle: Cycle, attempt: Attempt) -> tuple[str, ...]:
        """Return the phases of an attempt; those of v1.37 are known with its decision."""
        return cycle.phases if isinstance(attempt, V1_37Attempt) else super()._phases(cycle, attempt)

    def _shared(self) -> Iterator[object]:
        yield from super()._shared()
        if self.manifests is not None:
            yield from self.manifests.stored()
        for peer in self.peers:
            yield from shared(self.scenario, peer.view)
            yield from peer.shared()


class TogetherQueue:
    """The queues of all schedulers."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers

    @property
    def pods(self) -> Sized:
        """As many elements as there are queued pods."""
        return range(sum(peer.queued for peer in self._peers))

    def placed(self, place: QueueName) -> list[BacksOff]:
        """Return the pods in one of the queues of each scheduler."""
        return [pod for peer in self._peers for pod in peer.placed(place)]


class AllSchedulers:
    """All schedulers of a run as one subject: it ends when all of them have come to rest."""

    def __init__(self, peers: Peers, server: ControlledFramework) -> None:
        self._views = [peer.view for peer in peers]
        self._server = server
        self.clock, self.pods, self.release = server.clock, server.pods, server.release
        self.queue = TogetherQueue(peers)

    @property
    def waiting(self) -> tuple[WaitingPod, ...]:
        """The pods that wait at Permit of any scheduler."""
        return tuple(chain.from_iterable(view.waiting for view in self._views))

    @property
    def plugins(self) -> list[Plugin]:
        """The plugins of all schedulers."""
        return [plugin for view in self._views for plugin in view.plugins]

    @property
    def expects(self) -> bool:
        """Whether something will happen by itself: an event of a controller, a write that is under way."""
        return self._server.expects or any(view.is_busy for view in self._views)
