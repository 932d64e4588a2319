"""The view of a kube-scheduler v1.37: its cluster and queue, which writes reach after the watch delay.

The typed cluster of the view holds what the scheduler believes; the cluster of the run decides. Both receive
the same writes in the same order, and hold the same assumed pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from msgspec.structs import replace

from scheduler_core.kubernetes.model import KubernetesObject, PodGroup
from scheduler_core.run.plane.manifests import StoredManifests
from scheduler_core.run.several.view import SchedulerView
from scheduler_core.run.v1_37.claims import ClaimWriter, has_claims
from scheduler_core.run.v1_37.manifests import document_of
from scheduler_core.run.v1_37.queues import queued_pod, retried_at, waiting_in
from scheduler_core.schedulers.coscheduling.editions import CURRENT
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.status import Status
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod
from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.claim_binder import (
    bind_devices,
    release_claims,
    special_status,
    unreservable,
)
from scheduler_core.schedulers.v1_37.clock import SECOND, WRITE
from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo
from scheduler_core.schedulers.v1_37.events import assigned, exists
from scheduler_core.schedulers.v1_37.interface import ClusterEvent, PodAttempt
from scheduler_core.schedulers.v1_37.podgroups import group_of
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.run import SchedulerRun
from scheduler_core.schedulers.v1_37.state import key_of as stored_key
from scheduler_core.schedulers.v1_37.state import uid_of

LAST = ("Pod",)  # what a starting scheduler receives after all else


Claims = tuple[tuple[str, str], ...]
"""Claims that a pod gets bound, as ``namespace/name``, each with its volume, "" for one to be provisioned."""


Devices = list[tuple[Manifest, Any]]
"""ResourceClaims that a pod gets allocated, each with its allocation."""


class Reserved(NamedTuple):
    """A pod that is assumed on a node, as its queue had it."""

    waiting: QueuedPodInfo
    node: str


class Permits(Protocol):
    """The pods that wait at Permit, where a plugin makes them wait."""

    def note(self, point: str, plugin: str, status: Status) -> None:
        """Note an answer of the plugin."""
        ...

    def drain(self) -> list[tuple[str, str, Status]]:
        """Return the answers since the last call, each with its extension point and plugin."""
        ...

    def queued(self, key: str) -> QueuedPod:
        """Return a pod as the plugin knows it."""
        ...

    def remember(self, tried: PodAttempt) -> None:
        """Take PreFilter's answer about the pod of an attempt into the plugin's memory."""
        ...

    def ask(self, waiting: QueuedPodInfo, tried: PodAttempt) -> bool:
        """Return whether an assumed pod may be bound; else it is held, or filed as rejected."""
        ...

    def unreserve(self, key: str) -> None:
        """Reject the group of a pod that will not be bound."""
        ...

    def settle(self, verdict: WaitingPod) -> None:
        """Bind a pod that was allowed, or file one that was rejected."""
        ...

    def lose(self, key: str, *, deleted: bool) -> None:
        """End the wait of a pod that was bound by another, or is deleted."""
        ...

    def heard_of_group(self, *, known: bool) -> None:
        """Tell the queue that a PodGroup was created or, if it is known, changed."""
        ...


def is_of_plugin(group: PodGroup) -> bool:
    """Return whether a PodGroup is of the API group that Coscheduling reads."""
    return group_of(document_of(group)) == CURRENT.api_group


class V1_37View(SchedulerView):
    """The view of a scheduler that runs v1.37.

    ``scheduler_run`` follows the shared clock in milliseconds. ``reserved`` has the pods that were placed
    and are not confirmed by the watch yet. ``claims`` is the controller of ResourceClaims.
    """

    post_filter_phases: tuple[str, ...] = ("postFilter", "preemption")
    expires = False  # durationToExpireAssumedPod is 0 since v1.24: such a pod is kept

    def __init__(
        self,
        objects: Sequence[KubernetesObject],
        *args: Any,
        scheduler_run: SchedulerRun,
        manifests: StoredManifests,
        claims: ClaimWriter,
        **kw: Any,
    ) -> None:
        self.scheduler_run = scheduler_run
        self.manifests = manifests
        self.reserved: dict[str, Reserved] = {}
        self._claims: dict[str, Claims] = {}  # of pods whose bindings are under way
        self._devices: dict[str, Devices] = {}  # likewise
        self.claims = claims
        self.permits: Permits | None = None
        self.moved: dict[str, str] = {}  # by pod: the event that moved it last
        super().__init__(objects, *args, **kw)

    def begin_scheduling(self) -> None:
        """Learn what the API server has; the plugins that are asked about it are there."""
        kinds = sorted(self.manifests.kinds(), key=lambda kind: kind in LAST)
        known = {kind: self.manifests.table(kind) for kind in kinds}
        left = sum(map(len, known.values()))
        for kind, table in known.items():
            for key, manifest in table.items():
                self.scheduler_run.queue.pass_to(self.now - left * WRITE)
                left -= 1
                self._learn(kind, key, manifest)
        self.catch_up()

    @property
    def now(self) -> int:
        """The time of the shared clock in whole milliseconds."""
        return int(self.clock.now * SECOND + 0.0005)

    def catch_up(self) -> None:
        """Let the queue's time pass to the shared clock's."""
        self.scheduler_run.queue.pass_to(self.now)

    def prepare(self) -> float | None:
        """Let the queue's time pass; return when it is to be flushed, in virtual seconds."""
        self.catch_up()
        due = self.scheduler_run.queue.next_due()
        return None if due is None else due / SECOND

    # Events of the watch

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Hear of a write after the watch delay, with the manifest that is stored by now."""
        self.send_later(kind, key, obj, self.manifests.of(kind, key))

    def send_later(
        self, kind: str, key: str, obj: KubernetesObject | None, manifest: Manifest | None
    ) -> None:
        """Hear of a write, also of a kind that has no typed object."""
        self.unheard += 1
        heard = partial(self._hear_manifest, kind, key, obj, manifest)
        self._after(self.of.watch_delay, heard, f"watch of {self.label}")

    def _hear_manifest(
        self, kind: str, key: str, obj: KubernetesObject | None, manifest: Manifest | None
    ) -> None:
        self.unheard -= 1
        self._enter(partial(self._receive_manifest, kind, key, obj, manifest))

    def _receive_manifest(
        self, kind: str, key: str, obj: KubernetesObject | None, manifest: Manifest | None
    ) -> None:
        known = key in self.groups
        if obj is not None or manifest is None:
            self._receive(kind, key, obj)
        self.catch_up()
        if self.permits is not None and isinstance(obj, PodGroup) and is_of_plugin(obj):
            self.permits.heard_of_group(known=known)
        self._learn(kind, key, manifest)

    def _learn(self, kind: str, key: str, manifest: Manifest | None) -> None:
        """Store a manifest in v1.37's cluster, None for a deleted object, and notify its queue."""
        run = self.scheduler_run
        stored = run.cluster.objects.get(kind, {}).get(key)
        if kind == "Node" and key in self.hidden:
            manifest = None
        self._end_assumption(kind, key)
        if stored is not None and (manifest is None or uid_of(stored) != uid_of(manifest)):
            self._lose(kind, key, stored)
            stored = None
        if manifest is None:
            return
        if stored is None:
            run.watch.see(run.cluster.create(manifest))
        elif kind == "Pod" and key in self.reserved:
            self._learn_reserved(key, manifest)
        elif manifest is not stored:
            self._update(key, manifest)

    def _end_assumption(self, kind: str, key: str) -> None:
        """Take a volume or claim as the API server has it: any news ends what was assumed (AssumeCache)."""
        cluster = self.scheduler_run.cluster
        if kind == "PersistentVolume":
            cluster.assumed_volumes.pop(key, None)
        elif kind == "PersistentVolumeClaim":
            cluster.assumed_claims.pop(key, None)
        elif kind == "ResourceClaim":
            cluster.assumed_devices.pop(key, None)

    def _update(self, key: str, manifest: Manifest) -> None:
        """Let a change in; a nomination that the status does not know yet is kept (UpdateNominatedPod)."""
        run = self.scheduler_run
        pod = run.cluster.pods.get(key) if manifest["kind"] == "Pod" else None
        nominated = "" if pod is None or pod.nominated_node else run.nominations.node_of(pod)
        run.watch.see(run.cluster.replace(manifest))
        pod = run.cluster.pods.get(key) if nominated else None
        if pod is not None and not pod.node and not pod.nominated_node and run.queue.find(key) is not None:
            run.nominations.nominate(pod, nominated)

    def _learn_reserved(self, key: str, manifest: Manifest) -> None:
        """Hear of a change of an assumed pod: its binding confirms it, the cache keeps it until then."""
        run, is_bound = self.scheduler_run, assigned(manifest)
        if not is_bound and exists(manifest):
            self._assume_again(key, manifest)
            return
        held = self.reserved.pop(key)
        if self.permits is not None:
            self.permits.lose(key, deleted=not is_bound)
        run.watch.see(run.cluster.replace(manifest))
        if not is_bound:
            self.freed(manifest, held.node)

    def _assume_again(self, key: str, manifest: Manifest) -> None:
        """Store a change of a pod that is assumed as it was."""
        cluster = self.scheduler_run.cluster
        assumed = cluster.pods[key]
        cluster.replace(manifest)
        cluster.assume(assumed, assumed.node)

    def _lose(self, kind: str, key: str, stored: Manifest) -> None:
        """Hear of a deletion; what an assumed pod holds is free at once (handleAssumedPodDeletion)."""
        run, meta = self.scheduler_run, stored["metadata"]
        held = self.reserved.pop(key, None) if kind == "Pod" else None
        if held is not None and self.permits is not None:
            self.permits.lose(key, deleted=True)
        run.watch.see(run.cluster.delete(kind, meta.get("namespace"), meta["name"]))
        if held is not None:
            self.freed(stored, held.node)

    def freed(self, manifest: Manifest, node: str, *, but: str = "") -> None:
        """Notify the queue that an assumed pod has left its node, all but a pod (EventAssignedPodDelete)."""
        on_node = {**manifest, "spec": {**(manifest.get("spec") or {}), "nodeName": node}}
        self.scheduler_run.queue.broadcast(ClusterEvent("AssignedPod", "Delete", on_node, None), but=but)

    # Permit, and what shows its plugin

    def _after_wait(self, waiting: WaitingPod) -> None:
        assert self.permits is not None
        self._enter(partial(self.permits.settle, waiting))

    def queued(self, key: str) -> QueuedPod | None:
        """Return a pod as it waits in v1.37's queue, ``None`` if it does not."""
        found = waiting_in(self.scheduler_run, key)
        return None if found is None else queued_pod(self.cluster.pods[key], *found, self.moved)

    def retry_at(self, pod: QueuedPod) -> float | None:
        """Return when its queue tries a pod again whatever happens, in virtual seconds."""
        return retried_at(pod)

    # What it decides

    def reserve(self, waiting: QueuedPodInfo, node: str, claims: Claims, devices: Devices) -> None:
        """Note that a pod was assumed in v1.37's cluster, assume it here too, and send its binding."""
        key = waiting.key
        if devices:
            self._devices[key] = devices
        if claims:
            self._claims[key] = claims
        self.reserved[key] = Reserved(waiting, node)
        self.assume([(key, node)])
        self._begin_binding(waiting, node, claims)

    def _begin_binding(self, waiting: QueuedPodInfo, node: str, claims: Claims) -> None:
        del claims  # they are written when the binding arrives
        self.send([[(waiting.key, node)]])

    def _write_binding(self, key: str, node: str) -> str:
        """Write the pod's volumes (BindPodVolumes), then its node."""
        for claim, volume in self._claims.get(key, ()):
            refused = self.server.bind_claim(claim, volume, node)
            if refused:
                return f'running PreBind plugin "VolumeBinding": binding volumes: {refused}'
        refused = self.write_devices(key) or self.server.bind(key, node)
        if not refused:
            self._claims.pop(key, None)
            self._devices.pop(key, None)
        return refused

    def write_devices(self, key: str) -> str:
        """Write allocations of the pod's ResourceClaims and reserve them; return why it is refused."""
        manifest, devices = self.manifests.of("Pod", key), self._devices.get(key, [])
        if manifest is None or not (devices or has_claims(manifest)):
            return ""
        pod = self.scheduler_run.cluster.compiled(manifest)
        refused = unreservable(self.manifests, pod)
        for change in bind_devices(self.manifests, pod, devices):
            self.claims.write(change)
        made = special_status(pod, devices)
        if made:
            status = {**(manifest.get("status") or {}), **made}
            self.claims.write(self.manifests.replace({**manifest, "status": status}))
        return refused

    def allocate(self, pod: CompiledPod, devices: Devices) -> None:
        """Write what a pod's ResourceClaims got, though it is not bound: they stay allocated."""
        if pod.resource_claims:
            for change in (
                *bind_devices(self.manifests, pod, devices),
                *release_claims(self.manifests, pod),
            ):
                self.claims.write(change)

    def write_manifest(self, change: ObjectWrite) -> None:
        """Send a claim that PostFilter has changed, or a PodGroup with its condition."""
        self.scheduler_run.watch.see(change)
        if change.new is None:
            if change.old is not None and self.manifests.of(change.kind, change.key) is not None:
                meta = change.old["metadata"]
                self.claims.write(self.manifests.delete(change.kind, meta.get("namespace"), meta["name"]))
            return
        if change.kind == "PodGroup":
            self.manifests.replace(change.new)
        else:
            self.claims.write(self.manifests.replace(change.new))

    def _resync(self, key: str, node: str) -> None:
        """Forget a pod whose binding failed, and file it as after an error (handleBindingCycleError)."""
        self.catch_up()
        run = self.scheduler_run
        for claim, volume in self._claims.pop(key, ()):  # RevertAssumedPodVolumes
            self._end_assumption("PersistentVolumeClaim", claim)
            self._end_assumption("PersistentVolume", volume)
        for allocated, _ in self._devices.pop(key, ()):
            meta = allocated["metadata"]
            name = stored_key("ResourceClaim", meta.get("namespace"), meta["name"])
            self._end_assumption("ResourceClaim", name)
        held = self.reserved.get(key)
        if held is None or held.node != node:
            return  # deleted or bound meanwhile, which the queue knows already
        if self.permits is not None:
            self.permits.unreserve(key)
        del self.reserved[key]
        if self.assumed.pop(key, "") == node:
            pod = self.pods[key] = replace(self.pods[key], node_name="")
            self.cluster.put(pod)
            self.changed[key] = None
        stored = run.cluster.objects["Pod"][key]
        fresh = run.cluster.compiled(stored)
        run.cluster.forget(fresh)
        self.freed(stored, node)
        waiting = held.waiting
        waiting.pod = fresh
        waiting.failed(run.clock.now, frozenset(), frozenset())
        self.note_failed(waiting)
        run.refile(waiting)
        self.nominate(key, "")

    def nominate(self, key: str, node: str) -> None:
        """Note a pod's nomination, and write it to its status after the bind delay."""
        run = self.scheduler_run
        pod = run.cluster.pods[key]
        run.nominations.nominate(pod, node)
        if pod.nominated_node != node:
            self.write_nomination(key, node)

    def write_nomination(self, key: str, node: str) -> None:
        """Write a pod's nomination to its status after the bind delay."""
        self._after(self.of.bind_delay, partial(self.server.nominate, key, node), f"status of {key}")

    def note_failed(self, waiting: QueuedPodInfo) -> None:
        """Note that a pod has failed before it is filed: nothing beside the time, which is its own then."""

    def report(self, key: str, tried: PodAttempt) -> None:
        """Write what a failed attempt came to; among several schedulers that is its nomination alone."""

    def preempt(self, preemptors: Sequence[str], victims: Sequence[str], unnominated: Sequence[str]) -> None:
        """Send the evictions for pods, which no cycle tries before the last one (prepareCandidateAsync)."""
        if victims or unnominated:
            sent = partial(self._preempt, tuple(preemptors), tuple(victims), tuple(unnominated))
            self._after(self.of.bind_delay, sent, f"evictions for {preemptors[0]}")

    def _preempt(self, preemptors: Sequence[str], victims: Sequence[str], unnominated: Sequence[str]) -> None:
        for key in unnominated:
            self.server.nominate(key, "")
        for number, key in enumerate(victims, 1):
            if number == len(victims):
                self.scheduler_run.rules.preempting -= set(preemptors)
            pod = self.server.pods.get(key)
            if self.waiting.get(key) is not None:
                self.record_event("Preempted", key, f"Preempted by {preemptors[0]}")
                self.waiting.reject(key, "DefaultPreemption", "preempted")
            elif pod is not None and not pod.terminal:
                self.ledger.evicted(self.label, pod)
                self.server.evict(key, preemptors[0])
