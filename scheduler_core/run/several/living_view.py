"""The view of a v1.37 at the API server of its control plane: what it sees, and what it writes.

It hears of each write before the next one is made. Its cycles change its own cluster at once; bindings,
statuses and evictions are writes that wait for their turn among those of controllers and kubelets. A failed
attempt's status is written before the next attempt (handleSchedulingFailure); bindings and evictions go on
beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import floor
from typing import Any, NoReturn

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.loop import StatusError, Together, Work, Write
from scheduler_core.cluster.v1_37.objects import Manifest, is_deleting, key_of, node_of, uid_of
from scheduler_core.cluster.v1_37.watches import StoredWrite
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.run.plane.control_plane import ControlPlaneManager
from scheduler_core.run.plane.plane_manifests import KINDS
from scheduler_core.run.plane.pod_writes import PREEMPTED, StatusPatch, bound, failed, marked, nominated
from scheduler_core.run.several.living_volumes import claim_keys, is_fully_bound, is_in_reach, volume_write
from scheduler_core.run.several.v1_37_view import Claims, V1_37View
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo
from scheduler_core.schedulers.v1_37.events import RESOURCES
from scheduler_core.schedulers.v1_37.interface import PodAttempt

LEFTOVER_EVERY = 30
UNWATCHED = KINDS - {"Pod", *RESOURCES}
"""The kinds that no event of the scheduler is about."""
_POLL_SECONDS = 1.0001


class LivingView(V1_37View):
    """The view of a v1.37 that is alone at an API server. ``busy`` counts the statuses that it is writing.

    Its typed cluster is the API server's, so that nothing is counted twice: what it has assumed is in
    ``reserved``, and in v1.37's own cluster. With Coscheduling it is ``apart``, a cluster that the plugin
    follows.
    """

    def __init__(self, objects: Sequence[KubernetesObject], *args: Any, apart: bool, **kw: Any) -> None:
        manager = kw["server"].manager
        self.apart = apart
        assert isinstance(manager, ControlPlaneManager)
        self.plane, self.loop = manager.server, manager.loop
        self.client = Clientset(manager.server, "scheduler")
        self.busy = 0
        self._flush_at: float | None = None
        self._sweep_at: float | None = None
        self._last_victims: dict[str, set[str]] = {}
        super().__init__(objects if apart else (), *args, **kw)
        if not apart:
            self.cluster = self.server.cluster
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
        if kind in UNWATCHED:
            self.scheduler_run.cluster.follow(kind, key, self.manifests.of(kind, key))
            return
        self.catch_up()
        if kind == "Pod" and (new is None or is_deleting(new)):
            self.scheduler_run.rules.preempting -= self._last_victims.pop(key, set())
        self._learn(kind, key, self.manifests.of(kind, key))

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Hear of a write to the typed cluster: of what the control plane stores only that matters here."""
        if kind not in KINDS:
            super().written(kind, key, obj)
        elif self.apart:
            self.unheard += 1
            self.later(partial(self._hear, kind, key, obj))

    def _receive(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        if self.apart:
            super()._receive(kind, key, obj)

    def assume(self, placements: Iterable[tuple[str, str]]) -> None:
        """Count pods on their nodes where nothing else does."""
        if self.apart:
            super().assume(placements)

    def prepare(self) -> None:
        """Let nothing be flushed by the shared clock: see :meth:`plan`."""

    @property
    def now(self) -> int:
        """The time of the control plane in whole milliseconds."""
        return int(self.loop.now * SECOND + 0.0005)

    def catch_up(self) -> None:
        """Let the queue's time pass; what is due is flushed on whole seconds."""
        self.scheduler_run.queue.clock.pass_to(self.now)

    def _assume_again(self, key: str, manifest: Any) -> None:
        """Store a change of an assumed pod, which is assumed as it is now."""
        cluster = self.scheduler_run.cluster
        node = cluster.pods[key].node
        cluster.replace(manifest)
        cluster.assume(cluster.compiled(manifest), node)

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

    def due(self, rests_until: float) -> float | None:
        """Return when a pod may be tried next without a write, which is after a rest."""
        found = [at for at in (self._flush_at, self._sweep_at, rests_until) if at is not None]
        return min((at for at in found if at > self.loop.now), default=None)

    def _flush(self) -> None:
        self._flush_at = None
        self.catch_up()
        self.scheduler_run.queue.flush(leftover=False)

    def _sweep(self) -> None:
        self._sweep_at = None
        self.catch_up()
        self.scheduler_run.queue.flush(leftover=True)

    # --- bindings

    def _begin_binding(self, waiting: QueuedPodInfo, node: str, claims: Claims) -> None:
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
        yield self.client.patch(pod, partial(marked, row=PREEMPTED, loop=self.loop))
        yield self.client.delete(pod)

    @property
    def is_busy(self) -> bool:
        """Whether a decision or a write of it is in flight."""
        return bool(self.unheard or self._held is not None or self.reserved or self.busy)


class Binding:
    """The binding cycle of a pod: it nominates and waits for volumes, then binds.

    It is a work of the loop that can be copied while it waits, which a generator cannot.
    """

    def __init__(self, view: LivingView, waiting: QueuedPodInfo, node: str, claims: Claims) -> None:
        self.view, self.waiting, self.node = view, waiting, node
        self.pod = view.plane.get("Pod", waiting.key)
        first: tuple[Callable[[], Write | None], ...] = (self._nominate,) if claims else ()
        written = (volume_write(view.plane, claim, volume, node) for claim, volume in claims)
        volumes = (partial(self._write_volume, one) for one in written if one is not None)
        self._steps: list[Callable[[], Write | None]] = [*first, *volumes, self._bind]

    def send(self, result: Any) -> Write:
        """Return the next write; raise StopIteration at the end."""
        del result
        while self._steps and self.pod is not None:
            step = self._steps.pop(0)
            try:
                write = step()
            except StatusError as error:
                self.throw(error)
            if write is not None:
                return write
        raise StopIteration

    def throw(self, error: StatusError) -> NoReturn:
        """Give up after a write that was refused."""
        self._steps.clear()
        self.view.unbound(self.waiting, self.node, str(error))
        raise StopIteration

    def _nominate(self) -> Write:
        assert self.pod is not None
        return self.view.client.patch(self.pod, partial(nominated, node=self.node))

    def _write_volume(self, manifest: Manifest) -> Write:
        """Write a volume with its claim, or a claim with its node, as they were seen (bindAPIUpdate)."""
        return self.view.client.update(manifest)

    def _bind(self) -> Write | None:
        """Bind the pod, or look again in a second if its volumes are not bound yet (PreBind)."""
        view, plane, claims = self.view, self.view.plane, claim_keys(self.pod)
        if not all(is_fully_bound(plane.get("PersistentVolumeClaim", one)) for one in claims):
            view.loop.at(view.loop.now + _POLL_SECONDS, self._look_again)
            return None
        if not all(is_in_reach(plane, one, self.node) for one in claims):
            raise StatusError(409, "binding volumes: node affinity doesn't match node")
        if refused := view.write_devices(self.waiting.key):
            raise StatusError(409, refused)
        assert self.pod is not None
        return view.client.call("create", self.pod, self._write_binding)

    def _look_again(self) -> None:
        self._steps = [self._bind_if_there]
        self.view.loop.spawn(self)

    def _bind_if_there(self) -> Write | None:
        if self.view.plane.get("Pod", self.waiting.key) is None:
            raise StatusError(404, "pod is gone")
        return self._bind()

    def _write_binding(self) -> Manifest:
        assert self.pod is not None
        key, plane = key_of(self.pod), self.view.plane
        pod = plane.current("Pod", key, uid_of(self.pod))
        if node_of(pod) or is_deleting(pod):
            raise StatusError(409, f"pod {pod['metadata']['name']} is being deleted or assigned to a node")
        self.view.confirm(key)
        return plane.change("Pod", key, partial(bound, node=self.node, now=self.view.loop.now), "scheduler")
