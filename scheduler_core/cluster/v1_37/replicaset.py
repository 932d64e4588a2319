"""ReplicaSet: as many active pods as wanted (``pkg/controller/replicaset``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from math import floor, log2
from typing import Any, NamedTuple

from scheduler_core.cluster.v1_37.controller import Controller, gone, pod_from, pods_of, slow_start
from scheduler_core.cluster.v1_37.go_sort import go_sorted
from scheduler_core.cluster.v1_37.loop import StatusError, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    condition_of,
    controller_of,
    created_at,
    generation,
    is_active,
    is_available,
    is_deleting,
    is_ready,
    is_same_status,
    is_terminating,
    key_of,
    labels_of,
    most_restarts_of,
    namespace_of,
    node_of,
    phase_of,
    ready_since,
    selects,
    spec_of,
    stamp,
    status_of,
    uid_of,
    with_status,
)
from scheduler_core.cluster.v1_37.watches import StoredWrite

BURST = 500
FAILURE = "ReplicaFailure"
COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


class Replicas(NamedTuple):
    """The pods of a set when its sync began, by number."""

    active: int
    labelled: int
    """Active ones with all labels of the template."""
    ready: int
    terminating: int
    listed: Sequence[Manifest] = ()
    """The active ones, unless their numbers are all that the sync needs."""


class ReplicaSets(Controller):
    """The controller of ReplicaSets."""

    name = "replicaset"
    watched = ("ReplicaSet", "Pod")
    owner_kind = "ReplicaSet"
    kind = "ReplicaSet"

    def observe(self, write: StoredWrite) -> None:
        """Queue the set, or the controller of a pod; one that becomes ready may be available later."""
        if write.kind == self.kind:
            self.queue.add(write.key)
        elif write.kind == "Pod" and not _counts_alike(write):
            owner = self.queue_owner(write, self.kind)
            self.queue_adopters(write, self.kind)
            wait = spec_of(owner).get("minReadySeconds") if owner is not None else 0
            if owner is not None and wait and becomes_ready(write):
                self.queue.add_after(key_of(owner), wait)

    def sync(self, key: str) -> Work:
        """Claim, create or delete pods, and write the status (syncReplicaSet)."""
        owner = self.server.get(self.kind, key)
        if owner is None:
            return
        pods = self._counted(owner) or (yield from self._claimed(owner))
        error = None
        if not is_deleting(owner):
            error = yield from self._manage(owner, pods)
        written = yield from self._write_status(owner, pods, error)
        if error is not None:
            raise error
        wait = spec_of(written).get("minReadySeconds") or 0
        status = status_of(written)
        if wait and status.get("readyReplicas") != status.get("availableReplicas"):
            self.queue.add_after(key, next_check(pods.listed, wait, self.now))

    def _counted(self, owner: Manifest) -> Replicas | None:
        """Return the numbers of a set's pods; ``None`` if the sync has to look at each of them."""
        spec, tally = spec_of(owner), self.server.tallies.of(uid_of(owner))
        selector, active = spec.get("selector"), tally.active
        if spec.get("minReadySeconds") or active > spec["replicas"]:
            return None
        if tally.labelled(partial(selects, selector)) != active:
            return None
        if self.server.adoptable("Pod", selector, namespace_of(owner)):
            return None
        labelled = tally.labelled(partial(_has_labels, owner))
        return Replicas(active, labelled, tally.ready, tally.terminating)

    def _claimed(self, owner: Manifest) -> Work:
        """Claim the pods of a set, and return their numbers."""
        everyone = pods_of(self.server, owner)
        active = yield from self.claim(owner, [pod for pod in everyone if is_active(pod)])
        return Replicas(
            len(active),
            sum(_has_labels(owner, labels_of(pod)) for pod in active),
            sum(map(is_ready, active)),
            sum(is_terminating(pod) and controller_of(pod) is not None for pod in everyone),
            active,
        )

    def _manage(self, owner: Manifest, pods: Replicas) -> Work:
        surplus = pods.active - spec_of(owner)["replicas"]
        if surplus < 0:
            template = spec_of(owner)["template"]
            made = pod_from(template, owner)
            return (yield from slow_start(min(-surplus, BURST), lambda _: self.client.create(made)))
        if surplus > 0:
            chosen = self._to_delete(owner, pods.listed, min(surplus, BURST))
            results = yield [self.client.delete(pod) for pod in chosen]
            return next((one for one in results if isinstance(one, StatusError) and not gone(one)), None)
        return None

    def _to_delete(self, owner: Manifest, active: Sequence[Manifest], number: int) -> list[Manifest]:
        if number >= len(active):
            return list(active)
        ranks = Counter(node_of(pod) for pod in self._related(owner) if is_active(pod))
        return by_deletion(active, ranks, self.now)[:number]

    def _related(self, owner: Manifest) -> list[Manifest]:
        """Return the pods of all sets that have the same controller (getIndirectlyRelatedPods).

        A set without a controller has none, not even its own: its pods are not ranked by node.
        """
        above = controller_of(owner)
        siblings = [] if above is None else self.server.controlled_by(above["uid"], self.kind)
        found: dict[str, Manifest] = {}
        for one in siblings:
            for pod in self.server.selected(spec_of(one).get("selector"), namespace_of(one)):
                found[uid_of(pod)] = pod
        return list(found.values())

    def _write_status(self, owner: Manifest, pods: Replicas, error: StatusError | None) -> Work:
        wait = spec_of(owner).get("minReadySeconds") or 0
        available = sum(is_available(pod, wait, self.now) for pod in pods.listed) if wait else pods.ready
        fresh: dict[str, Any] = {
            "replicas": pods.active,
            "fullyLabeledReplicas": pods.labelled,
            "readyReplicas": pods.ready,
            "availableReplicas": available,
            "terminatingReplicas": pods.terminating,
            "observedGeneration": generation(owner),
        }
        if conditions := self._conditions(owner, pods.active, error):
            fresh["conditions"] = conditions
        if is_same_status(fresh, status_of(owner)):
            return owner
        try:
            return (yield self.client.update_status(with_status(owner, fresh)))
        except StatusError as failed:
            if failed.code == 404:
                return owner
            latest = self.server.current(self.kind, key_of(owner))
            return (yield self.client.update_status(with_status(latest, fresh)))

    def _conditions(self, owner: Manifest, active: int, error: StatusError | None) -> list[dict[str, Any]]:
        """Return the conditions with the failure to create or delete pods; a known failure stays as it is."""
        known = status_of(owner).get("conditions") or []
        if error is None:
            return [row for row in known if row["type"] != FAILURE]
        if condition_of(owner, FAILURE) is not None:
            return list(known)
        reason = "FailedCreate" if active < spec_of(owner)["replicas"] else "FailedDelete"
        row = {"type": FAILURE, "status": "True", "reason": reason, "message": str(error)}
        return [*known, {**row, "lastTransitionTime": stamp(self.now)}]


class ReplicationControllers(ReplicaSets):
    """The controller of ReplicationControllers, whose selector is stored like a ReplicaSet's."""

    name = "replicationcontroller"
    watched = ("ReplicationController", "Pod")
    owner_kind = "ReplicationController"
    kind = "ReplicationController"


def _has_labels(owner: Manifest, labels: Mapping[str, str]) -> bool:
    """Return whether labels have all of a set's template."""
    wanted = (spec_of(owner)["template"].get("metadata") or {}).get("labels") or {}
    return bool(wanted.items() <= labels.items())


def _counts_alike(write: StoredWrite) -> bool:
    """Return whether a write of a pod, such as its binding, leaves all that its set counts."""
    old, new = write.old, write.new
    if old is None or new is None:
        return False
    if old.get("status") is not new.get("status") and _counted_status(old) != _counted_status(new):
        return False
    before, after = old["metadata"], new["metadata"]
    for name in ("deletionTimestamp", "labels", "ownerReferences"):
        one, other = before.get(name), after.get(name)
        if one is not other and (one or None) != (other or None):
            return False
    return True


def _counted_status(pod: Manifest) -> tuple[Any, ...]:
    return phase_of(pod), condition_of(pod, "Ready")


def becomes_ready(write: StoredWrite) -> bool:
    """Return whether a write of a pod makes it ready."""
    return (
        write.new is not None and is_ready(write.new) and not (write.old is not None and is_ready(write.old))
    )


def next_check(pods: Sequence[Manifest], wait: int, now: float) -> float:
    """Return in how many seconds the next ready pod is available (FindMinNextPodAvailabilityCheck)."""
    left = [ready_since(pod) + wait - now for pod in pods if is_ready(pod)]
    return min((one for one in left if one > 0), default=float(wait))


def _cost(pod: Manifest) -> int:
    try:
        return int(annotations_of(pod).get(COST, "0"))
    except ValueError:
        return 0


def by_deletion(pods: Sequence[Manifest], ranks: Counter[str], now: float) -> list[Manifest]:
    """Return pods in the order in which they are deleted (ActivePodsWithRanks)."""

    def compare(one: Manifest, other: Manifest) -> int:
        for rank in (_binary(one, other), _unready(one, other), _doubled(one, other, ranks)):
            if rank:
                return rank
        if is_ready(one) and is_ready(other):
            times = _younger(ready_since(one), ready_since(other), now)
            if times is not None:
                return times or _compare(uid_of(one), uid_of(other))
        if restarts := _compare(most_restarts_of(other), most_restarts_of(one)):
            return restarts
        created = _younger(created_at(one), created_at(other), now)
        return 0 if created is None else created or _compare(uid_of(one), uid_of(other))

    return go_sorted(pods, compare)


def by_age(pods: Sequence[Manifest]) -> list[Manifest]:
    """Return pods in the order in which a Job deletes them (ActivePods): neither costs nor nodes count."""

    def compare(one: Manifest, other: Manifest) -> int:
        rank = _binary(one, other) or _compare(is_ready(one), is_ready(other))
        if not rank and is_ready(one):
            rank = _compare(ready_since(other), ready_since(one))
        rank = rank or _compare(most_restarts_of(other), most_restarts_of(one))
        return rank or _compare(created_at(other), created_at(one))

    return go_sorted(pods, compare)


def _compare(one: Any, other: Any) -> int:
    return int(one > other) - int(one < other)


def _binary(one: Manifest, other: Manifest) -> int:
    return _compare(bool(node_of(one)), bool(node_of(other))) or _compare(
        _PHASES.get(phase_of(one), 0), _PHASES.get(phase_of(other), 0)
    )


def _unready(one: Manifest, other: Manifest) -> int:
    return _compare(is_ready(one), is_ready(other)) or _compare(_cost(one), _cost(other))


def _doubled(one: Manifest, other: Manifest, ranks: Counter[str]) -> int:
    return _compare(ranks[node_of(other)], ranks[node_of(one)])


def _younger(one: float, other: float, now: float) -> int | None:
    """Compare two times by the logarithm of their age, the younger first; 0 or ``None`` if they are alike."""
    if one == other:
        return None
    return _compare(_age(one, now), _age(other, now))


def _age(since: float, now: float) -> int:
    return -1 if now - since <= 0 else floor(log2((now - since) * 1e9))
