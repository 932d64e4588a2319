"""A pod's standing under kube-scheduler v1.37: the same proposals, each judged by v1.37 alone.

Proposals come from the findings of the typed cluster and of v1.37's own reasons. Each is applied to a copy of
v1.37's manifests, and the pod is filtered there by v1.37's plugins; nothing else decides whether it helps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

from scheduler_core.explain.findings import CLAIM_ERRORS, REASONS
from scheduler_core.explain.v1_37.findings import SEARCHED
from scheduler_core.explain.v1_37.resizes import deferred_resizes
from scheduler_core.explain.world import NodeVerdicts, ObjectsAtMoment, PredicateFailure, Resize, snapshot
from scheduler_core.forks import copied
from scheduler_core.formats.patch import apply_patch
from scheduler_core.interrupts import look
from scheduler_core.kubernetes.keys import Key
from scheduler_core.record.preemption import Preemption
from scheduler_core.run.v1_37.cycles import PRE_FILTER, places_of, preemption_of
from scheduler_core.run.v1_37.loop import V1_37Stepper
from scheduler_core.run.v1_37.manifests import admitted
from scheduler_core.schedulers.columns import Cluster
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.v1_11.predicates.general import INSUFFICIENT, MatchNodeSelector
from scheduler_core.schedulers.v1_11.predicates.storage import NO_VOLUME_TO_BIND, VOLUME_CONFLICT
from scheduler_core.schedulers.v1_11.predicates.taints import PodToleratesNodeTaints
from scheduler_core.schedulers.v1_37.attempt import Scheduler
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.extended_resources import IMPLICIT, backing_classes
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.nominations import NominatedPods
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.plugins.volume_zone import NODE_LABELS
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.refusals import Prepared, prepare, refusals
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import ERROR, Status
from scheduler_core.schedulers.v1_37.volumes import NO_SPACE, NODE_CONFLICT

MOST_TRIALS = 400
MOST_SECONDS = 20.0
"""Of the search for changes; one that has begun is finished, which is a few tens of trials."""

TOO_MANY_PODS = "Too many pods"
SAME_REASON: Mapping[str, str] = {
    "node(s) had untolerated taint(s)": PodToleratesNodeTaints.reason,
    "node(s) didn't match Pod's node affinity/selector": MatchNodeSelector.reason,
    TOO_MANY_PODS: f"{INSUFFICIENT}pods",
    NODE_CONFLICT: VOLUME_CONFLICT,
    NO_SPACE: NO_VOLUME_TO_BIND,
}
"""Reasons that v1.37 words differently from v1.11; the others are the same."""

NOT_RULES = frozenset(
    {
        "CheckNodeCondition",
        "CheckNodeMemoryPressure",
        "CheckNodeDiskPressure",
        "CheckNodePIDPressure",
    }
)
"""Predicates that v1.37 does not have: nodes have taints instead."""

Failures = dict[str, PredicateFailure]


def failures_of(attempt: PodAttempt, nodes: Sequence[str]) -> Failures:
    """Return the first failure of each node that an attempt refused, by node."""
    found = {node: _failure(status, status.plugin) for node, status in attempt.failed.items()}
    found |= {node: _failure(status, PRE_FILTER) for node, status in attempt.absent.items()}
    if attempt.rejection is not None:
        names = ", ".join(sorted(attempt.unschedulable_plugins)) or PRE_FILTER
        found = dict.fromkeys(nodes, _failure(attempt.rejection, names))
    elif attempt.error is not None and not found:
        found = dict.fromkeys(nodes, PredicateFailure("", (), attempt.error))
    return found


def _failure(status: Status, plugin: str, *, further: bool = False) -> PredicateFailure:
    if status.code == ERROR:
        return PredicateFailure(plugin, (), status.text, further)
    return PredicateFailure(plugin, status.reasons, further=further)


def with_declared_reasons(failure: PredicateFailure) -> PredicateFailure:
    """Return a failure with the reasons by which findings are declared."""
    reasons = tuple(SAME_REASON.get(reason, reason) for reason in failure.reasons)
    return PredicateFailure(failure.predicate, reasons, failure.error)


class V1_37Trials:
    """A copy of v1.37's cluster at one moment, on which changes are made and taken back."""

    def __init__(self, simulation: V1_37Stepper) -> None:
        run = simulation.run
        self.cluster = as_stored(run.cluster)
        self.base: dict[Key, Manifest] = {
            (kind, key): manifest
            for kind, table in self.cluster.objects.items()
            for key, manifest in table.items()
        }
        nominations = NominatedPods()
        for key in run.nominations.nodes():
            nominations.put(self.cluster.pods[key])
        self.nominations = nominations
        self.scheduling = Scheduler(self.cluster, run.configuration, nominations)
        self._start = run.scheduling.start
        self.trials = 0
        self._began = monotonic()

    @property
    def exhausted(self) -> bool:
        """Whether the bounds of the search are reached."""
        return self.trials >= MOST_TRIALS or monotonic() - self._began > MOST_SECONDS

    def evaluate(self, pod: str) -> PodAttempt:
        """Filter the pod on all nodes."""
        look()
        self.trials += 1
        return self.scheduling.evaluate(self.cluster.pods[pod])

    def choice(self, pod: str) -> str | None:
        """Return the node that v1.37 would choose."""
        self.scheduling.start = self._start
        return self.scheduling.schedule(self.cluster.pods[pod]).node

    def preempting(self, pod: str) -> PodAttempt | None:
        """Return the pod's attempt with what PostFilter finds, without effect; ``None`` if it fits."""
        self.trials += 1
        self.scheduling.start = self._start
        attempt = self.scheduling.schedule(self.cluster.pods[pod])
        if attempt.node is not None:
            return None
        self.scheduling.post_filter(attempt)
        return attempt

    def gate(self, pod: str) -> str | None:
        """Return the plugin that keeps the pod out of the queue."""
        return self.scheduling.pre_enqueue(self.cluster.pods[pod])

    def become(self, world: ObjectsAtMoment, keys: Sequence[Key]) -> None:
        """Store these objects as they are in a world."""
        left: set[str] = set()
        for key in keys:
            pod = self.cluster.pods.get(key[1]) if key[0] == "Pod" else None
            self._put(key, self._manifest(world, key))
            if pod is not None and pod.node and pod.key not in self.cluster.pods:
                left.add(pod.node)
        # A node's host ports are a set: of pods that share one, the first to leave takes it along. Counted
        # again, the node is as in a cluster that never had the pods.
        for other in [other for other in self.cluster.pods.values() if other.node in left] if left else ():
            self.cluster.replace(self.cluster.objects["Pod"][other.key])

    def _manifest(self, world: ObjectsAtMoment, key: Key) -> Manifest | None:
        obj, given, edited = world.objects.get(key), self.base.get(key), world.edited.get(key)
        if obj is None or edited is None:
            return None if obj is None else given
        return admitted(edited if given is None else apply_patch(given, edited, "merge"), obj)

    def _put(self, key: Key, manifest: Manifest | None) -> None:
        kind, name = key
        stored = self.cluster.objects.get(kind, {}).get(name)
        if manifest is not None:
            (self.cluster.create if stored is None else self.cluster.replace)(manifest)
        elif stored is not None:
            namespace, _, short = name.rpartition("/")
            self.cluster.delete(kind, namespace, short)
        if kind == "Pod":
            self.nominations.drop(name)
            pod = self.cluster.pods.get(name)
            if pod is not None and not pod.node:
                self.nominations.put(pod)


class V1_37Standing(NodeVerdicts):
    """A world's verdict on its pod under v1.37; nodes are numbered as in the typed cluster."""

    divisible = False
    zone_labels = NODE_LABELS

    def __init__(
        self,
        world: ObjectsAtMoment,
        trials: V1_37Trials,
        cluster: Cluster | None = None,
        queue: Nominations | None = None,
    ) -> None:
        super().__init__(world, cluster, queue)
        self.trials = trials
        self.attempt = trials.evaluate(world.pod)
        self.refused = failures_of(self.attempt, self.names)
        self._fitting = frozenset(name for nodes in self.attempt.passed for name in nodes)
        self.unsearched: set[str] = set()
        self._every: dict[str, tuple[PredicateFailure, ...]] = {}

    @property
    def context(self) -> Context:
        """What every plugin prepared for the pod, also where the attempt ended before all of them did."""
        return self.attempt.context if self.attempt.rejection is None else self._prepared.context

    @property
    def _prepared(self) -> Prepared:
        scheduling, pod = self.trials.scheduling, self.attempt.pod
        return self.once("prepared", lambda: prepare(self.trials.cluster, scheduling.configuration, pod))

    def every_failure(self, nodes: Sequence[str]) -> list[tuple[PredicateFailure, ...]]:
        """Return all failures on each node: v1.37's own answer, then the plugins that it did not get to."""
        unknown = [node for node in nodes if node in self.refused and node not in self._every]
        found = refusals(self._prepared, unknown, self.trials.nominations) if unknown else {}
        for node in unknown:
            self._every[node] = self.refused[node], *self._further(node, found.get(node, ()))
        return [self._every.get(node, ()) for node in nodes]

    def _further(self, node: str, statuses: Sequence[Status]) -> Iterator[PredicateFailure]:
        own = set(self.refused[node].predicate.split(", "))
        if node in self.attempt.absent:
            own |= self.attempt.unschedulable_plugins
        for status in statuses:
            if status.plugin not in own:
                yield _failure(status, status.plugin, further=True)

    @property
    def exhausted(self) -> bool:  # type: ignore[override]
        """Whether the bounds of the search are reached."""
        return self.trials.exhausted

    def fits(self, row: int) -> bool:
        """Return whether v1.37 could place the pod on a node; an error on a node ends the attempt."""
        return self.attempt.error is None and self.names[row] in self._fitting

    def choice(self) -> str | None:
        """Return the node that v1.37 would choose."""
        return self.trials.choice(self.world.pod)

    def preemption_record(self) -> Preemption | None:
        """Return what v1.37's preemption would evaluate now; ``None`` if it would not run."""
        attempt = self.trials.preempting(self.world.pod)
        if attempt is None:
            return None
        places = places_of(attempt.context.nodes, {name: row for row, name in enumerate(self.names)})
        return preemption_of(attempt, self.names, places)

    def beside(self, world: ObjectsAtMoment) -> NodeVerdicts:
        """Return the standing of a world that the clusters have become."""
        made = V1_37Standing(world, self.trials, self.cluster, self.queue)
        made.unsearched = self.unsearched
        return made

    def _become(self, world: ObjectsAtMoment, keys: list[Key]) -> None:
        self.trials.become(world, keys)
        super()._become(world, keys)

    def _failures(self, row: int) -> Iterator[PredicateFailure]:
        """Yield v1.37's failure and what else the typed cluster finds, for proposals only."""
        own = self.refused.get(self.names[row])
        if own is None:
            return
        declared = with_declared_reasons(own)
        others = [failure for failure in super()._failures(row) if failure.predicate not in NOT_RULES]
        if _has_finding(declared):
            yield declared
        elif not others or own.predicate != PRE_FILTER:
            self.unsearched.update(own.predicate.split(", "))
        yield from others

    def served_by(self, name: str) -> str:
        """Return which DeviceClass backs a resource, or is missing for it; "" if it is a device plugin's."""
        backing = backing_classes(self.trials.cluster).get(name)
        if backing is not None:
            return f"devices of DeviceClass {backing} serve it"
        wanted = name.removeprefix(IMPLICIT)
        return f"devices serve it, and there is no DeviceClass {wanted}" if wanted != name else ""

    def resizes(self, row: int, name: str) -> list[Resize]:
        """Return the resizes of pods of a node that are deferred and count already, largest first."""
        at = self.trials.cluster.nodes.row(self.names[row])
        pods = () if at is None else self.trials.cluster.nodes.nodes[at].pods
        return sorted(deferred_resizes(pods, name), key=lambda one: one.before - one.after)

    def known_amounts(self, row: int, name: str) -> tuple[int, int, int] | None:
        """Return requested, allocatable and used as v1.37 counts them, with the pods nominated there."""
        pod, nodes = self.attempt.pod, self.trials.cluster.nodes
        node = self.names[row]
        at = nodes.row(node)
        if at is None:
            return None
        nominated = [one for one in self.trials.nominations.on(node) if _counts(one, pod)]
        allocatable = int(nodes.column(nodes.allocatable, name)[at])
        if name == "pods":
            return 1, allocatable, int(nodes.pod_counts[at]) + len(nominated)
        used = int(nodes.column(nodes.requested, name)[at])
        used += sum(one.requests.get(name, 0) for one in nominated)
        return pod.requests.get(name, 0), allocatable, used


def _counts(other: CompiledPod, pod: CompiledPod) -> bool:
    return other.priority >= pod.priority and other.key != pod.key


def _has_finding(failure: PredicateFailure) -> bool:
    return any(
        text in REASONS or text in SEARCHED or text.startswith((INSUFFICIENT, *CLAIM_ERRORS))
        for text in failure.reasons
    )


def as_stored(cluster: ClusterState) -> ClusterState:
    """Return a copy of a cluster as its manifests are: nothing is assumed, and no pod is left out."""
    made: ClusterState = copied(cluster, {})
    made.forget_assumptions()
    return made


def standing_now(simulation: V1_37Stepper, pod: str) -> V1_37Standing:
    """Return the pod's standing at the simulation's current step, without changing the simulation."""
    world = snapshot(simulation, pod)
    trials = V1_37Trials(simulation)
    key = ("Pod", pod)
    if key not in world.documents and key in trials.base:
        stored = trials.base[key]
        # A pod of a controller has no manifest of its own; generated from the typed object it would lose
        # the fields that only v1.37 reads.
        source: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": stored["metadata"]}
        world.sources[key] = ({**source, "spec": stored["spec"]}, False)
    return V1_37Standing(world, trials)
