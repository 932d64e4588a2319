"""StatefulSet: pods with ordinals, one after the other or in parallel (``pkg/controller/statefulset``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.cluster.v1_37 import revisions
from scheduler_core.cluster.v1_37.claims import (
    claims_of,
    in_range,
    is_stale,
    ordinal_of,
    start_of,
    with_claims,
    with_owner,
)
from scheduler_core.cluster.v1_37.controller import Controller, pod_from, pods_of
from scheduler_core.cluster.v1_37.loop import StatusError, Together, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    generation,
    is_available,
    is_deleting,
    is_finished,
    is_ready,
    key_of,
    labels_of,
    name_of,
    phase_of,
    scaled,
    spec_of,
    status_of,
    with_meta,
    with_status,
)
from scheduler_core.cluster.v1_37.replicaset import becomes_ready, next_check
from scheduler_core.cluster.v1_37.watches import StoredWrite

MOST_MISSING = 10_000
"""Pods that one sync of a parallel set creates; the next one creates more."""

_POD_NAME, _POD_INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"
Step = Callable[[Manifest], Work]


class StatefulSets(Controller):
    """The controller of StatefulSets."""

    name = "statefulset"
    watched = ("StatefulSet", "Pod")
    owner_kind = "StatefulSet"

    def observe(self, write: StoredWrite) -> None:
        """Queue the set, or the controller of a pod; one that becomes ready may be available later."""
        if write.kind == "StatefulSet":
            self.queue.add(write.key)
        elif write.kind == "Pod":
            owner = self.queue_owner(write, "StatefulSet")
            self.queue_adopters(write, "StatefulSet")
            wait = spec_of(owner).get("minReadySeconds") if owner is not None else 0
            if owner is not None and wait and becomes_ready(write):
                self.queue.add_after(key_of(owner), wait)

    def sync(self, key: str) -> Work:
        """Take the next steps of a set, and write its status (UpdateStatefulSet)."""
        owner = self.server.get("StatefulSet", key)
        if owner is None:
            return
        found = [
            pod for pod in pods_of(self.server, owner) if name_of(pod).rpartition("-")[0] == name_of(owner)
        ]
        known = yield from revisions.adopted(self.client, owner, revisions.listed(self.server, owner))
        pods = yield from self.claim(owner, found)
        update, collisions = yield from revisions.updated_revision(self.client, owner, known)
        wanted = status_of(owner).get("currentRevision")
        current = next((one for one in known if name_of(one) == wanted), update)
        sync = _StatefulSetSync(self, owner, pods, current, update)
        sync.collisions = collisions
        error = None
        try:
            yield from sync.run()
        except StatusError as failed:
            error = failed
        status = sync.status()
        yield from self._write(owner, status)
        if error is not None:
            raise error
        wait = spec_of(owner).get("minReadySeconds") or 0
        if wait and status["readyReplicas"] != status["availableReplicas"]:
            self.queue.add_after(key, next_check(pods, wait, self.now))
        live = {name_of(current), name_of(update), *(_revision(pod) for pod in pods)}
        yield from revisions.truncate(self.client, owner, revisions.listed(self.server, owner), live)

    def _write(self, owner: Manifest, status: dict[str, Any]) -> Work:
        before = status_of(owner)
        behind = status["observedGeneration"] > (before.get("observedGeneration") or 0)
        compared = [key for key in status if key not in ("observedGeneration", "collisionCount")]
        if not behind and all(status[key] == (before.get(key) or type(status[key])()) for key in compared):
            return
        try:
            yield self.client.update_status(with_status(owner, status))
        except StatusError as error:
            if error.code != 409:
                raise
            latest = self.server.current("StatefulSet", key_of(owner))
            yield self.client.update_status(with_status(latest, status))


def _revision(pod: Manifest) -> str:
    return labels_of(pod).get(revisions.LABEL, "")


def _is_created(pod: Manifest) -> bool:
    return "status" in pod


class _StatefulSetSync:
    """One sync of a set: pods by place, those beyond its size, and what is done about them."""

    def __init__(
        self,
        controller: StatefulSets,
        owner: Manifest,
        pods: Sequence[Manifest],
        current: Manifest,
        update: Manifest,
    ) -> None:
        self.controller = controller
        self.client = controller.client
        self.server = controller.server
        self.owner = owner
        self.current = current
        self.update = update
        self.now = controller.now
        self.wait = int(spec_of(owner).get("minReadySeconds") or 0)
        self.monotonic = spec_of(owner)["podManagementPolicy"] != "Parallel"
        self.removed = 0
        self.collisions = 0
        by_ordinal = {ordinal_of(pod): pod for pod in pods if in_range(owner, ordinal_of(pod))}
        self.replicas = self._placed(by_ordinal)
        surplus = [pod for pod in pods if not in_range(owner, ordinal_of(pod)) and ordinal_of(pod) >= 0]
        self.condemned = sorted(surplus, key=ordinal_of, reverse=True)
        waiting = [pod for pod in (*self.replicas, *reversed(self.condemned)) if self._is_unavailable(pod)]
        self.first_unavailable = waiting[0] if waiting else None

    # --- pods

    def _placed(self, pods: Mapping[int, Manifest]) -> list[Manifest]:
        """Return the pods in order of their places; of those that are missing as many as a sync may create.

        In order that is one, for which the others wait.
        """
        room = 1 if self.monotonic else max(1, min(MOST_MISSING, self.server.room))
        first, made = start_of(self.owner), []
        places = iter(range(first, first + int(spec_of(self.owner)["replicas"])))
        for place in places:
            made.append(pods.get(place) or self._new_pod(place))
            room -= place not in pods
            if room == 0:
                break
        rest = next(places, None)
        return made + [pods[place] for place in sorted(pods) if rest is not None and place >= rest]

    def _is_unavailable(self, pod: Manifest) -> bool:
        return is_deleting(pod) or not is_available(pod, self.wait, self.now)

    def _new_pod(self, ordinal: int) -> Manifest:
        """Return a pod of the current or the updated template (newVersionedStatefulSetPod)."""
        strategy, first = spec_of(self.owner)["updateStrategy"], start_of(self.owner)
        rolling = strategy.get("rollingUpdate")
        kept = status_of(self.owner).get("currentReplicas") or 0
        if rolling is not None:
            kept = rolling.get("partition") or 0
        rolls = strategy["type"] == "RollingUpdate" or rolling is not None
        revision = self.current if rolls and ordinal < first + kept else self.update
        owner = revisions.restored(self.owner, revision)
        name = f"{name_of(owner)}-{ordinal}"
        pod = pod_from(spec_of(owner)["template"], owner, name=name)
        labels = {**labels_of(pod), _POD_NAME: name, _POD_INDEX: str(ordinal)}
        labels[revisions.LABEL] = name_of(revision)
        pod = with_claims(owner, with_meta(pod, labels=labels), ordinal)
        return {**pod, "spec": {**spec_of(pod), "hostname": name}}

    # --- steps

    def run(self) -> Work:
        """Create what is missing, delete what is surplus, then update (updateStatefulSet)."""
        if is_deleting(self.owner):
            return
        for pods, step in (
            (self.replicas, self._keep),
            (self.condemned, self._own),
            (self.condemned, self._drop),
        ):
            if (yield from self._each(pods, step)):
                return
        if spec_of(self.owner)["updateStrategy"]["type"] == "RollingUpdate":
            yield from self._roll()

    def _each(self, pods: Sequence[Manifest], step: Step) -> Work:
        """Take a step for each pod: in order, until one returns true, or in growing batches in parallel."""
        if self.monotonic:
            for pod in pods:
                if (yield from step(pod)):
                    return True
            return False
        done, size = 0, 1
        while done < len(pods):
            results = yield Together([step(pod) for pod in pods[done : done + size]])
            if failed := next((one for one in results if isinstance(one, StatusError)), None):
                raise failed
            done, size = done + size, size * 2
        return False

    def _keep(self, pod: Manifest) -> Work:
        """Create or replace a pod; return whether the next one has to wait (processReplica)."""
        if is_finished(pod) and _is_created(pod):
            if not is_deleting(pod):
                yield from self._delete(pod)
            return True
        if not _is_created(pod):
            if self._is_stale(pod):
                return True
            yield from self._create(pod)
            return True
        if phase_of(pod) == "Pending":
            yield from self._create_claims(pod)
            yield from self._own(pod)
        if self.monotonic and (is_deleting(pod) or not self._is_running(pod) or self._is_unavailable(pod)):
            return True
        yield from self._own(pod)
        return False

    @staticmethod
    def _is_running(pod: Manifest) -> bool:
        return phase_of(pod) == "Running" and is_ready(pod)

    def _is_stale(self, pod: Manifest) -> bool:
        found = (self._claim(one) for one in claims_of(self.owner, ordinal_of(pod)))
        return any(claim is not None and is_stale(claim, self.owner, pod) for claim in found)

    def _claim(self, claim: Manifest) -> Manifest | None:
        return self.server.get("PersistentVolumeClaim", key_of(claim))

    def _create(self, pod: Manifest) -> Work:
        yield from self._create_claims(pod)
        stored = yield self.client.create(pod)
        yield from self._own(stored)

    def _create_claims(self, pod: Manifest) -> Work:
        failed = None
        for claim in claims_of(self.owner, ordinal_of(pod)):
            known = self._claim(claim)
            if known is None:
                yield self.client.create(claim)
            elif is_deleting(known):
                failed = StatusError(409, f"pvc {name_of(claim)} is being deleted")
        if failed is not None:
            raise failed

    def _own(self, pod: Manifest) -> Work:
        """Give a pod's claims the owners that the policy wants."""
        for claim in claims_of(self.owner, ordinal_of(pod)):
            known = self._claim(claim)
            if known is not None and (made := with_owner(known, self.owner, pod)) is not known:
                yield self.client.update(made)
        return False

    def _drop(self, pod: Manifest) -> Work:
        """Delete a pod beyond the size; return whether the next one has to wait (processCondemned)."""
        if is_deleting(pod):
            return True
        held = not self._is_running(pod) or self._is_unavailable(pod)
        if held and self.monotonic and pod is not self.first_unavailable:
            return True
        yield from self._delete(pod)
        return True

    def _delete(self, pod: Manifest) -> Work:
        try:
            yield self.client.delete(pod)
        except StatusError as error:
            if error.code != 404:
                raise

    # --- updates

    def _roll(self) -> Work:
        """Delete pods of other revisions, from the last down (updateStatefulSetAfterInvariantEstablished)."""
        rolling = spec_of(self.owner)["updateStrategy"].get("rollingUpdate") or {}
        first = int(rolling.get("partition") or 0)  # counted from the first ordinal
        most = rolling.get("maxUnavailable")
        most = max(1, scaled(1 if most is None else most, int(spec_of(self.owner)["replicas"]), up=False))
        unavailable = sum(map(self._is_unavailable, self.replicas))
        old = [
            pod for pod in self.replicas if _revision(pod) != name_of(self.update) and not is_deleting(pod)
        ]
        broken = [pod for pod in old if self._is_unavailable(pod)]
        if unavailable >= most and (self.monotonic or not broken):
            return
        going = [pod for pod in reversed(self.replicas[first:]) if pod in old]
        left = most - unavailable
        if not self.monotonic:
            for pod in [pod for pod in going if pod in broken]:
                yield from self._update(pod)
            going = [pod for pod in going if pod not in broken]
        for pod in going[: max(0, left)]:
            yield from self._update(pod)

    def _update(self, pod: Manifest) -> Work:
        yield from self._delete(pod)
        self.removed += 1

    # --- status

    def status(self) -> dict[str, Any]:
        """Return the set's status, as of the pods that this sync began with."""
        pods = [pod for pod in (*self.replicas, *self.condemned) if _is_created(pod)]
        live = [pod for pod in pods if not is_deleting(pod)]
        ready = [pod for pod in pods if self._is_running(pod)]
        status: dict[str, Any] = {
            "observedGeneration": generation(self.owner),
            "replicas": len(pods),
            "readyReplicas": len(ready),
            "availableReplicas": sum(is_available(pod, self.wait, self.now) for pod in ready),
            "currentReplicas": sum(_revision(pod) == name_of(self.current) for pod in live) - self.removed,
            "updatedReplicas": sum(_revision(pod) == name_of(self.update) for pod in live),
            "currentRevision": name_of(self.current),
            "updateRevision": name_of(self.update),
            "collisionCount": self.collisions,
        }
        wanted = spec_of(self.owner)["replicas"]
        if status["updatedReplicas"] == status["readyReplicas"] == status["replicas"] == wanted:
            status |= {"currentReplicas": wanted, "currentRevision": status["updateRevision"]}
        return status
