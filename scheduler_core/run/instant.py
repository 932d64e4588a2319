"""Step through a scenario: pop a pod, decide, apply, record.

``step()`` is the composition of a pure decision and :meth:`Simulation._apply`; ``replay()``
applies recorded decisions without deciding, and ends in the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from itertools import groupby

from msgspec.structs import replace

from scheduler_core.interrupting import look
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.cycle import Cycle, Decision, KubernetesEvent, Restart
from scheduler_core.run.manifests import Manifests
from scheduler_core.run.quirk_effects import QuirkEffects
from scheduler_core.run.reported import ReportedRun
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.extenders.approval import transport
from scheduler_core.schedulers.extenders.asking import Asking
from scheduler_core.schedulers.v1_11 import RELEASE
from scheduler_core.schedulers.v1_11.attempt import GenericScheduler
from scheduler_core.schedulers.v1_11.columns.events import object_changed, pod_added, pod_changed
from scheduler_core.schedulers.v1_11.columns.pods import PodState
from scheduler_core.schedulers.v1_11.columns.state import Cluster
from scheduler_core.schedulers.v1_11.equivalence.batching import Batching
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper
from scheduler_core.schedulers.v1_11.extending import Extension
from scheduler_core.schedulers.v1_11.policy import Profile
from scheduler_core.schedulers.v1_11.policy.declared import declared_fields
from scheduler_core.schedulers.v1_11.policy.difference import differences
from scheduler_core.schedulers.v1_11.queue import QUEUE_SHOWN, PriorityQueue
from scheduler_core.schedulers.v1_11.strategy import EVALUATE_ALL, Strategy
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


class Simulation(ReportedRun):
    """Step through what kube-scheduler would do with a scenario.

    ``trace=False`` omits from each Cycle what only views need. ``unabridged=True`` also
    records every predicate on every node, as if nothing were short-circuited. ``reuse=False``
    evaluates again for each pod what pods of one class share; no decision depends on it.
    ``quirk_effects=False`` does not detect the quirks that changed a result; nor does ``trace=False``.

    Raises:
        PolicyError: The scenario's policy cannot be used.
    """

    release = RELEASE

    def __init__(
        self,
        scenario: Scenario,
        *,
        trace: bool = True,
        unabridged: bool = False,
        reuse: bool = True,
        quirk_effects: bool = True,
    ) -> None:
        self.scenario = scenario
        self.cluster = Cluster(declared_fields())
        self._options = (trace, unabridged, reuse)
        self.asking = Asking(scenario.answers, transport(), lambda: scenario.id)
        self._records_quirks = trace and quirk_effects
        self._start(scenario.configuration)
        self.decisions: list[Decision] = []
        self.deleted: list[str] = []  # victims, in order of deletion
        self.major = 1
        self.minor = 0
        self.time = 0.0
        self._operations = [
            (step, list(group))
            for step, group in groupby(scenario.operations, key=lambda operation: operation.step)
        ]
        self._next_operation = 0
        self._landing: list[Operation] = []  # to be applied during the next cycle
        self._applied: list[str] = []
        self._restarted: list[str] = []  # ids of the operations that restarted the scheduler
        self._before = self.profile  # the profile of the last cycle
        pods = self.cluster.put_all(scenario.objects)
        self.queue.add(pod for pod in pods if pod is not None and self._to_schedule(pod))
        self.cluster.refresh()
        self._know_all()

    def _start(self, configuration: Configuration) -> None:
        """Start the scheduler with an empty queue, empty caches and a round-robin counter of 0."""
        trace, unabridged, reuse = self._options
        self._configuration = configuration
        self.profiles = configuration.profiles
        self.profile = configuration.profile
        self.queue = PriorityQueue()
        self.last_node_index = 0
        settings = configuration.settings
        self.cache: Strategy | None = None
        if settings.cache == "batching":
            self.cache = Batching(self.cluster, self.profile)
        elif settings.cache != "off":
            self.cache = CacheKeeper(self.cluster, self.profile, settings, trace=trace)
        strategy = self.cache or EVALUATE_ALL
        self._schedulers: dict[str, GenericScheduler] = {}
        for name, profile in self.profiles.items():
            known = next((s for s in self._schedulers.values() if s.profile is profile), None)
            if known is None:
                vectors = VectorStore(self.cluster, profile) if reuse else None
                extension = self._extension(profile, self.asking)
                known = GenericScheduler(
                    self.cluster, self.queue, profile, vectors, strategy, trace, unabridged, extension
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

    def profile_of(self, pod: Pod) -> Profile:
        """Return the profile that schedules a pod; the main one for a pod of another scheduler."""
        return self.profiles.get(pod.scheduler_name, self.profile)

    def responsible(self, pod: Pod) -> bool:
        """Return whether this scheduler is responsible for a pod (factory.responsibleForPod)."""
        return pod.scheduler_name in self.profiles

    def _to_schedule(self, state: PodState) -> bool:
        """Return whether a pod is unassigned and this scheduler is responsible for it."""
        return not state.node_name and self.responsible(state.pod)

    def _know_all(self) -> None:
        """Register the existing pods with a new cache."""
        if self.cache is not None:
            for pod in self.cluster.pods.values():
                self.cache.know(pod)

    def _restart(self, operation: Operation, configuration: Configuration) -> None:
        """Restart the scheduler, which is the only way v1.11 loads another policy.

        Its informers then list all pods: those without a node, including unschedulable ones, enter the active
        queue as at the start of the run, and are nominated if their status has a nominatedNodeName.
        """
        self.cluster.relist()
        self._start(configuration)
        pods = sorted(self.cluster.pods.values(), key=lambda pod: pod.order)
        self.queue.add(pod for pod in pods if self._to_schedule(pod))
        self._know_all()
        self._restarted.append(operation.id)

    @property
    def index(self) -> int:
        """The number of cycles that have run."""
        return len(self.decisions)

    @property
    def done(self) -> bool:
        """Whether no pod is left to schedule and no operation is outstanding."""
        return not len(self.queue) and self._next_operation >= len(self._operations)

    @property
    def rest(self) -> None:
        """Always ``None``: without virtual time nothing happens after the last cycle."""
        return None

    def __iter__(self) -> Iterator[Cycle]:
        while (cycle := self.step()) is not None:
            yield cycle

    def step(self) -> Cycle | None:
        """Run one scheduling cycle and return its record; ``None`` at the end of the run."""
        if not self._advance():
            return None
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
        self._commit(pod, cycle.decision)
        if cache is not None:
            cycle.cache = cache.finish(cycle.message)
        return cycle

    def peek(self) -> bool:
        """Apply the operations due before the next cycle; return False at the end of the run."""
        return self._advance()

    def replay(self, decisions: Iterable[Decision]) -> None:
        """Apply recorded decisions without deciding anything.

        Nothing is evaluated either, except to fill an equivalence cache.

        Raises:
            ValueError: A decision is not about the pod at the head of the queue, or no pod is left.
        """
        for decision in decisions:
            if not self._advance():
                raise ValueError(
                    f"cycle {self.index + 1}: no pod is left to schedule, but a decision for {decision.pod}"
                )
            pod = self.queue.pop()
            if pod.key != decision.pod:
                raise ValueError(
                    f"cycle {self.index + 1} is about {pod.key}, the decision about {decision.pod}"
                )
            if self.cache is not None:
                self.cache.begin(self.index + 1, self.time)
                self._schedulers[pod.pod.scheduler_name].follow(pod, self.last_node_index)
            self._land(pod)
            if self.cache is not None:
                self.cache.write()
            self._commit(pod, decision)
            if self.cache is not None:
                self.cache.finish()

    def fork(self, *, trace: bool) -> Simulation:
        """Return an independent copy at the current step.

        Objects, decisions and compiled pods are shared because nothing changes them. The copy records with
        ``trace`` regardless of this one's setting. A fork takes about as long as applying as many decisions
        as there are pods.
        """
        operations = [operation for _, group in self._operations for operation in group]
        unchanging = (
            self.scenario,
            *self.profiles.values(),
            self._before,
            self._configuration,
            *self.scenario.objects,
            *operations,
            *(operation.object for operation in operations),
            *self.decisions,
            *self.cluster.nodes.values(),
        )
        other = deepcopy(self, {id(shared): shared for shared in unchanging})
        other.record(trace=trace)
        return other

    def recorded_answers(self) -> Document | None:
        """Return what extenders answered, ``None`` if none was called."""
        return self.asking.recording()

    def record(self, *, trace: bool) -> None:
        """Set whether cycles record, from the next one on, what views need or only the decisions."""
        _, unabridged, reuse = self._options
        self._options = (trace, unabridged, reuse)
        self._records_quirks = trace
        self._effects = self._quirk_effects()
        fresh = {id(old): replace(old, trace=trace) for old in self._schedulers.values()}
        self._schedulers = {name: fresh[id(old)] for name, old in self._schedulers.items()}
        if isinstance(self.cache, CacheKeeper):
            self.cache.trace = trace

    def placement(self) -> dict[str, str]:
        """Return the node of every pod, "" for a pending one, in creation order."""
        pods = sorted(self.cluster.pods.values(), key=lambda pod: pod.order)
        return {pod.key: pod.node_name for pod in pods}

    # Parts of a step

    def _advance(self) -> bool:
        """Apply operations until there is a pod to schedule; return False at the end of the run."""
        look()
        while self._next_operation < len(self._operations):
            step, operations = self._operations[self._next_operation]
            after = operations[0].after
            if len(self.queue) and (after is None or self.minor < after):
                break
            self._next_operation += 1
            self.major, self.minor = step + 1, 0
            for operation in operations:
                look()
                self.time = max(self.time, operation.time)
                self._applied.append(operation.id)
                if operation.during:
                    self._landing.append(operation)
                else:
                    self._operate(operation)
            if not len(self.queue):
                self._land()  # there is no cycle during which to apply them
        self.cluster.refresh()
        return bool(len(self.queue))

    def _land(self, pod: PodState | None = None) -> None:
        """Apply the operations that land during the cycle of ``pod``, except those on that pod itself."""
        landing, self._landing = self._landing, []
        for operation in landing:
            if pod is not None and (operation.kind, operation.key) == ("Pod", pod.key):
                self._landing.append(operation)  # the scheduler is notified after the cycle
            else:
                self._operate(operation)

    def _operate(self, operation: Operation) -> None:
        """Apply one operation and move the pods that it may have made schedulable."""
        if operation.configuration is not None:
            self._restart(operation, operation.configuration)
            return
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
        self.queue.remove(key)
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
        self.queue.remove(operation.key)
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
        """Set the fields that only the run knows."""
        cycle.index = self.index + 1
        cycle.step = f"{self.major}.{self.minor + 1}"
        cycle.time = self.time
        cycle.operations = tuple(self._applied)
        cycle.always_check_all = self.profile.always_check_all
        if self._restarted:
            cycle.restart = Restart(tuple(self._restarted), tuple(differences(self._before, self.profile)))
        cycle.events = _events(cycle)

    def _commit(self, pod: PodState, decision: Decision) -> None:
        self._apply(pod, decision)
        self._land()
        self.decisions.append(decision)
        self._applied = []
        self._restarted = []
        self._before = self.profile
        self.minor += 1
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
            self.deleted.append(key)
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
