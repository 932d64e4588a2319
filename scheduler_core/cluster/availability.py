"""Follow the availability of workloads, from each write of a pod, a workload or a node.

A change costs what it changes: a pod belongs to the workload at the top of its owners, which has one series
and counts of its pods by state. No scan over pods is ever needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from scheduler_core.cluster.availability_series import AvailabilitySeries
from scheduler_core.cluster.controllers.daemon_admission import why_unwelcome, with_daemon_tolerations
from scheduler_core.cluster.controllers.workloads import owner_key
from scheduler_core.cluster.copies import Branching, branch
from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod, Workload
from scheduler_core.record.availability import Availability, WorkloadAvailability
from scheduler_core.record.timeline import TimelineEvent

MOST_WORKLOADS = 50
"""How many workloads a record lists."""
UNOWNED: Key = ("", "")
"""Stands for pods without a controller, static pods included."""
PENDING, STARTING, READY, TERMINATING, ENDED = range(5)

COUNTED: Mapping[str, str] = {
    "EvictionByEvictionAPI": "evicted",
    "TaintManagerEviction": "evicted",
    "EvictionRefused": "refused",
    "Preempted": "preempted",
}
"""What an event of the timeline counts as, by its reason."""

FAILED: Mapping[str, str] = {
    "DrainFailed": "{text}",
    "EvictionFailed": "The eviction of {about} failed: {text}",
    "DescheduleFailed": "{text}",
    "RollbackFailed": "{text}",
    "ProgressDeadlineExceeded": "{text}",
}
"""The phrase for an event by which a request failed, by the event's reason."""
MOST_FAILED = 50


def state_of(pod: Pod) -> int:
    """Return which of the states a pod is in, as its workload's status counts it."""
    if pod.terminal:
        return ENDED
    if pod.meta.deletion_timestamp is not None:
        return TERMINATING
    if not pod.node_name:
        return PENDING
    return READY if pod.phase == "Running" and pod.ready else STARTING


@dataclass(slots=True)
class _Owner(Branching):
    """What controls pods directly: its object, ``None`` before it is known, and its pods by state."""

    top: Key
    obj: Workload | None = None
    deleted: bool = False
    pods: list[int] = field(default_factory=lambda: [0, 0, 0, 0, 0])
    succeeded: int = 0
    eligible: set[str] = field(default_factory=set)  # a DaemonSet's nodes

    @property
    def active(self) -> int:
        """The pods that count as replicas."""
        return self.pods[PENDING] + self.pods[STARTING] + self.pods[READY]

    @property
    def desired(self) -> int:
        """How many pods it desires: without an object, those that there are."""
        if self.obj is None:
            return 0 if self.deleted else self.active
        return _DESIRED.get(self.obj.kind, _replicas)(self)


def _replicas(owner: _Owner) -> int:
    assert owner.obj is not None
    return owner.obj.replicas


def _eligible_nodes(owner: _Owner) -> int:
    """Return ``status.desiredNumberScheduled`` of a DaemonSet."""
    return len(owner.eligible)


def _wanted_active(owner: _Owner) -> int:
    """Return how many pods of a Job should run (wantActive of manageJob)."""
    assert owner.obj is not None
    job, status = owner.obj.job, owner.obj.status
    succeeded = max(status.succeeded, owner.succeeded)
    if job.suspended or status.finished:
        return 0
    if job.completions is None:
        return min(owner.active, job.parallelism) if succeeded else job.parallelism
    return min(job.parallelism, max(0, job.completions - succeeded))


_DESIRED: Mapping[str, Callable[[_Owner], int]] = {"DaemonSet": _eligible_nodes, "Job": _wanted_active}


@dataclass(slots=True)
class AvailabilityTracker(Branching):
    """Availability by workload. Times are virtual seconds and never go back.

    :meth:`start` takes the objects of the beginning; from then on every write is reported: :meth:`pod` with
    the versions before and after it, :meth:`put` and :meth:`delete` for other objects.
    """

    total: AvailabilitySeries
    _series: dict[Key, AvailabilitySeries] = field(default_factory=dict)
    _wanted: dict[Key, int] = field(default_factory=dict)  # replicas of Deployments, whose sets may disagree
    _owners: dict[Key, _Owner] = field(default_factory=dict)
    _daemon_sets: dict[Key, None] = field(default_factory=dict)
    _nodes: dict[str, Node] = field(default_factory=dict)
    _refused: set[str] = field(default_factory=set)
    _failed: dict[str, None] = field(default_factory=dict)

    @classmethod
    def start(cls, objects: Iterable[KubernetesObject], pods: Iterable[Pod], now: float) -> Self:
        """Return the tracker of a cluster; pods among the objects are passed over."""
        made = cls(AvailabilitySeries(now))
        for obj in sorted(objects, key=lambda obj: not isinstance(obj, Node)):
            made.put(obj, now)
        for pod in pods:
            made.pod(None, pod, now)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return branch(self)

    # --- writes

    def pod(self, old: Pod | None, new: Pod | None, now: float) -> None:
        """Take a pod's creation (``old`` is ``None``), change, or deletion (``new`` is ``None``)."""
        before = None if old is None else state_of(old)
        after = None if new is None else state_of(new)
        owners = _owner_keys(old, new)
        if before is not None and after is not None and owners[0] == owners[1]:
            if before == after:
                return
            self._count(owners[0], now, (before, -1), (after, 1))
        else:
            for owner, state, by in ((owners[0], before, -1), (owners[1], after, 1)):
                if state is not None:
                    self._count(owner, now, (state, by))
        if after == ENDED and before is not None and new is not None and new.phase == "Succeeded":
            self._succeed(owners[1], now)

    def put(self, obj: KubernetesObject, now: float) -> None:
        """Take the creation or change of another object."""
        if isinstance(obj, Node):
            self._put_node(obj, now)
        elif isinstance(obj, Workload) and obj.kind == "Deployment":
            self._want(key_of(obj), obj.replicas, now)
        elif isinstance(obj, Workload):
            self._put_owner(obj, now)

    def delete(self, kind: str, key: str, now: float) -> None:
        """Take the deletion of another object: nothing is desired of it any more."""
        if kind == "Node":
            self._nodes.pop(key, None)
            for owner in self._daemon_sets:
                self._change(owner, now, lambda one: one.eligible.discard(key))
        elif kind == "Deployment" and (kind, key) in self._wanted:
            self._want((kind, key), 0, now)
        elif (kind, key) in self._owners:
            self._daemon_sets.pop((kind, key), None)
            self._change((kind, key), now, _forget)

    def note(self, what: str, pod: Pod) -> None:
        """Count an event about a pod."""
        name, key = COUNTED.get(what), pod.meta.key
        if name is None or (name == "refused" and key in self._refused):
            return
        if name == "refused":
            self._refused.add(key)
        self._series[self._owner(_owner_key(pod), self.total.at).top].add(name)
        self.total.add(name)

    def fail(self, event: TimelineEvent) -> None:
        """Keep what one of the :data:`FAILED` says, at most :data:`MOST_FAILED` sentences."""
        if len(self._failed) < MOST_FAILED:
            self._failed[FAILED[event.what].format(text=event.text, about=event.about)] = None

    # --- the result

    def result(self, now: float) -> Availability:
        """Return the availability up to ``now``, of at most :data:`MOST_WORKLOADS` workloads."""
        found = [one.finished(*key, now) for key, one in self._series.items()]
        found.sort(key=_disturbance)
        total = self.total.finished("", "", now)
        return Availability(
            until=now,
            calm_at=max((one.last.at for one in found), default=0.0),
            total=total,
            workloads=tuple(found[:MOST_WORKLOADS]),
            left_out=max(0, len(found) - MOST_WORKLOADS),
            failed=tuple(self._failed),
        )

    # --- owners and their series

    def _owner(self, key: Key, now: float) -> _Owner:
        found = self._owners.get(key)
        if found is None:
            found = self._owners[key] = _Owner(key)
            self._series_of(key, now)
        return found

    def _series_of(self, top: Key, now: float) -> AvailabilitySeries:
        found = self._series.get(top)
        if found is None:
            found = self._series[top] = AvailabilitySeries(now)
        return found

    def _count(self, key: Key, now: float, *states: tuple[int, int]) -> None:
        """Count one pod of an owner in or out of some states."""
        owner = self._owner(key, now)
        before, more = owner.desired, [0, 0, 0, 0, 0]
        for state, by in states:
            owner.pods[state] += by
            more[state] += by
        self._add(owner.top, now, (owner.desired - before, more[READY], more[PENDING], more[TERMINATING]))

    def _succeed(self, key: Key, now: float) -> None:
        def once_more(owner: _Owner) -> None:
            owner.succeeded += 1

        self._change(key, now, once_more)

    def _change(self, key: Key, now: float, change: Callable[[_Owner], None]) -> None:
        """Change what an owner desires."""
        owner = self._owner(key, now)
        before = owner.desired
        change(owner)
        if owner.desired != before:
            self._add(owner.top, now, (owner.desired - before, 0, 0, 0))

    def _add(self, top: Key, now: float, change: tuple[int, int, int, int]) -> None:
        desired, ready, pending, terminating = change
        own = 0 if top in self._wanted else desired
        for series in (self._series_of(top, now), self.total):
            series.pass_to(now)
            series.desired += own
            series.ready += ready
            series.pending += pending
            series.terminating += terminating

    def _want(self, top: Key, replicas: int, now: float) -> None:
        """Take what a Deployment desires, whatever its ReplicaSets do."""
        series = self._series_of(top, now)
        if replicas != series.desired:
            for one, more in ((self.total, replicas - series.desired), (series, replicas - series.desired)):
                one.pass_to(now)
                one.desired += more
        self._wanted[top] = replicas

    def _put_owner(self, obj: Workload, now: float) -> None:
        key = key_of(obj)
        self._move(key, _top_of(obj), now)
        if obj.kind == "DaemonSet":
            self._daemon_sets[key] = None
        known = self._owners[key].obj
        nodes = self._nodes if obj.kind == "DaemonSet" and _moved(known, obj) else {}

        def put(owner: _Owner) -> None:
            owner.obj, owner.deleted = obj, False
            for node in nodes.values():
                _judge(owner, node)

        self._change(key, now, put)

    def _move(self, key: Key, top: Key, now: float) -> None:
        """Let an owner's pods count for a workload: a Deployment may create, adopt or orphan a ReplicaSet."""
        owner = self._owners.get(key)
        if owner is None:
            self._owners[key] = _Owner(top)
        elif owner.top != top:
            pods = owner.pods
            counts = owner.desired, pods[READY], pods[PENDING], pods[TERMINATING]
            self._add(owner.top, now, tuple(-count for count in counts))  # type: ignore[arg-type]
            owner.top = top
            self._add(top, now, counts)
        self._series_of(top, now)

    def _put_node(self, node: Node, now: float) -> None:
        known = self._nodes.get(node.meta.name)
        self._nodes[node.meta.name] = node
        if known is None or _placing(known) != _placing(node):
            for key in self._daemon_sets:
                self._change(key, now, lambda owner: _judge(owner, node))


def _owner_key(pod: Pod) -> Key:
    reference = pod.meta.controller
    return UNOWNED if reference is None or reference.kind == "Node" else owner_key(pod.meta, reference)


def _owner_keys(old: Pod | None, new: Pod | None) -> tuple[Key, Key]:
    """Return the owners of two versions of a pod, which are mostly the same; anything for none."""
    before = UNOWNED if old is None else _owner_key(old)
    if old is not None and new is not None and old.meta.owner_references is new.meta.owner_references:
        return before, before
    return before, UNOWNED if new is None else _owner_key(new)


def _top_of(obj: Workload) -> Key:
    """Return the workload that an owner's pods count for: its Deployment, or itself."""
    reference = obj.meta.controller
    deployed = reference is not None and reference.kind == "Deployment"
    return owner_key(obj.meta, reference) if reference is not None and deployed else key_of(obj)


def _forget(owner: _Owner) -> None:
    owner.obj, owner.deleted = None, True
    owner.eligible.clear()


def _judge(owner: _Owner, node: Node) -> None:
    """Decide whether a DaemonSet should run a pod on a node (nodeShouldRunDaemonPod)."""
    template = owner.obj.template if owner.obj is not None else None
    if template is not None and not why_unwelcome(with_daemon_tolerations(template), node):
        owner.eligible.add(node.meta.name)
    else:
        owner.eligible.discard(node.meta.name)


def _moved(known: Workload | None, obj: Workload) -> bool:
    return known is None or known.template is not obj.template


def _placing(node: Node) -> tuple[object, ...]:
    """Return the fields of a node that the DaemonSet controller reads."""
    return node.meta.labels, node.taints, node.unschedulable


def _disturbance(one: WorkloadAvailability) -> tuple[Any, ...]:
    return -one.below, -one.evicted, -one.refused, one.kind, one.key
