"""One moment of a run as plain objects, and the verdict on one pod in it.

A :class:`ObjectsAtMoment` is immutable: an edit creates another one. A :class:`NodeVerdicts` is one of them
in a separate cluster, with every predicate evaluated on every node, none short-circuited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod, PriorityClass
from scheduler_core.record.preemption import Preemption
from scheduler_core.run import Stepper
from scheduler_core.schedulers.columns import Cluster, PodState
from scheduler_core.schedulers.columns.columns import REGION_LABEL, ZONE_LABEL
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.filters import Filtered, filter_nodes, missing_claim
from scheduler_core.schedulers.v1_11.policy.declared_fields import declared_fields
from scheduler_core.schedulers.v1_11.preemption.dry_run import NodeVictims

T = TypeVar("T")
HOPELESS = "node(s) were unschedulable"  # a reason that deleting pods does not resolve


class PredicateFailure(Struct, frozen=True):
    """A predicate that fails on a node: with reasons, or by raising an error."""

    predicate: str
    reasons: tuple[str, ...]
    error: str | None = None
    further: bool = False
    """Whether the scheduler's own answer leaves it out, because an earlier failure ends the evaluation."""


class Resize(NamedTuple):
    """A pod that is resized in place from and to an amount of a resource; the node has no room for it yet."""

    pod: str
    before: int
    after: int


class ObjectsAtMoment(Struct, frozen=True):
    """Every object at one moment, in creation order, and the manifests that they were read from.

    The pod that is asked about, ``pod``, has no node in it: it is as it would be when it is scheduled next,
    and ``profile`` is the one that schedules it.
    """

    pod: str
    objects: Mapping[Key, KubernetesObject]
    documents: Mapping[Key, Mapping[str, Any]]
    profile: Profile
    last_node_index: int = 0
    touched: tuple[Key, ...] = ()
    """What may differ from the first world, from which all others are derived."""
    sources: dict[Key, tuple[Manifest, bool]] = field(default_factory=dict)
    """The manifests that edits of an object start from, cached; all edits are based on the first world."""
    schedulers: frozenset[str] = frozenset()
    """The schedulerNames whose pods wait in the same queue."""
    edited: Mapping[Key, Manifest] = field(default_factory=dict)
    """The merge patch of each edited object, and the manifest of each created one."""
    classes: tuple[PriorityClass, ...] = ()

    def with_objects(self, changed: Mapping[Key, KubernetesObject | None]) -> ObjectsAtMoment:
        """Return another world in which these objects are new, changed, or removed (``None``)."""
        objects = {**self.objects, **{key: obj for key, obj in changed.items() if obj is not None}}
        for key in [key for key, obj in changed.items() if obj is None]:
            objects.pop(key, None)
        return replace(self, objects=objects, touched=(*self.touched, *changed))


def snapshot(simulation: Stepper, pod: str) -> ObjectsAtMoment:
    """Return the simulation's current objects, without changing the simulation.

    Raises:
        KeyError: There is no such pod.
    """
    cluster = simulation.cluster
    asked = cluster.pods[pod]
    states = sorted(cluster.pods.values(), key=lambda state: state.order)
    storage = cluster.storage
    listed: list[KubernetesObject] = [
        *cluster.nodes.values(),
        *storage.classes.values(),
        *storage.volumes.values(),
        *storage.claims.values(),
        *cluster.services.values(),
        *cluster.workloads.values(),
        *cluster.budgets.values(),
        *(
            replace(
                state.pod,
                node_name="" if state is asked else state.node_name,
                nominated_node_name=state.nominated,
            )
            for state in states
        ),
    ]
    objects = {key_of(obj): obj for obj in listed}
    written = {key: obj.meta.written for key, obj in objects.items()}
    documents = {key: one.document for key, one in written.items() if one and not one.is_template}
    return ObjectsAtMoment(
        pod,
        objects,
        documents,
        simulation.profile_of(asked.pod),
        simulation.counter,
        schedulers=frozenset(simulation.profiles),
        classes=tuple(obj for obj in simulation.scenario.objects if isinstance(obj, PriorityClass)),
    )


class NodeVerdicts:
    """A world's verdict on its pod, on all N nodes.

    A trial shares the ``cluster`` and ``queue`` of another standing; without them, new ones are built.
    """

    divisible = True
    """Whether one node with its pods can be evaluated as a cluster of its own."""
    exhausted = False
    """Whether no more trials should be made."""
    zone_labels: Mapping[str, Sequence[str]] = {key: (key,) for key in (ZONE_LABEL, REGION_LABEL)}
    """By the label of a volume: the labels of a node of which the first that it has is compared."""

    def __init__(
        self, world: ObjectsAtMoment, cluster: Cluster | None = None, queue: Nominations | None = None
    ) -> None:
        self.world = world
        self.cluster = _cluster(world) if cluster is None else cluster
        self.pod: PodState = self.cluster.pods[world.pod]
        self.queue = _queue(world, self.cluster, self.pod) if queue is None else queue
        self._worked_out: dict[str, Any] = {}
        self.early = missing_claim(self.pod, self.cluster)
        self.filtered: Filtered = filter_nodes(
            self.pod, self.cluster, self.queue, world.profile, None, matrix=True, unabridged=True
        )

    def once(self, name: str, work_out: Callable[[], T]) -> T:
        """Return a value computed once for all nodes, such as which pods repel the pod."""
        if name not in self._worked_out:
            self._worked_out[name] = work_out()
        return cast("T", self._worked_out[name])

    @contextmanager
    def trial(self, world: ObjectsAtMoment) -> Iterator[NodeVerdicts]:
        """Yield the standing of a world that differs in a few objects; the cluster is restored afterwards.

        Rebuilding the cluster for each of many small changes would take most of the time. Pods other than the
        one asked about may be removed in the other world, but not added.
        """
        both = dict.fromkeys((*self.world.touched, *world.touched))
        keys = [key for key in both if self.world.objects.get(key) is not world.objects.get(key)]
        states = {
            key[1]: self.cluster.pods[key[1]].order for key in keys if key in self.world.objects and _pod(key)
        }
        self._become(world, keys)
        try:
            yield self.beside(world)
        finally:
            self._become(self.world, keys)
            for key, order in states.items():
                self.cluster.pods[key].order = order

    def beside(self, world: ObjectsAtMoment) -> NodeVerdicts:
        """Return the standing of a world that this one's cluster has become."""
        return NodeVerdicts(world, self.cluster, self.queue)

    def known_amounts(self, row: int, name: str) -> tuple[int, int, int] | None:  # noqa: ARG002
        """Return requested, allocatable and used of a resource, ``None``: as the typed cluster counts."""
        return None

    def served_by(self, name: str) -> str:  # noqa: ARG002
        """Return which devices serve a resource of which a node reports none; "" if none do."""
        return ""

    def resizes(self, row: int, name: str) -> list[Resize]:  # noqa: ARG002
        """Return the resizes of pods of a node that are deferred and count already, largest first."""
        return []

    def _become(self, world: ObjectsAtMoment, keys: list[Key]) -> None:
        if any(_pod(key) and key in world.objects and key[1] not in self.cluster.pods for key in keys):
            # a pod that is restored must not have its claims bound again: no claims are bound while columns
            # are stale
            self.cluster.put(next(iter(self.cluster.nodes.values())))
        for key in keys:
            obj = world.objects.get(key)
            if obj is None:
                self.cluster.remove(*key)
            else:
                self.cluster.put(obj)
        self.cluster.refresh()
        self.pod = self.cluster.pods[self.world.pod]

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes' names, in object order."""
        return self.cluster.columns.names

    def node(self, row: int) -> Node:
        """Return a node."""
        return self.cluster.columns.nodes[row]

    def failures(self, row: int) -> tuple[PredicateFailure, ...]:
        """Return every failure of the pod on a node, in the order of evaluation."""
        found = tuple(self._failures(row))
        if self.early is None and self.world.profile.always_check_all:
            return found
        return (*found[:1], *(replace(failure, further=True) for failure in found[1:]))

    def _failures(self, row: int) -> Iterator[PredicateFailure]:
        if self.early is not None:
            yield PredicateFailure("", (), self.early)
        codes = self.filtered.unabridged
        if codes is None:
            return
        for number in np.flatnonzero(codes[:, row]).tolist():
            error = self.filtered.unabridged_errors.get((number, row))
            texts = self.cluster.reasons.texts[int(codes[number, row])]
            yield PredicateFailure(self.world.profile.order[number], texts, error)

    def fits(self, row: int) -> bool:
        """Return whether the pod could be placed on a node; an error on any node ends the whole attempt."""
        failed = self.filtered.failed
        if self.early is not None or self.filtered.errors:
            return False
        return failed is None or int(failed[row]) == 0

    def fitting(self) -> list[str]:
        """Return the names of all nodes where the pod fits, in object order."""
        return [name for row, name in enumerate(self.names) if self.fits(row)]

    def choice(self) -> str | None:
        """Return the node that the scheduler would choose now, ``None`` if no node is feasible."""
        from scheduler_core.schedulers.v1_11.attempt import GenericScheduler

        scheduler = GenericScheduler(self.cluster, self.queue, self.world.profile, trace=False)
        return scheduler.schedule(self.pod, self.world.last_node_index).node

    def victims(self, row: int) -> NodeVictims | None:
        """Return preemption's candidate for this node alone, ``None`` if that does not help."""
        from scheduler_core.schedulers.v1_11.preemption.preempt import preempt

        codes = np.full(len(self.names), self.cluster.reasons.code(HOPELESS), np.int16)
        codes[row] = 0
        result = preempt(self.pod, codes, self.cluster, self.queue, self.world.profile)
        return next(iter(result.candidates), None)

    def preemption(self) -> tuple[str, list[str]]:
        """Return the node that preemption would choose, and its victims; "" and none if it does not help."""
        record = self.preemption_record()
        return ("", []) if record is None else (record.node or "", record.victims)

    def preemption_record(self) -> Preemption | None:
        """Return what preemption would evaluate now; ``None`` if it would not run."""
        from scheduler_core.schedulers.v1_11.preemption.preempt import preempt

        failed = self.filtered.failed
        if self.early is not None or self.filtered.errors or failed is None or self.fitting():
            return None
        return preempt(self.pod, failed, self.cluster, self.queue, self.world.profile, record=True).record

    def raised(self) -> ObjectsAtMoment:
        """Return the world in which the pod has a higher priority than every other pod."""
        highest = max(state.priority for state in self.cluster.pods.values())
        key = ("Pod", self.world.pod)
        pod = self.world.objects[key]
        assert isinstance(pod, Pod)
        return self.world.with_objects({key: replace(pod, priority=highest + 1)})


def _cluster(world: ObjectsAtMoment) -> Cluster:
    cluster = Cluster(declared_fields())
    for obj in world.objects.values():
        cluster.put(obj)
    cluster.refresh()
    return cluster


def _queue(world: ObjectsAtMoment, cluster: Cluster, pod: PodState) -> Nominations:
    """Return the nominations of all other pending pods."""
    queue = Nominations()
    for state in cluster.pods.values():
        if state is not pod and not state.node_name and state.pod.scheduler_name in world.schedulers:
            queue.nominate(state)
    return queue


def _pod(key: Key) -> bool:
    return key[0] == "Pod"
