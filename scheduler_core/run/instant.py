"""Step through a scenario as v1.11 would: pop a pod, decide, apply, record.

A cycle is the composition of a pure decision and :meth:`Simulation._apply`; ``replay()`` applies recorded
decisions without deciding, and ends in the same state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec.structs import replace

from scheduler_core.forks import Copier, dropped
from scheduler_core.interrupts import look
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.cycle import QUEUE_SHOWN, Cycle, Decision, KubernetesEvent
from scheduler_core.run.instant_stretches import InstantStretch, is_plain
from scheduler_core.run.loop import Stepper
from scheduler_core.run.manifests import Manifests
from scheduler_core.run.quirk_effects import QuirkEffects
from scheduler_core.run.stretches import MOST
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.columns import placements
from scheduler_core.schedulers.columns.events import object_changed, pod_added, pod_changed
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.extenders.answer_sources import Asking
from scheduler_core.schedulers.extenders.approval import transport
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11 import RELEASE
from scheduler_core.schedulers.v1_11.attempt import GenericScheduler
from scheduler_core.schedulers.v1_11.equivalence.batches import Batching
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper
from scheduler_core.schedulers.v1_11.extender_calls import Extension
from scheduler_core.schedulers.v1_11.policy.declared_fields import declared_fields
from scheduler_core.schedulers.v1_11.queue import PriorityQueue
from scheduler_core.schedulers.v1_11.strategy import EVALUATE_ALL, EvaluationStrategy
from scheduler_core.schedulers.v1_11.vectors import VectorStore
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration

MOVES_UNSCHEDULABLE: Mapping[tuple[str, str], bool] = {
    ("Node", "create"): True,
    ("Node", "update"): True,
    ("Node", "delete"): False,
    ("PersistentVolume", "create"): True,
    ("PersistentVolume", "update"): True,
    ("PersistentVolumeClaim", "create"): True,
    ("PersistentVolumeClaim", "update"): True,
    ("Service", "create"): True,
    ("Service", "update"): True,
    ("Service", "delete"): True,
}
"""Which events of other objects make v1.11 retry all unschedulable pods (factory event handlers).

Pods: the deletion or termination of an assigned pod moves all unschedulable pods, the addition of one moves
those whose affinity it matches.
"""


class Simulation(Stepper):
    """Step through what kube-scheduler would do with a scenario.

    ``trace=False`` omits from each Cycle what only views need. ``unabridged=True`` also
    records every predicate on every node, as if nothing were short-circuited. ``reuse=False``
    evaluates again for each pod what pods of one class share; no decision depends on it.
    ``quirk_effects=False`` does not detect the quirks that changed a result; nor does ``trace=False``.

    Raises:
        PolicyError: The scenario's policy cannot be used.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {"_stretch": dropped}

    release = RELEASE
    queue: PriorityQueue
    cache: EvaluationStrategy | None = None

    def __init__(
        self,
        scenario: Scenario,
        *,
        trace: bool = True,
        unabridged: bool = False,
        reuse: bool = True,
        quirk_effects: bool = True,
    ) -> None:
        super().__init__(scenario, trace=trace)
        self.cluster = Cluster(declared_fields())
        self._options = (unabridged, reuse)
        self.asking = Asking(scenario.answers, transport(), lambda: scenario.id)
        self._records_quirks = trace and quirk_effects
        self._start(scenario.configuration)
        self._deleted: list[str] = []
        self._time = 0.0
        self._plain_since = 0  # the cycle from which on each one was plain
        self._stretch: InstantStretch | None = None  # of these, once some were repeated or undone
        pods = self.cluster.put_all(scenario.objects)
        self.queue.add(pod for pod in pods if pod is not None and self._to_schedule(pod))
        self.cluster.refresh()
        self._know_all()

    def _start(self, configuration: Configuration) -> None:
        """Start the scheduler with an empty queue, empty caches and a round-robin counter of 0."""
        unabridged, reuse = self._options
        self._configuration = configuration
        self.queue = PriorityQueue()
        self.last_node_index = 0
        settings = configuration.settings
        self.cache = None
        if settings.cache == "batching":
            self.cache = Batching(self.cluster, self.profile)
        elif settings.cache != "off":
            self.cache = CacheKeeper(self.cluster, self.profile, settings, trace=self._trace)
        strategy = self.cache or EVALUATE_ALL
        self._schedulers: dict[str, GenericScheduler] = {}
        for name, profile in self.profiles.items():
            known = next((s for s in self._schedulers.values() if s.profile is profile), None)
            if known is None:
                vectors = VectorStore(self.cluster, profile) if reuse else None
                extension = self._extension(profile, self.asking)
                known = GenericScheduler(
                    self.cluster, self.queue, profile, vectors, strategy, self._trace, unabridged, extension
                )
            self._schedulers[name] = known
        self._effects = self._quirk_effects()

    def _extension(self, profile: Profile, port: Asking) -> Extension | None:
        """Return what asks a profile's extenders, ``None`` without any."""
        if not profile.extenders:
            return None
        return Extension(profile.extenders, port, Manifests(self.cluster), self._next_index)

    def _next_index(self) -> int:
        return self.index + 1

    def _quirk_effects(self) -> dict[str, QuirkEffects]:
        """Create the quirk detectors per schedulerName; none if quirks are not recorded."""
        if not self._records_quirks:
            return {}
        return {
            name: QuirkEffects(
                self.cluster,
                self.queue,
                profile,
                name,
                self._configuration,
                self._extension(profile, Asking(self.scenario.answers, None)),
            )
            for name, profile in self.profiles.items()
        }

    @property
    def profile(self) -> Profile:
        """The default scheduler's profile."""
        return self._configuration.profile

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """The profiles by schedulerName."""
        return self._configuration.profiles

    @property
    def time(self) -> float:
        """The time of the last operation that has one, in seconds: no time passes by itself."""
        return self._time

    @property
    def counter(self) -> int:
        """The round-robin counter, which breaks ties."""
        return self.last_node_index

    @property
    def single_cycles(self) -> int:
        """None, without a cache: a decision is applied without making it."""
        return 0

    @property
    def deleted(self) -> list[str]:
        """The victims, in order of deletion."""
        return self._deleted

    def _to_schedule(self, state: PodState) -> bool:
        """Return whether a pod is unassigned and this scheduler is responsible for it."""
        return not state.node_name and self.responsible(state.pod)

    def _know_all(self) -> None:
        """Register the existing pods with a new cache."""
        if self.cache is not None:
            for pod in self.cluster.pods.values():
                self.cache.know(pod)

    def _restart(self, operation: Operation) -> None:
        """Restart the scheduler, which is the only way v1.11 loads another policy.

        Its informers then list all pods: those without a node, including unschedulable ones, enter the active
        queue as at the start of the run, and are nominated if their status has a nominatedNodeName.
        """
        assert operation.configuration is not None
        self.cluster.relist()
        self._start(operation.configuration)
        pods = sorted(self.cluster.pods.values(), key=lambda pod: pod.order)
        self.queue.add(pod for pod in pods if self._to_schedule(pod))
        self._know_all()
        self._restarted.append(operation.id)

    @property
    def done(self) -> bool:
        """Whether no pod is left to schedule and no operation is outstanding."""
        return not self._has_attempt and not self._agenda.more

    @property
    def _has_attempt(self) -> bool:
        return len(self.queue) > 0

    def _cycle(self) -> Cycle:
        pod = self.queue.pop()
        name = pod.pod.scheduler_name
        scheduler = self._schedulers[name]
        queue = self.queue.state(shown=QUEUE_SHOWN if scheduler.trace else 0)
        cache = self.cache
        if cache is not None:
            cache.begin(self.index + 1, self.time)
        cycle = scheduler.schedule(pod, self.last_node_index)
        if name in self._effects:
            cycle.quirks = self._effects[name].of(pod, cycle)
        self._complete(cycle)
        cycle.queue = queue
        self._land(pod)
        if cache is not None:
            cache.write()
        self._finish(pod, cycle.decision)
        if cache is not None:
            cycle.cache = cache.finish(cycle.message)
        return cycle

    def _repeat(self, decision: Decision) -> bool:
        """Apply a decision without making it: nothing is evaluated, except to fill an equivalence cache."""
        pod, cache = self.queue.pop(), self.cache
        self._require_pod(pod.key, decision)
        if cache is not None:
            cache.begin(self.index + 1, self.time)
            self._schedulers[pod.pod.scheduler_name].follow(pod, self.last_node_index)
        self._land(pod)
        if cache is not None:
            cache.write()
        self._finish(pod, decision)
        if cache is not None:
            cache.finish()
        return True

    def _repeat_stretch(self, decisions: Sequence[Decision], first: int) -> int:
        if self.cache is not None or not self._advance() or self._landing:
            return 0
        if self._stretch is None and self.index - self._plain_since < placements.FEW:
            return 0
        most = self._agenda.cycles_left(self.minor)
        last = first + (MOST if most is None else min(most, MOST))
        stretch = self._stretched()
        ranked = stretch.ranked
        found = stretch.repeat(decisions, first, min(last, len(decisions)))
        if found:
            self._committed(decisions[first : first + found])
            self.last_node_index += stretch.ranked - ranked
        return found

    def rewind(self, index: int) -> bool:
        """Undo the cycles after ``index`` if all of them were plain; return whether they are undone."""
        if not self._plain_since <= index <= self.index or not self.cluster.counts_pods:
            return False
        undone, stretch = self.index - index, self._stretched()
        ranked = stretch.ranked
        stretch.back(undone)
        del self.decisions[index:]
        self.minor -= undone
        self.last_node_index += stretch.ranked - ranked
        return True

    def _stretched(self) -> InstantStretch:
        """Return the plain cycles since the last one that was not."""
        if self._stretch is None:
            self._stretch = InstantStretch(self.cluster, self.queue)
            for decision in self.decisions[self._plain_since :]:
                self._stretch.note(self.cluster.pods[decision.pod], decision)
        return self._stretch

    def _begin_stretch(self, index: int) -> None:
        """Have the plain cycles begin after cycle ``index``."""
        self._plain_since, self._stretch = index, None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_stretch": None}

    def _unchanging(self) -> Iterator[object]:
        yield from super()._unchanging()
        yield from self.profiles.values()

    def recorded_answers(self) -> Document | None:
        """Return what extenders answered, ``None`` if none was called."""
        return self.asking.recording()

    def record(self, *, trace: bool) -> None:
        """Set whether cycles record, from the next one on, what views need or only the decisions."""
        self._trace = self._records_quirks = trace
        self._effects = self._quirk_effects()
        fresh = {id(old): replace(old, trace=trace) for old in self._schedulers.values()}
        self._schedulers = {name: fresh[id(old)] for name, old in self._schedulers.items()}
        if isinstance(self.cache, CacheKeeper):
            self.cache.trace = trace

    # Parts of a step

    def _advance(self) -> bool:
        look()
        while self._agenda.more and not (self._has_attempt and self._agenda.waits(self.minor)):
            self._land_next()
        self.cluster.refresh()
        return self._has_attempt

    def _land_next(self) -> None:
        super()._land_next()
        self._begin_stretch(self.index + 1)

    def _pass_to_operation(self, operation: Operation) -> None:
        self._time = max(self._time, operation.time)

    def _land(self, pod: PodState | None = None) -> None:
        """Apply the operations that land during the cycle of ``pod``, except those on that pod itself."""
        landing, self._landing = self._landing, []
        for operation in landing:
            if pod is not None and (operation.kind, operation.key) == ("Pod", pod.key):
                self._landing.append(operation)  # the scheduler is notified after the cycle
            else:
                self._operate(operation)

    def _write(self, operation: Operation) -> None:
        """Apply one operation and move the pods that it may have made schedulable."""
        obj = operation.object
        if isinstance(obj, Pod):
            self._put_pod(obj, operation)
        elif operation.kind == "Pod":
            self._delete_pod(operation.key)
        else:
            if operation.kind == "Node" and obj is None:
                self._collect(operation.key)
            if self.cache is not None:
                previous = self.cluster.find(operation.kind, operation.key)
                self.cache.handle(object_changed(previous, obj))
            if obj is None:
                self.cluster.remove(operation.kind, operation.key)
            else:
                self.cluster.put(obj)
        if MOVES_UNSCHEDULABLE.get((operation.kind, operation.action)):
            self.queue.move_all()

    def _collect(self, node: str) -> None:
        """Delete the pods that the run placed on a deleted node, as the pod garbage collector does."""
        for pod in [pod for pod in self.cluster.pods.values() if pod.node_name == node]:
            self._delete_pod(pod.key)

    def _delete_pod(self, key: str) -> None:
        previous = self.cluster.pods.get(key)
        if previous is not None:
            self.queue.remove(previous)
        self.cluster.remove("Pod", key)
        self._notify_cache(previous, previous.node_name if previous is not None else "", None)
        if previous is not None and previous.node_name:
            self.queue.move_all()

    def _notify_cache(self, previous: PodState | None, node: str, state: PodState | None) -> None:
        """Notify the cache of a pod's change or deletion; ``node`` is the pod's previous node."""
        cache = self.cache
        if cache is None:
            return
        if state is not None:
            cache.know(state)
        old = previous.pod if previous is not None else None
        new, there = (state.pod, state.node_name) if state is not None else (None, "")
        for event in pod_changed(old, node, new, there):
            cache.handle(event)
        if previous is not None and state is None:
            cache.forget(previous.key)

    def _put_pod(self, pod: Pod, operation: Operation) -> None:
        """Create or update a pod; an update keeps its node and nomination and never revives a deleted pod."""
        previous = self.cluster.pods.get(operation.key)
        node = previous.node_name if previous is not None else ""
        if previous is None and operation.action == "update" and operation.key not in self.cluster.finished:
            return
        if previous is not None and not pod.node_name:
            pod = replace(pod, node_name=previous.node_name)
        if previous is not None:
            self.queue.remove(previous)
        state = self.cluster.put(pod)
        self._notify_cache(previous, node, state)
        if state is None:  # it has terminated: its resources are free
            if previous is not None and previous.node_name:
                self.queue.move_all()
        elif state.node_name:
            self.queue.move_matching(state.kind)
        elif self._to_schedule(state):
            state.nominated = state.nominated or (previous.nominated if previous is not None else "")
            self.queue.add([state])

    def _complete(self, cycle: Cycle) -> None:
        super()._complete(cycle)
        cycle.time = self.time
        cycle.always_check_all = self.profile.always_check_all
        cycle.events = _events(cycle)

    def _finish(self, pod: PodState, decision: Decision) -> None:
        """Apply a decision, then what lands after its cycle."""
        plain, activated = is_plain(pod, decision), self.queue.activated
        self._apply(pod, decision)
        self._land()
        self._commit(decision)
        if not plain or self.cache is not None or self.queue.activated != activated:
            self._begin_stretch(self.index)
        elif self._stretch is not None:
            self._stretch.note(pod, decision)
        self.last_node_index += decision.ranked

    def _apply(self, pod: PodState, decision: Decision) -> None:
        """Apply a decision to the cluster and the queue (section 2 of the conformance rules)."""
        if decision.result == "scheduled":
            pod.nominated = ""
            bound = self.cluster.assign(pod, decision.node or "")
            if self.cache is not None:
                self.cache.handle(pod_added(pod.pod, decision.node or "", binds=bound))
            self.queue.move_matching(pod.kind)
            return
        for key in decision.cleared:
            if key == pod.key:
                pod.nominated = ""
            else:
                self.queue.clear_nomination(key)
        if decision.nominated is not None:
            pod.nominated = decision.nominated
        self.queue.fail(pod)
        for key in decision.victims:
            victim = self.cluster.remove_pod(key)
            self._notify_cache(victim, decision.nominated or "", None)
            self._deleted.append(key)
        if decision.victims:
            self.queue.move_all()


def _events(cycle: Cycle) -> list[KubernetesEvent]:
    """Return the cycle's Kubernetes events, worded as by v1.11's event recorder."""
    decision, message = cycle.decision, cycle.message
    about = f"pod/{decision.pod}"
    if decision.result == "scheduled":
        text = f"Successfully assigned {decision.pod} to {decision.node}"
        return [KubernetesEvent("Normal", "Scheduled", about, text)]
    events = [KubernetesEvent("Warning", "FailedScheduling", about, message or "")]
    for victim in decision.victims:
        text = f"by {decision.pod} on node {decision.nominated}"
        events.append(KubernetesEvent("Normal", "Preempted", f"pod/{victim}", text))
    return events
