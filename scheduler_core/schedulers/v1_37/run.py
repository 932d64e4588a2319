"""The run loop: steps from outside, the virtual clock, and cycles until the queue is empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.schedulers.extenders.port import Port
from scheduler_core.schedulers.v1_37.attempt import Scheduler
from scheduler_core.schedulers.v1_37.batches import InCycle
from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.clock import CYCLE, SECOND, WRITE, MillisecondClock
from scheduler_core.schedulers.v1_37.entities import Entity, QueuedGroup, QueuedPodInfo
from scheduler_core.schedulers.v1_37.extender_calls import ExtenderClient
from scheduler_core.schedulers.v1_37.failure import disrupted, write_failure, write_status
from scheduler_core.schedulers.v1_37.groups.conditions import (
    condition_text,
    group_conditions,
    write_condition,
)
from scheduler_core.schedulers.v1_37.groups.cycle import run_cycle
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.moves import Moves
from scheduler_core.schedulers.v1_37.nominations import NominatedPods
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.queue import SchedulingQueue, queue_entry
from scheduler_core.schedulers.v1_37.queue_gates import PluginRules
from scheduler_core.schedulers.v1_37.state import ClusterState, key_of
from scheduler_core.schedulers.v1_37.status import ERROR, SUCCESS
from scheduler_core.schedulers.v1_37.watch import EventHandlers

MAX_CYCLES = 60
"""Cycles after one step."""

MAX_TRIES = 3
"""A cycle of an entity that has been tried so often in one step is the step's last."""


class Ran(Struct):
    """One cycle: what was tried, and its effects on the cluster and the queue."""

    entity: str
    """The pod's or the group's key."""
    pod: str
    """The pod's key, or that of the group's first member."""
    attempts: list[PodAttempt]
    bound: dict[str, str]
    deleted: list[str]
    moves: list[dict[str, Any]]
    group: dict[str, Any] | None = None
    """The record's form of a group's cycle."""

    def document(self) -> dict[str, Any]:
        """Return the record's form of the cycle, without its step and entity."""
        out: dict[str, Any] = {"attempts": [attempt.document() for attempt in self.attempts]}
        if self.group is not None:
            out["group"] = self.group
        return {**out, "bound": self.bound, "deleted": self.deleted, "moves": self.moves}


class SchedulerRun:
    """A cluster, its scheduler and its queue, driven step by step."""

    def __init__(
        self,
        configuration: CompiledConfiguration,
        port: Port | None = None,
        cycle: Callable[[], int] | None = None,
    ) -> None:
        """``port`` answers for extenders, if there is any; ``cycle`` returns the cycle's number, from 1."""
        self.configuration = configuration
        self.cluster = ClusterState(configuration)
        self.nominations = NominatedPods()
        extension = None
        if configuration.extenders and port is not None and cycle is not None:
            extension = ExtenderClient(self.cluster, configuration.extenders, port, cycle)
        self.scheduling = Scheduler(self.cluster, configuration, self.nominations, extension)
        self.batching = configuration.dialect.batching(self.scheduling, configuration.profiles)
        self.clock = MillisecondClock()
        self.moves = Moves()
        self.rules = PluginRules(self.cluster, configuration, self.scheduling.pre_enqueue)
        self.queue = SchedulingQueue(self.clock, self.rules, self.moves, configuration.backoff)
        self.watch = EventHandlers(self.cluster, configuration, self.queue, self.nominations)
        self.cycles: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.bound: dict[str, str] = {}
        self.deleted: list[str] = []

    # Steps.

    def start(self, objects: Iterable[Manifest]) -> None:
        """Create the initial objects and schedule: step 0."""
        for manifest in objects:
            self.write(self.cluster.create(manifest))
        self._end_of_step(hold=False)

    def write(self, change: ObjectWrite) -> None:
        """Notify the queue of a write from outside, which takes its time."""
        self.watch.see(change)
        self.queue.pass_to(self.clock.now + WRITE)

    def write_replicas(self, replicas: Iterable[tuple[Manifest, str]]) -> None:
        """Create pods as :meth:`write` does, like stored ones that arrive alone but for names and uids.

        ``replicas`` are manifests, each with the key of the pod that it is like.
        """
        self.queue.enter_replicas(self.cluster.create_replicas(replicas), apart=WRITE)

    def take(self, step: Mapping[str, Any]) -> None:
        """Do one step and, unless it has ``hold``, schedule.

        A patch or deletion of an object that is gone changes nothing: the API server refuses it.

        Raises:
            ValueError: The step is none.
        """
        kind, namespace, name = str(step.get("kind")), step.get("namespace"), str(step.get("name"))
        match step.get("do"):
            case "create":
                self.write(self.cluster.create(step["object"]))
            case "patch" if self.cluster.get(kind, namespace, name) is not None:
                self.write(self.cluster.patch(kind, namespace, name, step["patch"]))
            case "delete" if self.cluster.get(kind, namespace, name) is not None:
                self.write(self.cluster.delete(kind, namespace, name))
            case "patch" | "delete":
                self._pass(WRITE)
            case "advance":
                self._pass(round(float(step["seconds"]) * SECOND))
            case other:
                raise ValueError(f"do: {other!r} is no step")
        self._end_of_step(hold=bool(step.get("hold")))

    def _pass(self, milliseconds: int) -> None:
        self.queue.pass_to(self.clock.now + milliseconds)

    def _end_of_step(self, *, hold: bool) -> None:
        number = len(self.steps)
        moves = self.moves.drain()
        if not hold:
            self._schedule(number)
        self.steps.append({"moves": moves, "queue": self.queue_document()})

    def queue_document(self) -> dict[str, Any]:
        """Return the record's form of every waiting pod."""
        nominated = self.nominations.nodes()
        out = self.queue.document(nominated)
        for members in self.watch.incomplete.values():
            for waiting in members:
                entry = queue_entry(waiting, "incompleteGroupMember", nominated.get(waiting.key))
                out[waiting.key] = entry
        return dict(sorted(out.items()))

    # Cycles.

    def _schedule(self, step: int) -> None:
        tried: Counter[str] = Counter()
        for _ in range(MAX_CYCLES):
            entity = self.queue.pop()
            if entity is None:
                return
            ran = self.cycle(entity)
            if ran is not None:
                self.cycles.append({"step": step, "entity": ran.entity, **ran.document()})
            tried[entity.key] += 1
            if tried[entity.key] >= MAX_TRIES:
                return

    def cycle(self, entity: Entity, *, trace: bool = True, given: str | None = None) -> Ran | None:
        """Schedule what the queue handed out; None if it is being deleted.

        Without ``trace`` attempts may lack what only a record shows. ``given`` is then the node that a
        recorded decision chose.
        """
        if isinstance(entity, QueuedGroup):
            return self._group_cycle(entity)
        if entity.pod.terminating:
            self.queue.done()
            return None
        hint = self.batching.hint(entity.pod, self.queue.popped, self.clock.now)
        if trace:
            attempt = self.scheduling.schedule(entity.pod, hint=hint)
        else:
            attempt = self.scheduling.schedule_untraced(entity.pod, hint=hint, given=given)
        bound: dict[str, str] = {}
        if attempt.node is not None and attempt.error is None:
            self.batching.store(attempt, self.queue.popped, self.clock.now)
            self.scheduling.reserve(attempt)
            if self._bind(attempt):
                bound[entity.key] = attempt.node
            else:
                self._refuse([entity], [attempt])
        else:
            self._fail(entity, attempt)
        deleted = self._preempt(attempt)
        self._pass(CYCLE)
        return Ran(entity.key, entity.key, [attempt], bound, deleted, self.moves.drain())

    def _group_cycle(self, group: QueuedGroup) -> Ran | None:
        """Schedule a group: file it again, write the outcome of its members, bind those that were placed."""
        first = group.members[0].key
        hints = InCycle(self.batching, self.queue.popped, self.clock.now)
        placed = {member.key: member for member in group.members}
        cycle = run_cycle(self.scheduling, self.nominations, self.configuration, group, hints)
        if cycle is None:
            self.queue.done()
            return None
        for change in cycle.changes:
            self.watch.see(change)
        writes = []
        for waiting, attempt in cycle.failed:
            waiting.failed(self.clock.now, attempt.unschedulable_plugins, attempt.pending_plugins)
            writes.append(write_failure(self.cluster, attempt, error=cycle.status.error))
        writes.append(write_condition(self.cluster, group.key, cycle.status))
        for attempt in cycle.placed:
            self.scheduling.reserve(attempt)
        victims = [pod for pod in cycle.victims if not pod.terminating]
        members = {waiting.key for waiting, _ in cycle.failed}
        self.rules.preempting |= members if victims else set()
        self.watch.pending[group.key] = [waiting for waiting, _ in cycle.failed]
        for written in writes:
            if written is not None:
                self.watch.see(written)
        self.file(group, self.watch.pending.pop(group.key), cycle.evaluation)
        refused = [attempt for attempt in cycle.placed if not self._bind(attempt)]
        bound = {one.pod.key: str(one.node) for one in cycle.placed if one.error is None}
        if refused:
            self._refuse([placed[attempt.pod.key] for attempt in refused], refused, group)
        deleted = self._delete(victims, members)
        self._pass(CYCLE)
        conditions = group_conditions(self.cluster.objects["PodGroup"][group.key])
        document = cycle.record.document(conditions)
        return Ran(group.key, first, cycle.record.attempts, bound, deleted, self.moves.drain(), document)

    def file(self, group: QueuedGroup, members: Sequence[QueuedPodInfo], evaluation: str) -> None:
        """File the failed members: as active at the old time if others were placed, else to back off.

        ``evaluation`` is the code of the group's evaluation.
        """
        self.queue.done()
        group.members = []
        for waiting in members:
            group.add(waiting)
        if not group.members:
            return
        if evaluation == SUCCESS:
            group.succeeded()
            self.queue.activate(group)
        else:
            group.failed(self.clock.now, error=evaluation == ERROR)
            self.queue.requeue_group(group)

    def _bind(self, attempt: PodAttempt) -> bool:
        """Write what the reserved pod needs and its node; the events follow the writes.

        Return whether the pod is bound: an extender may refuse.
        """
        assert attempt.node is not None
        attempt.result = "scheduled"
        attempt.unschedulable_plugins = attempt.pending_plugins = frozenset()
        self.queue.done()
        for change in self.scheduling.bind(attempt):
            self.watch.see(change)
        if attempt.error is not None:
            return False
        self.bound[attempt.pod.key] = attempt.node
        return True

    def _refuse(
        self, pods: Sequence[QueuedPodInfo], attempts: Sequence[PodAttempt], group: QueuedGroup | None = None
    ) -> None:
        """File pods that an extender refused to bind, and write what became of them.

        A pod backs off as after any error. Members are taken to do so with their group.
        """
        for waiting, attempt in zip(pods, attempts, strict=True):
            self.scheduling.fail(attempt)
            waiting.failed(self.clock.now, frozenset(), frozenset())
            if group is None:
                attempt.queue = self.queue.requeue(waiting)
        if group is not None:
            self.file_refused(group, pods)
        for attempt in attempts:
            written = write_failure(self.cluster, attempt, error=True)
            if written is not None:
                self.watch.see(written)

    def refile(self, waiting: QueuedPodInfo) -> None:
        """Let a pod back off whose binding failed, a member of a group with that group."""
        key = self.watch.group_of(waiting.pod.manifest)
        if key is None:
            self.queue.requeue(waiting)
            return
        entity, _ = self.queue.remove(key)
        group = self.watch.gathered(key, waiting, entity)
        if group is not None:
            group.failed(self.clock.now, error=True)
            self.queue.requeue_group(group)

    def file_refused(self, group: QueuedGroup, pods: Iterable[QueuedPodInfo]) -> None:
        """Let a group back off with those of its members that an extender refused to bind."""
        self.queue.remove(group.key)
        for waiting in pods:
            group.add(waiting)
        group.failed(self.clock.now, error=True)
        self.queue.requeue_group(group)

    def _fail(self, waiting: QueuedPodInfo, attempt: PodAttempt) -> None:
        """Run PostFilter, file the pod and write what became of it (handleSchedulingFailure)."""
        if attempt.error is None:
            self.scheduling.post_filter(attempt)
        self.scheduling.fail(attempt)
        for change in attempt.changes:
            self.watch.see(change)
        if attempt.victims:
            self.rules.preempting.add(waiting.key)
        waiting.failed(self.clock.now, attempt.unschedulable_plugins, attempt.pending_plugins)
        attempt.queue = self.queue.requeue(waiting)
        written = write_failure(self.cluster, attempt, error=attempt.result == "error")
        if written is not None:
            self.watch.see(written)

    def _preempt(self, attempt: PodAttempt) -> list[str]:
        """Take nominations away and delete the victims."""
        for pod in attempt.lost_nominations:
            self._lose_nomination(pod)
        return self._delete(attempt.victims, {attempt.pod.key})

    def _delete(self, victims: Sequence[CompiledPod], preemptors: set[str]) -> list[str]:
        """Delete victims in order; the last one lets the preemptors go on."""
        deleted = []
        for number, victim in enumerate(victims, 1):
            if number == len(victims):
                self.rules.preempting -= preemptors
            if victim.key in self.cluster.objects["Pod"]:
                self.watch.see(disrupted(self.cluster.objects["Pod"][victim.key]))
                self.watch.see(self.cluster.delete("Pod", victim.namespace, victim.name))
                deleted.append(victim.key)
        self.deleted += deleted
        return deleted

    def _lose_nomination(self, pod: CompiledPod) -> None:
        stored = self.cluster.objects["Pod"].get(pod.key)
        written = None if stored is None else write_status(self.cluster, stored, None, "")
        if written is not None:
            self.watch.see(written)

    # The end.

    def final(self) -> dict[str, Any]:
        """Return the record's ``final``."""
        waiting = sorted(pod.key for pod in self.cluster.pods.values() if not pod.node)
        bound = {key: node for key, node in self.bound.items() if key in self.cluster.pods}
        out: dict[str, Any] = {"bound": bound, "waiting": waiting, "deleted": self.deleted}
        claims = final_claims(self.cluster)
        if claims:
            out["claims"] = claims
        groups = {
            key: text
            for key, group in self.cluster.objects.get("PodGroup", {}).items()
            for text in (condition_text(group),)
            if text
        }
        if groups:
            out["podGroups"] = groups
        return out


def final_claims(cluster: ClusterState) -> dict[str, str]:
    """Return each claim's volume, or its devices as ``request=driver/pool/device``, joined by spaces."""
    out = {}
    for claim in cluster.list("PersistentVolumeClaim"):
        out[_key(claim)] = (claim.get("spec") or {}).get("volumeName") or ""
    for claim in cluster.list("ResourceClaim"):
        allocation = (claim.get("status") or {}).get("allocation") or {}
        results = (allocation.get("devices") or {}).get("results") or ()
        out[_key(claim)] = " ".join(
            f"{r['request']}={r['driver']}/{r['pool']}/{r['device']}" for r in results
        )
    return out


def _key(manifest: Manifest) -> str:
    meta = manifest["metadata"]
    return key_of(manifest["kind"], meta.get("namespace"), meta["name"])
