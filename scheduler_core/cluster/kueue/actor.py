"""Kueue in a living cluster: it holds Jobs and pods that name a queue, and lets them go as quota is free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import partial
from math import floor
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.cluster.kueue.configuration import read_configuration
from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.finalizers import freed, guarded, is_used
from scheduler_core.cluster.kueue.job_status import DECLARED_FINISHED, end_of, is_idle, reclaimable_pods
from scheduler_core.cluster.kueue.jobs import (
    DEFAULT_QUEUE,
    Priorities,
    UnknownPriorityClassError,
    queue_name,
    started,
    stopped,
    suspended,
    workload_name,
    workload_of,
)
from scheduler_core.cluster.kueue.manifest import workload_manifest, written
from scheduler_core.cluster.kueue.nomination import CycleRecord
from scheduler_core.cluster.kueue.objects import POD_GROUP_LABEL, QUEUE_LABEL
from scheduler_core.cluster.kueue.pods import gated, is_gated, is_managed, let_go, pod_workload
from scheduler_core.cluster.kueue.topology_ungater import is_unplaced, next_domain, placed_in
from scheduler_core.cluster.kueue.workload import (
    ADMITTED,
    EVICTED,
    FINISHED,
    Workload,
    read_workload,
    with_write,
)
from scheduler_core.cluster.kueue.writes import key_for, put
from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.loop import StatusError, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    is_deleting,
    is_finished,
    key_of,
    labels_of,
    namespace_of,
    reference_to,
    spec_of,
    status_of,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite

CLIENT = "kueue"
PAUSE = 0.001
"""Seconds before a cycle, in which what is written together comes together."""

BURST = 1 / 8
"""Seconds whose events count as one moment: what follows at once takes no time, though writes take some."""

MOST_CYCLES = 25
"""Cycles of a second that admit and preempt nothing: Kueue then rests, as kueue#3710 would go on forever."""

MOST_PREEMPTING = 200
"""Cycles with preemption, besides two for each Workload, while nobody but Kueue writes: it then rests, as
Workloads that preempt each other never end."""

MOST_KEPT = 1_000
"""Cycles that are kept until somebody has recorded them."""

KINDS = (
    "Namespace", "LimitRange", "RuntimeClass", "Topology", "ResourceFlavor", "AdmissionCheck", "Cohort",
    "ClusterQueue", "LocalQueue", "WorkloadPriorityClass", "Workload",
)  # fmt: skip
"""The kinds that are stored for Kueue, in the order in which it reads them at its start."""

WATCHED = ("PriorityClass", *KINDS, "Node", "Job", "Pod")


class WorkloadObject(Struct, frozen=True):
    """What a Workload is of: a Job or a pod, by kind and key."""

    kind: str
    key: str


class Kueue:
    """The actor. ``cycles`` are the last that decided anything, ``restless`` the Workloads tried forever,
    ``crashes`` what the original would not have survived, ``left_out`` what it would have done otherwise.

    ``documents`` are the manifests of its kinds; ``configuration`` is a part of Kueue's own Configuration.
    """

    def __init__(
        self,
        server: ApiServer,
        documents: Iterable[Mapping[str, Any]],
        configuration: Mapping[str, Any] | None = None,
    ) -> None:
        self.server, self.loop = server, server.loop
        self.control = Control(read_configuration(configuration), self.loop.wall_time, self._stop_time)
        self.client = Clientset(server, CLIENT)
        self.cycles: list[CycleRecord] = []
        self.count = 0  # of all cycles that decided anything
        self.restless: dict[str, None] = {}
        self.crashes: dict[str, None] = {}
        self.observers: list[Callable[[CycleRecord], None]] = []
        """Called with every cycle, before its Workloads are written."""
        self.stop_seconds = 0.0  # that the jobs of Workloads take to stop which nobody runs here
        self._sleeps_until = 0.0
        self.left_out: dict[str, None] = {}
        self.priorities = Priorities()
        self._held: dict[str, WorkloadObject] = {}  # by the Workload's key
        self._unplaced: dict[str, None] = {}  # pods that wait for a domain
        self._leaving: dict[tuple[str, str], None] = {}  # what is deleted, and there while it is used
        self._fruitless: object = None
        self._idle = (0.0, 0)  # a second, and its cycles that decided nothing
        self._preempting = 0  # cycles with preemption since somebody else wrote
        self._busy = False
        self._timer = self._next_cycle = 0.0
        self._place = self.loop.worker(self._poll, wakeful=False)
        server.mutate = self._admit
        server.watch(self._observe, WATCHED)
        for one in documents:
            server.load(dict(one))

    def __deepcopy__(self, memo: dict[int, Any]) -> Kueue:
        """Return a copy that shares what nothing changes."""
        made = memo[id(self)] = object.__new__(Kueue)
        vars(made).update(vars(self))
        for name in ("server", "loop", "client"):
            setattr(made, name, deepcopy(getattr(self, name), memo))
        made.control = self.control.copy(made._stop_time)
        made.left_out = dict(self.left_out)
        made.restless, made.crashes = dict(self.restless), dict(self.crashes)
        made.priorities, made._held = deepcopy(self.priorities), dict(self._held)
        made._unplaced, made._leaving = dict(self._unplaced), dict(self._leaving)
        return made

    def workload_of(self, named: str) -> str:
        """Return the key of the Workload of ``Job namespace/name`` or ``Pod namespace/name``, "" for none."""
        kind, _, key = named.partition(" ")
        return next((one for one, held in self._held.items() if held == WorkloadObject(kind, key)), "")

    def workload_of_pod(self, pod: str) -> str:
        """Return the key of the Workload of a pod that Kueue queues by itself, "" for any other."""
        return self.workload_of(f"Pod {pod}")

    # --- what Kueue's webhooks and controllers see

    def _admit(self, obj: Manifest) -> Manifest:
        """Hold what names a queue when it is created (the mutating webhooks)."""
        if obj["kind"] == "Job" and self._queue_of(obj) is not None:
            return suspended(obj)
        if obj["kind"] == "Pod" and QUEUE_LABEL in labels_of(obj) and not self._is_of_held_job(obj):
            return gated(obj)
        return guarded(obj)

    def _queue_of(self, job: Manifest) -> str | None:
        """Return the LocalQueue of a Job, ``None`` if Kueue leaves it alone."""
        namespace = namespace_of(job) or "default"
        locals_ = self.control.cache.local_queues
        found = queue_name(job, has_default=f"{namespace}/{DEFAULT_QUEUE}" in locals_)
        return "" if found is None and self.control.configuration.manages_unlabelled_jobs else found

    def _is_of_held_job(self, pod: Manifest) -> bool:
        owner = controller_of(pod)
        return owner is not None and owner["kind"] == "Job"

    def _observe(self, write: StoredWrite) -> None:
        self.control.moment = self._moment
        self._preempting = self._preempting if write.by == CLIENT else 0
        if write.kind == "Job":
            self._observe_job(write)
        elif write.kind == "Workload":
            self._observe_workload(write)
        elif write.kind in ("PriorityClass", "WorkloadPriorityClass"):
            if write.new is not None:
                self.priorities.put(write.new)
        elif write.kind in ("Node", "Pod"):
            self._observe_place(write)
        else:
            key = write.key if write.new is None else key_for(write.kind, write.new)
            put(self.control, write.kind, key, write.new)
            if write.new is not None and is_deleting(write.new):
                self._leaving[write.kind, write.key] = None
            if write.kind == "Topology":
                self._read_places()
        self.loop.wake(self._place)

    def _observe_place(self, write: StoredWrite) -> None:
        if self.control.cache.topologies:
            put(self.control, write.kind, write.key, write.new)
        if write.kind == "Pod":
            self._observe_pod(write)

    def _read_places(self) -> None:
        for kind in ("Node", "Pod"):
            for obj in self.server.of_kind(kind):
                put(self.control, kind, key_of(obj), obj)

    def _observe_workload(self, write: StoredWrite) -> None:
        if write.by == CLIENT:
            return
        if write.new is None:
            self.control.forget(write.key)
            return
        known = self.control.workloads.get(write.key)
        if known is None:
            self.control.write(read_workload(write.new, self.control.now))
        else:
            self.control.write(with_write(known, write.old or {}, write.new, self.control.now))

    def _observe_job(self, write: StoredWrite) -> None:
        job = write.new or write.old
        assert job is not None
        key = f"{namespace_of(job) or 'default'}/{workload_name(job)}"
        if write.new is None:
            self._held.pop(key, None)
            self.control.forget(key)
            return
        workload = self.control.workloads.get(key)
        if workload is None:
            self._take(job, key)
        elif not workload.has(FINISHED):
            self._held.setdefault(key, WorkloadObject("Job", write.key))
            self._follow_job(job, workload)

    def _take(self, job: Manifest, key: str) -> None:
        """Make the Workload of a Job that waits; say why there is none."""
        queue = self._queue_of(job)
        if queue is None or end_of(job) is not None:
            return
        if not spec_of(job).get("suspend"):
            self._note(f"Job {key_of(job)} runs without a Workload: its quota is not counted")
            return
        try:
            workload = workload_of(job, queue, self.priorities, self.control.now)
        except UnknownPriorityClassError as error:
            self._note(f"Job {key_of(job)} has no Workload: there is no WorkloadPriorityClass {error}")
        except ValueError as error:
            self._note(f"Job {key_of(job)} has no Workload: an annotation is not a number ({error})")
        else:
            self._held[key] = WorkloadObject("Job", key_of(job))
            self._tell(job, "CreatedWorkload", f"Created Workload: {key}")
            self.control.write(workload)

    def _tell(self, obj: Manifest, reason: str, message: str) -> None:
        """Record an event about a Job or a pod."""
        self.control.tell(f"{obj['kind']} {key_of(obj)}", "Normal", reason, message)

    def _note(self, text: str) -> None:
        self.left_out[text] = None

    def _follow_job(self, job: Manifest, workload: Workload) -> None:
        """Let a Workload finish or stop with its Job, and give back what that no longer needs."""
        end = end_of(job)
        if end is not None:
            for _ in range(DECLARED_FINISHED):
                self._tell(job, "FinishedWorkload", f"Workload '{workload.key}' is declared finished")
            self.control.write(workload.set(FINISHED, True, *end, self.control.now))
            return
        if workload.has(EVICTED):
            self.control.reconcile([workload.key])
        reclaimable = reclaimable_pods(job)
        if workload.has(ADMITTED) and reclaimable != dict(workload.reclaimable):
            self.control.write(replace(workload, reclaimable=reclaimable))

    def _observe_pod(self, write: StoredWrite) -> None:
        pod = write.new or write.old
        assert pod is not None
        if write.new is not None and is_unplaced(pod):
            self._unplaced[write.key] = None
        if not is_managed(pod):
            return
        made = pod_workload(pod, self.control.now)
        known = self.control.workloads.get(made.key)
        if write.new is None:
            self._held.pop(made.key, None)
            self.control.forget(made.key)
        elif known is None and is_gated(pod):
            self._held[made.key] = WorkloadObject("Pod", write.key)
            if POD_GROUP_LABEL in made.labels:
                group = f"{made.namespace}/{made.labels[POD_GROUP_LABEL]}"
                self._note(
                    f"the pods of group {group} are admitted one by one, where Kueue admits all or none"
                )
            self.control.write(made)
        elif known is not None and is_finished(pod) and not known.has(FINISHED):
            ended = status_of(pod).get("phase") == "Succeeded"
            row = ("Succeeded", "Pods succeeded") if ended else ("Failed", "Failing pod")
            self.control.write(known.set(FINISHED, True, *row, self.control.now))

    def _stop_time(self, workload: Workload) -> float | None:
        """Return when the job of an evicted Workload has stopped: once none of its pods runs."""
        held = self._held.get(workload.key)
        if held is None:
            return workload.conditions[EVICTED].at + self.stop_seconds
        obj = self.server.get(held.kind, held.key)
        if obj is None or (held.kind == "Job" and is_idle(obj)):
            return self.control.now
        return None

    # --- what Kueue does

    def _poll(self) -> bool:
        if self._busy:
            return False
        self._busy = True
        self.loop.spawn(self._run())
        return True

    def _run(self) -> Work:
        """Carry out reactions until nothing is left to do, and have the next cycle come."""
        control, is_done = self.control, False
        while not is_done:
            control.moment = self._moment
            control.settle()
            yield from self._write_out()
            yield from self._place_pods()
            yield from self._let_leave()
            is_done = control.is_settled and not self._unplaced
        self._busy = False
        self._set_timers()

    @property
    def _moment(self) -> float:
        return self.loop.epoch + floor(self.loop.now / BURST) * BURST

    def sleep(self, until: float) -> None:
        """Run no cycle before a time."""
        self._sleeps_until = until

    @property
    def _has_cycle(self) -> bool:
        return self.control.has_heads() and self.control.digest != self._fruitless

    def _cycle(self) -> None:
        """Run a cycle if there is anything to decide, and keep it if it changed anything."""
        control = self.control
        control.moment = self._moment
        if self._has_cycle:
            before, record = control.digest, control.cycle()
            self.crashes |= dict.fromkeys(record.crashes)
            for observe in self.observers:
                observe(record)
            control.events.clear()
            if control.digest == before:
                self._fruitless = before
            else:
                self.cycles = [*self.cycles[-MOST_KEPT:], record]
                self.count += 1
                self._rest_if_idle(record)
        self.loop.wake(self._place)

    def _rest_if_idle(self, record: CycleRecord) -> None:
        """Note the Workloads that are tried again and again, and try nothing until something changes."""
        second, count = self._idle
        count = 0 if record.is_fruitful or second != self.control.now else count
        self._idle = self.control.now, count + (not record.is_fruitful)
        self._preempting += any(one.is_preempting for one in record.entries)
        most = MOST_PREEMPTING + 2 * len(self.control.workloads)
        if self._idle[1] < MOST_CYCLES and self._preempting < most:
            return
        heads = (queue.head() for queue in self.control.queues.values())
        self.restless |= {head.key: None for head in heads if head is not None}
        self._fruitless = self.control.digest

    def _place_pods(self) -> Work:
        """Let the pods of placed Workloads go, each to its domain (the topology ungater)."""
        keys, self._unplaced = list(self._unplaced), {}
        for key in keys:
            pod = self.server.get("Pod", key)
            owner = controller_of(pod) if pod is not None and is_unplaced(pod) else None
            job = self.server.get("Job", f"{namespace_of(pod)}/{owner['name']}") if pod and owner else None
            if pod is None or job is None:
                continue
            workload = self.control.workloads.get(f"{namespace_of(job)}/{workload_name(job)}")
            selector = next_domain(workload, self.server.controlled(job, "Pod")) if workload else None
            if selector is not None:
                yield self.client.patch(pod, partial(placed_in, selector))

    def _let_leave(self) -> Work:
        """Take the finalizer from what is deleted and used no more."""
        for kind, key in [one for one in self._leaving if not is_used(self.control.cache, *one)]:
            del self._leaving[kind, key]
            obj = self.server.get(kind, key)
            if obj is not None:
                yield self.client.patch(obj, freed)

    def _write_out(self) -> Work:
        """Write the Workloads that have changed, and start or stop what they are of."""
        keys, self.control.written = list(self.control.written), {}
        for key in keys:
            workload = self.control.workloads.get(key)
            try:
                yield from self._write(key, workload)
            except StatusError:
                continue  # deleted meanwhile: its own write says so

    def _write(self, key: str, workload: Workload | None) -> Work:
        stored = self.server.get("Workload", key)
        if workload is None:
            if stored is not None:
                yield self.client.delete(stored)
            return
        held = self._held.get(key)
        obj = self.server.get(held.kind, held.key) if held is not None else None
        if stored is None:
            yield self.client.create(workload_manifest(workload, None if obj is None else reference_to(obj)))
        else:
            yield self.client.patch(stored, partial(written, workload))
        if obj is not None:
            yield from self._drive(obj, workload)

    def _drive(self, obj: Manifest, workload: Workload) -> Work:
        """Start or stop the Job or pod of a Workload."""
        flavors, admission = self.control.cache.flavors, workload.admission
        runs = workload.has(ADMITTED) and not workload.has(EVICTED) and admission is not None
        waits = bool(spec_of(obj).get("suspend")) if obj["kind"] == "Job" else is_gated(obj)
        if workload.has(FINISHED) or runs != waits:
            return
        if runs and admission is not None:
            self._tell(obj, "Started", f"Admitted by clusterQueue {admission.cluster_queue}")
            start = started if obj["kind"] == "Job" else let_go
            yield self.client.patch(obj, lambda one: start(one, admission.pod_sets[0], flavors))
        elif obj["kind"] == "Job":
            self._tell(obj, "Stopped", workload.conditions[EVICTED].message)
            yield self.client.patch(obj, lambda one: stopped(one, workload.pod_sets[0]))
        elif not is_deleting(obj):
            yield self.client.delete(obj)

    def _set_timers(self) -> None:
        """Have the loop wake Kueue when something is due, and run the next cycle."""
        due = self.control.next_time()
        if due is not None:
            at = max(due - self.loop.epoch, self.loop.now)
            if self._timer <= self.loop.now or at < self._timer:
                self._timer = at
                self.loop.at(at, self._tick)
        if self._next_cycle <= self.loop.now and self._has_cycle:
            self._next_cycle = round(max(self.loop.now + PAUSE, self._sleeps_until), 6)
            self.loop.at(self._next_cycle, self._cycle)

    def _tick(self) -> None:
        self.control.tick(self._moment)
        self._timer = 0.0
        self.loop.wake(self._place)
