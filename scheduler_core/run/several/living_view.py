"""The view of a v1.37 at the API server of its control plane: what it sees, and what it writes.

It hears of each write before the next one is made. Its cycles change its own cluster at once; bindings,
statuses and evictions are writes that wait for their turn among those of controllers and kubelets. A failed
attempt's status is written before the next attempt (handleSchedulingFailure); bindings and evictions go on
beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import floor
from typing import Any

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.loop import Together, Work
from scheduler_core.cluster.v1_37.objects import Manifest, is_deleting, key_of
from scheduler_core.cluster.v1_37.watches import StoredWrite
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.run.several.control_plane import ControlPlaneManager
from scheduler_core.run.several.living_writes import Binding, StatusPatch, failed, marked, nominated
from scheduler_core.run.several.plane_manifests import KINDS
from scheduler_core.run.several.v1_37_view import Claims, Devices, Reserved, V1_37View
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo
from scheduler_core.schedulers.v1_37.interface import PodAttempt

LEFTOVER_EVERY = 30


class LivingView(V1_37View):
    """The view of a v1.37 that is alone at an API server. ``busy`` counts the statuses that it is writing."""

    def __init__(self, objects: Sequence[KubernetesObject], *args: Any, **kw: Any) -> None:
        manager = kw["server"].manager
        assert isinstance(manager, ControlPlaneManager)
        self.plane, self.loop = manager.server, manager.loop
        self.client = Clientset(manager.server, "scheduler")
        self.busy = 0
        self._flush_at: float | None = None
        self._sweep_at: float | None = None
        self._last_victims: dict[str, set[str]] = {}
        super().__init__(objects, *args, **kw)
        self._starts_later = manager.starts_later
        manager.show_to(self.see)

    def begin_scheduling(self) -> None:
        """Learn what the API server has, but for what the control plane of a running cluster tells later."""
        if not self._starts_later:
            super().begin_scheduling()
            return
        for kind, table in sorted(self.manifests.objects.items()):
            for key, manifest in table.items():
                self._learn(kind, key, manifest)

    # --- what it sees

    def see(self, write: StoredWrite) -> None:
        """Take a write into its own cluster and tell its queue (eventhandlers.go)."""
        kind, key, new = write.kind, write.key, write.new
        self.catch_up()
        if kind == "Pod" and (new is None or is_deleting(new)):
            self.scheduler_run.rules.preempting -= self._last_victims.pop(key, set())
        self._learn(kind, key, self.manifests.of(kind, key))

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Hear of a write to the typed cluster: of what the control plane stores only that matters here."""
        if kind not in KINDS:
            super().written(kind, key, obj)
        else:
            self.unheard += 1
            self.later(partial(self._hear, kind, key, obj))

    @property
    def now(self) -> int:
        """The time of the control plane in whole milliseconds."""
        return int(self.loop.now * SECOND + 0.0005)

    def catch_up(self) -> None:
        """Let the queue's time pass; what is due is flushed on whole seconds."""
        self.scheduler_run.queue.clock.pass_to(self.now)

    def _learn_reserved(self, key: str, manifest: Any) -> None:
        run = self.scheduler_run
        pod = run.cluster.compiled(manifest)
        if pod.node or pod.finished:
            super()._learn_reserved(key, manifest)
            return
        node = run.cluster.pods[key].node
        run.cluster.replace(manifest)
        run.cluster.assume(run.cluster.compiled(manifest), node)

    # --- time

    def plan(self) -> None:
        """Have the queue flushed when something may be due.

        On whole seconds what has backed off (waitUntilAlignedWithOrderingWindow), every 30 s from the start
        what has been left over for too long.
        """
        queue, now = self.scheduler_run.queue, self.loop.now
        if self._flush_at is None and (len(queue.backoff) or len(queue.error_backoff)):
            self._flush_at = floor(now + 1e-6) + 1.0
            self.loop.pass_at(self._flush_at, self._flush)
        if self._sweep_at is None and queue.unschedulable.rejected():
            passes = floor((now - self.loop.start + 1e-6) / LEFTOVER_EVERY) + 1
            self._sweep_at = self.loop.start + passes * LEFTOVER_EVERY
            self.loop.pass_at(self._sweep_at, self._sweep)

    @property
    def due(self) -> float | None:
        """When its queue may move something next without a write."""
        return min((at for at in (self._flush_at, self._sweep_at) if at is not None), default=None)

    def _flush(self) -> None:
        self._flush_at = None
        self.catch_up()
        self.scheduler_run.queue.flush(leftover=False)

    def _sweep(self) -> None:
        self._sweep_at = None
        self.catch_up()
        self.scheduler_run.queue.flush(leftover=True)

    # --- bindings

    def reserve(self, waiting: QueuedPodInfo, node: str, claims: Claims, devices: Devices) -> None:
        """Note that a pod was assumed in v1.37's cluster, assume it here too, and bind it in its turn."""
        key = waiting.key
        if devices:
            self._devices[key] = devices
        if claims:
            self._claims[key] = claims
        self.reserved[key] = Reserved(waiting, node)
        self.assume([(key, node)])
        self.loop.spawn(Binding(self, waiting, node, claims))

    def confirm(self, key: str) -> None:
        """Forget what a pod gets with its node, which is written by now."""
        self._claims.pop(key, None)
        self._devices.pop(key, None)

    def unbound(self, waiting: QueuedPodInfo, node: str, message: str) -> None:
        """Forget a pod whose binding failed, and file it as after an error (handleBindingCycleError)."""
        key = waiting.key
        held = self.reserved.get(key)
        if held is None or held.waiting is not waiting:
            return
        self._resync(key, node)
        self.record_event("FailedScheduling", key, message)
        self._report(key, "SchedulerError", message, "")

    # --- failures

    def note_failed(self, waiting: QueuedPodInfo) -> None:
        """Have a failed pod filed after all others, those of the same millisecond too."""
        waiting.arrival = self.scheduler_run.queue.number()

    def report(self, key: str, tried: PodAttempt) -> None:
        """Write what a failed attempt came to: the condition PodScheduled, and the nomination."""
        reason = "SchedulerError" if tried.result == "error" else "Unschedulable"
        self._report(key, reason, tried.message or "", tried.nominated)

    def nominate(self, key: str, node: str) -> None:
        """Note a pod's nomination, which is written with what became of it."""
        run = self.scheduler_run
        run.nominations.nominate(run.cluster.pods[key], node)

    def write_nomination(self, key: str, node: str) -> None:
        """Write a pod's nomination to its status."""
        pod = self.plane.get("Pod", key)
        if pod is not None:
            self.loop.spawn(StatusPatch(self.client, pod, partial(nominated, node=node)))

    def _report(self, key: str, reason: str, message: str, node: str | None) -> None:
        pod = self.plane.get("Pod", key)
        if pod is not None:
            row = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
            self.busy += 1
            patch = partial(failed, row=row, node=node, loop=self.loop)
            self.loop.spawn(StatusPatch(self.client, pod, patch, self._posted))

    def _posted(self) -> None:
        self.busy -= 1

    # --- preemption

    def preempt(self, preemptors: Sequence[str], victims: Sequence[str], unnominated: Sequence[str]) -> None:
        """Take nominations away and evict, before which no cycle tries the pods (prepareCandidateAsync)."""
        if victims or unnominated:
            self.loop.spawn(self._evict_all(tuple(preemptors), victims, unnominated))

    def _evict_all(
        self, preemptors: Sequence[str], victims: Sequence[str], unnominated: Sequence[str]
    ) -> Work:
        """Delete the victims: all but the last in parallel, then that one."""
        for key in unnominated:
            pod = self.plane.get("Pod", key)
            if pod is not None:
                yield [self.client.patch(pod, partial(nominated, node=""))]
        found = [self.plane.get("Pod", key) for key in victims]
        there = [pod for pod in found if pod is not None]
        yield Together([self._evict_pod(pod, preemptors[0]) for pod in there[:-1]])
        for pod in there[-1:]:
            self._last_victims.setdefault(key_of(pod), set()).update(preemptors)
            yield Together([self._evict_pod(pod, preemptors[0])])
        self.scheduler_run.rules.preempting -= set(preemptors)

    def _evict_pod(self, pod: Manifest, preemptor: str) -> Work:
        key = key_of(pod)
        self.record_event("Preempted", key, f"Preempted by {preemptor}")
        if self.waiting.get(key) is not None:
            self.waiting.reject(key, "DefaultPreemption", "preempted")
            return
        row = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        yield self.client.patch(pod, partial(marked, row=row, loop=self.loop))
        yield self.client.delete(pod)

    @property
    def is_busy(self) -> bool:
        """Whether a decision or a write of it is in flight."""
        return bool(self.unheard or self._held is not None or self.reserved or self.busy)
