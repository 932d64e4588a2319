"""kube-scheduler v1.37 on the API server of its control plane: what it sees, decides and writes.

Cycles change its own cluster at once; bindings, statuses and evictions are writes that wait for their turn.
A failed attempt's status is written before the next attempt (handleSchedulingFailure); bindings and evictions
go on beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Any

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.loop import StatusError, Together, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    is_deleting,
    key_of,
    node_of,
    stamp,
    status_of,
    uid_of,
    with_condition,
    with_spec,
    with_status,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watching import StoredWrite
from scheduler_core.run.living.volumes import (
    claim_keys,
    is_fully_bound,
    is_in_reach,
    volume_writes,
    will_bind,
)
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo
from scheduler_core.schedulers.v1_37.interface import ClusterEvent, PodAttempt
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.run import SchedulerRun

LEFTOVER_EVERY = 30
_POLL_SECONDS = 1.0001


class LivingScheduler:
    """A kube-scheduler. ``reserved`` are the pods that it has placed and whose binding it has not seen."""

    def __init__(self, server: ApiServer, configuration: CompiledConfiguration) -> None:
        self.server = server
        self.loop = server.loop
        self.client = Clientset(server, "scheduler")
        self.run = SchedulerRun(configuration)
        self.reserved: dict[str, tuple[QueuedPodInfo, str]] = {}
        self._last_victims: dict[str, set[str]] = {}
        self._busy = False
        self._flushing = False
        self._sweeping = False
        server.watch(self.observe)
        self.loop.worker(self._poll)

    # --- what it sees

    def observe(self, write: StoredWrite) -> None:
        """Take a write into its own cluster and tell its queue (eventhandlers.go)."""
        run, kind, key, new = self.run, write.kind, write.key, write.new
        self._catch_up()
        if kind == "Pod" and (new is None or is_deleting(new)):
            run.rules.preempting -= self._last_victims.pop(key, set())
        if kind == "PersistentVolume":
            run.cluster.assumed_volumes.pop(key, None)
        elif kind == "PersistentVolumeClaim":
            run.cluster.assumed_claims.pop(key, None)
        stored = run.cluster.objects.get(kind, {}).get(key)
        if new is None:
            if stored is not None:
                self._lose(kind, key, stored)
        elif stored is None:
            run.watch.see(run.cluster.create(new))
        elif kind == "Pod" and key in self.reserved:
            self._see_reserved(key, new)
        else:
            self._see_update(key, new)

    def _catch_up(self) -> None:
        self.run.queue.clock.pass_to(int(self.loop.now * SECOND + 0.0005))

    def _see_update(self, key: str, new: Manifest) -> None:
        run = self.run
        pod = run.cluster.pods.get(key) if new["kind"] == "Pod" else None
        nominated = "" if pod is None or pod.nominated_node else run.nominations.node_of(pod)
        run.watch.see(run.cluster.replace(new))
        pod = run.cluster.pods.get(key) if nominated else None
        if pod is not None and not pod.node and not pod.nominated_node and run.queue.find(key) is not None:
            run.nominations.nominate(pod, nominated)

    def _see_reserved(self, key: str, new: Manifest) -> None:
        run, pod = self.run, CompiledPod(new)
        if pod.node or pod.finished:
            _, node = self.reserved.pop(key)
            run.watch.see(run.cluster.replace(new))
            if not pod.node:
                self._freed(new, node)
            return
        assumed = run.cluster.pods[key]
        run.cluster.replace(new)
        run.cluster.assume(CompiledPod(new), assumed.node)

    def _lose(self, kind: str, key: str, stored: Mapping[str, Any]) -> None:
        run, meta = self.run, stored["metadata"]
        held = self.reserved.pop(key, None) if kind == "Pod" else None
        run.watch.see(run.cluster.delete(kind, meta.get("namespace"), meta["name"]))
        if held is not None:
            self._freed(stored, held[1])

    def _freed(self, manifest: Mapping[str, Any], node: str) -> None:
        """Tell the queue that an assumed pod has left its node (EventAssignedPodDelete)."""
        on_node = with_spec(dict(manifest), nodeName=node)
        self.run.queue.broadcast(ClusterEvent("AssignedPod", "Delete", on_node, None))

    # --- time

    def _flush_later(self) -> None:
        """Have the queue flushed when something may be due.

        On whole seconds what has backed off (waitUntilAlignedWithOrderingWindow), every 30 s from the start
        what has been left over for too long.
        """
        queue, now = self.run.queue, self.loop.now
        if not self._flushing and (len(queue.backoff) or len(queue.error_backoff)):
            self._flushing = True
            self.loop.at(floor(now + 1e-6) + 1, self._flush)
        if not self._sweeping and queue.unschedulable.rejected():
            self._sweeping = True
            passes = floor((now - self.loop.start + 1e-6) / LEFTOVER_EVERY) + 1
            self.loop.at(self.loop.start + passes * LEFTOVER_EVERY, self._sweep)

    def _flush(self) -> None:
        self._flushing = False
        self._catch_up()
        self.run.queue.flush(leftover=False)

    def _sweep(self) -> None:
        self._sweeping = False
        self._catch_up()
        self.run.queue.flush(leftover=True)

    # --- what it decides

    def _poll(self) -> bool:
        self._flush_later()
        if self._busy:
            return False
        self._catch_up()
        waiting = self.run.queue.pop()
        if not isinstance(waiting, QueuedPodInfo):
            return False
        if waiting.pod.terminating:
            self.run.queue.done()
            return True
        self._attempt(waiting)
        return True

    def _attempt(self, waiting: QueuedPodInfo) -> None:
        run = self.run
        hint = run.batching.hint(waiting.pod, run.queue.popped, run.clock.now)
        tried = run.scheduling.schedule(waiting.pod, hint=hint)
        if tried.node is None or tried.error is not None:
            self._busy = True
            self.loop.spawn(self._fail(waiting, tried))
            return
        run.batching.store(tried, run.queue.popped, run.clock.now)
        run.scheduling.reserve(tried)
        run.queue.done()
        run.nominations.drop(waiting.key)
        self.reserved[waiting.key] = waiting, str(tried.node)
        self.loop.spawn(self._bind(waiting, tried))

    # --- binding

    def _bind(self, waiting: QueuedPodInfo, tried: PodAttempt) -> Work:
        """Nominate and wait for volumes, then bind (bindingCycle)."""
        key, node = waiting.key, str(tried.node)
        pod = self.server.get("Pod", key)
        if pod is None:
            return
        try:
            if will_bind(self.run.cluster, tried):
                yield self.client.patch(pod, _nominated(node))
                for manifest in volume_writes(self.run.cluster, tried):
                    yield self.client.update(manifest)
            yield from self._bind_when_ready(waiting, node, pod)
        except StatusError as error:
            yield from self._unbound(waiting, node, str(error))

    def _bind_when_ready(self, waiting: QueuedPodInfo, node: str, pod: Manifest) -> Work:
        """Bind a pod, or look again in a second if its volumes are not bound yet (PreBind)."""
        claims = claim_keys(pod)
        if not all(is_fully_bound(self.server.get("PersistentVolumeClaim", one)) for one in claims):
            self.loop.spawn_at(self.loop.now + _POLL_SECONDS, self._bind_later, waiting, node, pod)
            return
        if not all(is_in_reach(self.server, one, node) for one in claims):
            raise StatusError(409, "binding volumes: node affinity doesn't match node")
        key = key_of(pod)
        yield self.client.call("create", pod, lambda: self._write_binding(key, uid_of(pod), node))

    def _bind_later(self, waiting: QueuedPodInfo, node: str, pod: Manifest) -> Work:
        try:
            if self.server.get("Pod", key_of(pod)) is None:
                raise StatusError(404, "pod is gone")
            yield from self._bind_when_ready(waiting, node, pod)
        except StatusError as error:
            yield from self._unbound(waiting, node, str(error))

    def _write_binding(self, key: str, uid: str, node: str) -> Manifest:
        pod = self.server.current("Pod", key, uid)
        if node_of(pod) or is_deleting(pod):
            raise StatusError(409, f"pod {pod['metadata']['name']} is being deleted or assigned to a node")
        now = self.loop.wall_time
        return self.server.change("Pod", key, lambda stored: bound(stored, node, now), "scheduler")

    def _unbound(self, waiting: QueuedPodInfo, node: str, message: str) -> Work:
        """Forget a pod whose binding failed, and file it as after an error (handleBindingCycleError)."""
        run, key = self.run, waiting.key
        self._catch_up()
        for claim in claim_keys(self.server.get("Pod", key)):
            run.cluster.assumed_claims.pop(claim, None)
        held = self.reserved.get(key)
        if held is None or held[0] is not waiting:
            return
        del self.reserved[key]
        stored = dict(run.cluster.objects["Pod"][key])
        fresh = CompiledPod(stored)
        run.cluster.forget(fresh)
        self._freed(stored, node)
        waiting.pod = fresh
        self._failed(waiting, frozenset(), frozenset())
        run.queue.requeue(waiting)
        yield from self._post(stored, "SchedulerError", message, "")

    # --- failures

    def _fail(self, waiting: QueuedPodInfo, tried: PodAttempt) -> Work:
        """Run PostFilter, file the pod and write what became of it; evictions go on beside."""
        run = self.run
        if tried.error is None:
            run.scheduling.post_filter(tried)
        run.scheduling.fail(tried)
        if tried.victims:
            run.rules.preempting.add(waiting.key)
        self._failed(waiting, tried.unschedulable_plugins, tried.pending_plugins)
        tried.queue = run.queue.requeue(waiting)
        if tried.nominated is None:
            run.nominations.put(run.cluster.pods[waiting.key])
        else:
            run.nominations.nominate(run.cluster.pods[waiting.key], tried.nominated)
        if tried.victims or tried.lost_nominations:
            self.loop.spawn(self._preempt(waiting.key, tried))
        pod = self.server.get("Pod", waiting.key)
        if pod is not None:
            reason = "SchedulerError" if tried.result == "error" else "Unschedulable"
            yield from self._post(pod, reason, tried.message or "", tried.nominated)
        self._busy = False

    def _failed(self, waiting: QueuedPodInfo, rejected_by: frozenset[str], pending: frozenset[str]) -> None:
        """Note a failed attempt: it comes after all others, those of the same millisecond too."""
        waiting.failed(self.run.clock.now, rejected_by, pending)
        waiting.arrival = self.run.queue.number()

    def _post(self, pod: Manifest, reason: str, message: str, nominated: str | None) -> Work:
        """Write a pod's condition PodScheduled and its nomination, ``None`` for as it is."""
        row = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}

        def patch(stored: Manifest) -> Manifest:
            marked = _with_row(stored, row, self.loop.wall_time)
            return marked if nominated is None else _nominated(nominated)(marked)

        if patch(pod) != pod:
            try:
                yield self.client.patch(pod, patch)
            except StatusError:
                return

    def _preempt(self, preemptor: str, tried: PodAttempt) -> Work:
        """Take nominations away, then delete the victims: all but the last in parallel, then that one."""
        for lost in tried.lost_nominations:
            pod = self.server.get("Pod", lost.key)
            if pod is not None:
                yield [self.client.patch(pod, _nominated(""))]
        found = [self.server.get("Pod", victim.key) for victim in tried.victims]
        victims = [pod for pod in found if pod is not None]
        yield Together([self._evict(pod) for pod in victims[:-1]])
        for pod in victims[-1:]:
            self._last_victims.setdefault(key_of(pod), set()).add(preemptor)
            yield Together([self._evict(pod)])
        self.run.rules.preempting.discard(preemptor)

    def _evict(self, pod: Manifest) -> Work:
        row = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        yield self.client.patch(pod, lambda stored: _with_row(stored, row, self.loop.wall_time))
        yield self.client.delete(pod)


def bound(pod: Manifest, node: str, now: float) -> Manifest:
    """Return a pod as its binding stores it: its node, its condition, and no nomination."""
    status = {key: value for key, value in status_of(pod).items() if key != "nominatedNodeName"}
    row = {"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp(now)}
    status["conditions"] = with_condition(status.get("conditions") or [], row)
    return with_status(with_spec(pod, nodeName=node), status)


def _nominated(node: str) -> Any:
    def patch(pod: Manifest) -> Manifest:
        status = {key: value for key, value in status_of(pod).items() if key != "nominatedNodeName"}
        return with_status(pod, {**status, "nominatedNodeName": node} if node else status)

    return patch


def _with_row(pod: Manifest, row: dict[str, Any], now: float) -> Manifest:
    status = status_of(pod)
    conditions = status.get("conditions") or []
    known = next((one for one in conditions if one["type"] == row["type"]), None)
    since = known.get("lastTransitionTime") if known and known["status"] == row["status"] else stamp(now)
    made = {**row, "lastTransitionTime": since}
    return with_status(pod, {**status, "conditions": with_condition(conditions, made)})
