"""The schedulers of a run, each with its view: when each may decide, and what it sends."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.cycle import Cycle, Queues, QueueState
from scheduler_core.record.several import (
    LANE_NODES,
    LANE_PODS,
    NODES_SHOWN,
    InFlight,
    Lane,
    ViewRecord,
)
from scheduler_core.run.beside import CustomSchedulers
from scheduler_core.run.control import ControlledFramework
from scheduler_core.run.cycles import cycle_of, decision_of
from scheduler_core.run.queues import queue_state, queues_of
from scheduler_core.run.report import OwnRun
from scheduler_core.run.run_end import BacksOff
from scheduler_core.run.several.beliefs import Differences, beliefs, differences, windows
from scheduler_core.run.several.figures import Figures
from scheduler_core.run.several.ledger import BindingLedger
from scheduler_core.run.several.server import SharedCluster
from scheduler_core.run.several.view import SchedulerView
from scheduler_core.scenario.scenario import Operation
from scheduler_core.schedulers.kube_batch.snapshot import ServerOption, group_of, is_watched
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_22.clock import Timer
from scheduler_core.schedulers.v1_22.queue import QueuedPod, QueueName
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.settings.release import TIMED


class Peer:
    """A scheduler with its view. ``ready`` is true once the decision that it began can be made.

    ``listed``: the settings name it, so that it has a lane before it has anything to do.
    """

    pops = False  # it takes one pod from a queue of its own, which the record shows
    is_observed = False  # the framework's plugins record their objects on its view
    leftover = 0.0  # seconds of virtual time after which it moves pods that no event has moved
    holds = 0.0  # seconds for which it can make a pod wait, beside those that PodGroups name
    release = TIMED

    def __init__(self, view: SchedulerView, *, listed: bool = False) -> None:
        self.view = view
        self.label = view.label
        self.listed = listed
        self.began: float | None = None  # when it began the decision that it is making
        self.ready = False
        self.rests_until = 0.0
        self.rest: Timer | None = None

    @property
    def runs(self) -> str:
        """What it runs: a release of kube-scheduler, or the name of a custom scheduler."""
        return self.release

    @property
    @abstractmethod
    def wants(self) -> bool:
        """Whether it has something to decide."""

    @property
    def decides_about(self) -> str:
        """The pod that it has begun to decide about, "" if there is none, or several."""
        return ""

    @property
    @abstractmethod
    def pending(self) -> int:
        """How many pods it has still to place."""

    @property
    def queued(self) -> int:
        """How many pods are in its queue, as far as the end of the run depends on them."""
        return len(self.view.queue.pods)

    def placed(self, place: QueueName) -> Sequence[BacksOff]:
        """Return the pods in one of its queues."""
        return self.view.queue.placed(place)

    @property
    def queues(self) -> Queues:
        """Its queues while no pod is being scheduled."""
        return queues_of(self.view)

    def prepare(self) -> None:
        """Process what its watches have delivered; called whenever time may have passed."""
        self.view.changed.clear()

    def stop(self) -> None:
        """End the process: it hears of nothing any more."""
        self.view.server.watchers.remove(self.view)

    def start(self) -> None:
        """Begin a decision on the view as it is."""

    @property
    def queued_pod(self) -> QueuedPod | None:
        """The pod of the framework's queue that it has popped, ``None`` without one."""
        return None

    @property
    def own_run(self) -> OwnRun | None:
        """The run that it keeps on its view, ``None`` for a scheduler of the framework."""
        return None

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """Its profiles by schedulerName, as views of the framework read them."""
        return {}

    def send_manifest(self, operation: Operation, made: Manifest | None) -> None:
        """Send an operation on a kind that only manifests describe to its view, if it reads them."""

    def shared(self) -> Iterator[object]:
        """Yield what a copy of it may share beside its view, because nothing changes it."""
        yield from ()

    def serves(self, pod: Pod) -> bool:
        """Return whether it is responsible for a pod."""
        return self.view.responsible(pod)

    @abstractmethod
    def queue_state(self, attempt: Attempt, *, whole: bool) -> QueueState:
        """Return its queue as the attempt found it."""

    @abstractmethod
    def decide(self) -> Attempt:
        """Make the decision that was begun, and send what follows from it."""

    def cycle(self, attempt: Attempt, counter: int) -> Cycle:
        """Return the record of an attempt, without the fields that only the run knows.

        ``counter`` is the round-robin counter before it.
        """
        return cycle_of(self.view, None, attempt, counter)

    def believes(self, pod: Pod) -> bool:
        """Return whether a pod on a node counts in its decisions."""
        del pod
        return True


class FrameworkPeer(Peer):
    """A kube-scheduler: one pod after the other."""

    pops = True
    is_observed = True

    def __init__(self, view: SchedulerView, *, listed: bool = False) -> None:
        super().__init__(view, listed=listed)
        self.popped: tuple[QueuedPod, Attempt] | None = None
        self._profile: Profile | None = None  # of the pod that was decided about last
        self.queue: QueueState | None = None

    @property
    def queued_pod(self) -> QueuedPod | None:
        """The pod that was popped."""
        return None if self.popped is None else self.popped[0]

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """Its profiles by schedulerName."""
        return {name: runtime.scheduling.profile for name, runtime in self.view.runtimes.items()}

    @property
    def wants(self) -> bool:
        """Whether a pod is active."""
        return self.view.queue.has_active

    @property
    def decides_about(self) -> str:
        """The pod that was popped."""
        return "" if self.popped is None else self.popped[0].key

    @property
    def pending(self) -> int:
        """The pods in its queue, with the one that was popped."""
        return len(self.view.queue.pods) + (self.popped is not None)

    def start(self) -> None:
        """Pop the pod; the queue is recorded even if no cycle is yet: a replay may ask for this one later."""
        head = self.view.queue.head()
        assert head is not None
        self.queue = queue_state(self.view, head, whole=True)
        self.popped = self.view.start_attempt()

    def decide(self) -> Attempt:
        """Decide about the pod that was popped."""
        assert self.popped is not None
        pod, attempt = self.popped
        attempt.time = self.view.clock.now
        self.view.decided(pod.key)
        self.view.finish_attempt(pod, attempt)
        self.popped, self._profile = None, self.view.profile_of(pod)
        return attempt

    def cycle(self, attempt: Attempt, counter: int) -> Cycle:
        """Return the record of an attempt under the profile of its pod."""
        return cycle_of(self.view, self._profile, attempt, counter)

    def queue_state(self, attempt: Attempt, *, whole: bool) -> QueueState:
        """Return the queue from which the pod was popped."""
        del attempt, whole
        assert self.queue is not None
        return self.queue


class BesidePeer(Peer):
    """A scheduler that decides about several pods at once, such as kube-batch."""

    def __init__(
        self, view: SchedulerView, name: str, configurations: Mapping[str, str], *, listed: bool = False
    ) -> None:
        super().__init__(view, listed=listed)
        self.name = name
        self.custom = CustomSchedulers(configurations, (name,))
        self._watched = ServerOption(name)

    @property
    def runs(self) -> str:
        """Its name."""
        return self.name

    @property
    def wants(self) -> bool:
        """Whether the time of its next session has come, and pods are pending for it."""
        return bool(self.custom.due)

    @property
    def pending(self) -> int:
        """The pods that wait for its next session."""
        return self.custom.pending(self.name)

    def prepare(self) -> None:
        """Update its pending pods, and set the timer of its next session."""
        self.custom.notice(self.view, self.view.changed)
        self.view.changed.clear()
        if self.began is None:
            self.custom.set_timers(self.view)

    def decide(self) -> Attempt:
        """Run the session and send its bindings, evictions and statuses."""
        view = self.view
        attempt = self.custom.attempt(view, self.name)
        placements = decision_of(attempt).placements
        view.assume(placements)
        view.send(self._transactions(placements))
        if not placements:
            view.record_event("FailedScheduling", attempt.pod, attempt.message)
        for key, message in attempt.in_vain:
            view.record_event("FailedScheduling", key, message)
        for victim in attempt.victims:
            view.evict(victim, self.name)
        view.patch_groups(attempt.groups)
        self.prepare()
        self.custom.applied(view, self.name, attempt)
        return attempt

    def serves(self, pod: Pod) -> bool:
        """Return whether a pod names it."""
        return pod.scheduler_name == self.name

    def queue_state(self, attempt: Attempt, *, whole: bool) -> QueueState:
        """Return its pending pods without those of the attempt."""
        return self.custom.queue_state(self.view, self.name, attempt, whole=whole)

    def _transactions(self, placements: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
        """Return the bindings by job: an arbiter commits those of a job together."""
        found: dict[str, list[tuple[str, str]]] = {}
        for key, node in placements:
            found.setdefault(group_of(self.view.pods[key]) or key, []).append((key, node))
        return list(found.values())

    def believes(self, pod: Pod) -> bool:
        """Return whether kube-batch watches a pod: one of another scheduler only once it runs."""
        return is_watched(pod, self._watched)


class Peers:
    """All schedulers of a run, in the order in which they begin what they could begin at the same moment.

    It takes the place of the custom schedulers that run beside a framework
    (:class:`scheduler_core.run.beside.CustomSchedulers`).
    """

    def __init__(
        self, peers: Sequence[Peer], server: SharedCluster, ledger: BindingLedger, figures: Figures | None
    ) -> None:
        self.peers = {peer.label: peer for peer in peers}
        self.server = server
        self.ledger = ledger
        self.figures = figures

    def __iter__(self) -> Iterator[Peer]:
        return iter(self.peers.values())

    def notice(self, framework: ControlledFramework, changed: Iterable[str]) -> None:
        """Do nothing: each view has a watch of its own."""
        del framework, changed

    def restarted(self) -> None:
        """Do nothing: the configuration does not change."""

    def set_timers(self, framework: ControlledFramework) -> None:
        """Let every scheduler begin that has something to decide and is not deciding already."""
        clock = framework.clock
        if self.figures is not None:
            self.figures.look()
        for peer in self:
            peer.prepare()
            if peer.began is not None or not peer.wants:
                continue
            time = peer.view.of.decision_time
            if not time and self.due:
                continue  # what takes no time is done before anybody else begins
            if peer.rests_until > clock.now:
                if peer.rest is None or not peer.rest.alive:
                    peer.rest = clock.schedule(peer.rests_until, peer.prepare, peer.label)
                continue
            peer.began = clock.now
            peer.start()
            peer.view.freeze()
            if time:
                clock.after(time, _Ready(peer), f"decision of {peer.label}")
            else:
                peer.ready = True

    @property
    def due(self) -> str:
        """The label of the scheduler whose decision is made next, "" if none is ready."""
        for peer in self.peers.values():
            if peer.ready:
                return peer.label
        return ""

    def decide(self, label: str, pace: float) -> tuple[Attempt, float]:
        """Make a decision that is ready; return it, and when it was begun.

        A kube-scheduler's next one begins ``pace`` seconds after this one, or when this one is made.
        """
        peer = self.peers[label]
        began, now = peer.began, self.server.clock.now
        assert began is not None
        peer.ready, peer.began = False, None
        attempt = peer.decide()
        peer.view.thaw()
        if self.figures is not None:
            self._enter(peer, attempt)
        if peer.pops:
            peer.rests_until = round(began + max(pace, now - began), 6)
        return attempt, began

    def _enter(self, peer: Peer, attempt: Attempt) -> None:
        """Enter a decision in the ledger, which nobody reads of a scheduler that is alone."""
        counted: dict[str, frozenset[str]] = {}
        placements = decision_of(attempt).placements
        for key, node in placements:
            if node not in counted:
                counted[node] = frozenset(self._counted(peer, node))
            self.ledger.decided(peer.label, key, node, counted[node] | {key})
        self.ledger.tried(peer.label, [key for key, _ in placements] or [attempt.pod])

    def _counted(self, peer: Peer, node: str) -> Iterator[str]:
        cluster = peer.view.cluster
        row = cluster.columns.index.get(node)
        for key, state in {} if row is None else cluster.residents[row].items():
            if peer.believes(state.pod):
                yield key

    def differences(self) -> dict[str, Differences]:
        """Return where the view of each scheduler differs from what the API server has.

        Schedulers that nobody listed and that never had anything to do are left out.
        """
        return {
            peer.label: differences(
                self.server,
                peer.view,
                [
                    key
                    for key, state in peer.view.cluster.pods.items()
                    if state.node_name and peer.believes(state.pod)
                ],
            )
            for peer in self
            if peer.listed or peer.began is not None or self.ledger.tallies[peer.label].attempts
        }

    def lanes(self, found: Mapping[str, Differences]) -> tuple[Lane, ...]:
        """Return the schedulers as they are now."""
        return tuple(self._lane(self.peers[label], one) for label, one in found.items())

    def _lane(self, peer: Peer, found: Differences) -> Lane:
        view, of, now = peer.view, peer.view.of, peer.view.clock.now
        believed = beliefs(self.server, view, found)
        sent = self.ledger.in_flight(peer.label)
        flights = [
            InFlight(
                pod,
                node,
                decided,
                None if view.waiting.get(pod) is not None else round(decided + of.bind_delay, 6),
            )
            for pod, node, decided in sent[:LANE_PODS]
        ]
        since = now if peer.began is None else peer.began
        return Lane(
            peer.label,
            max(0.0, round(since - of.watch_delay, 6)),
            peer.began,
            view.unheard,
            tuple(flights),
            len(sent),
            tuple(believed[:LANE_NODES]),
            len(believed),
            peer.decides_about,
            None if peer.began is None else round(peer.began + of.decision_time, 6),
            peer.pending,
            of.watch_delay,
            peer.runs,
        )

    def record(
        self,
        label: str,
        began: float,
        attempt: Attempt,
        found: Mapping[str, Differences],
        lanes: tuple[Lane, ...],
    ) -> ViewRecord:
        """Return the record of a decision that was just made; differences and lanes are from before it."""
        peer = self.peers[label]
        of, now = peer.view.of, peer.view.clock.now
        placements = decision_of(attempt).placements
        sends = bool(placements or attempt.victims) and attempt.result != "waiting"
        believed = beliefs(self.server, peer.view, found[label])
        views = {peer.label: peer.view for peer in self}
        open_windows, count = windows(self.server, views, found, (label, placements))
        return ViewRecord(
            label,
            max(0.0, round(began - of.watch_delay, 6)),
            began,
            now,
            round(now + of.bind_delay, 6) if sends else None,
            tuple(islice(believed, NODES_SHOWN)),
            len(believed),
            lanes,
            self.ledger.take(),
            tuple(open_windows),
            count,
        )


class _Ready:
    """The end of a decision's time."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def __call__(self) -> None:
        self.peer.ready = True
