"""A session: the state that actions change, and the plugins' functions by tier (framework.Session)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct, field

from scheduler_core.kubernetes.arrays import BoolVector
from scheduler_core.schedulers.kube_batch.configuration import Tier
from scheduler_core.schedulers.kube_batch.heap import Heap
from scheduler_core.schedulers.kube_batch.model import (
    ALLOCATED,
    ALLOCATED_STATUSES,
    BINDING,
    PENDING,
    PIPELINED,
    RELEASING,
    JobInfo,
    QueueInfo,
    TaskInfo,
)
from scheduler_core.schedulers.kube_batch.neighbors import Neighbors
from scheduler_core.schedulers.kube_batch.nodes import Nodes
from scheduler_core.schedulers.kube_batch.plugin import Registration, Victims
from scheduler_core.schedulers.kube_batch.record import (
    Dispatch,
    Eviction,
    HeapPop,
    JobDropped,
    NodesConsidered,
    Placement,
    PlacementFailed,
    QueueDropped,
    TierAnswer,
    VictimsChosen,
)
from scheduler_core.schedulers.kube_batch.recorder import Recorder
from scheduler_core.schedulers.kube_batch.snapshot import Snapshot
from scheduler_core.schedulers.kube_batch.task_class import FloatVector

F = TypeVar("F")
MOST_HEAP = 200  # items of a heap that are recorded
TierVictims = list[list[tuple[str, Victims]]]


class SessionResult(Struct):
    """What a session sent: binds by pod, and evicted pods, both as ``namespace/name``, in order."""

    bound: dict[str, str] = field(default_factory=dict)
    evicted: list[str] = field(default_factory=list)


class Session:
    """One pass over a snapshot.

    Actions read ``jobs``, ``queues`` and ``nodes`` and call :meth:`allocate`, :meth:`pipeline` and
    :meth:`evict`; orders, checks and victims are the plugins' answers, by tier and in the order listed.
    ``outcome`` is what was sent.
    """

    def __init__(self, snapshot: Snapshot, tiers: Sequence[Tier], recorder: Recorder | None = None) -> None:
        self.jobs: dict[str, JobInfo] = snapshot.jobs
        self.queues: dict[str, QueueInfo] = snapshot.queues
        self.nodes: Nodes = snapshot.nodes
        self.left_out = snapshot.left_out
        self.recorder = recorder
        self.outcome = SessionResult()
        self.tiers = tiers
        self.unschedulable: set[str] = set()  # jobs whose condition was written in this session
        self.registered: dict[str, Registration] = {}
        self.lost = {  # allocated tasks whose node is not in the session
            task.key
            for job in self.jobs.values()
            for status in ALLOCATED_STATUSES
            for task in job.by_status.get(status, {}).values()
            if task.node_name not in self.nodes.rows
        }
        self.neighbors = Neighbors(self)

    def register(self, registrations: dict[str, Registration]) -> None:
        """Take over what the plugins register; the switches of each listing decide what counts."""
        self.registered = registrations
        self._job_order = self._listed("enableJobOrder", lambda one: one.job_order)
        self._queue_order = self._listed("enableQueueOrder", lambda one: one.queue_order)
        self._task_order = self._listed("enableTaskOrder", lambda one: one.task_order)
        self._predicates = self._listed("enablePredicate", lambda one: one.predicate)
        self._node_orders = self._listed("enableNodeOrder", lambda one: one.node_order)
        self._ready = self._listed("enableJobReady", lambda one: one.job_ready)
        self._pipelined = self._listed("enableJobPipelined", lambda one: one.job_pipelined)
        self._overused = self._listed("", lambda one: one.overused)
        self._valid = self._listed("", lambda one: one.job_valid)
        self._preemptable = self._by_tier("enablePreemptable", lambda one: one.preemptable)
        self._reclaimable = self._by_tier("enableReclaimable", lambda one: one.reclaimable)
        self._on_allocate = [r.allocated for r in registrations.values() if r.allocated is not None]
        self._on_deallocate = [r.deallocated for r in registrations.values() if r.deallocated is not None]

    def _listed(self, switch: str, part: Callable[[Registration], F | None]) -> list[F]:
        return [function for tier in self._by_tier(switch, part) for _, function in tier]

    def _by_tier(self, switch: str, part: Callable[[Registration], F | None]) -> list[list[tuple[str, F]]]:
        """Return the functions that are enabled, by tier, in the order of the configuration.

        A plugin that is listed twice counts twice. What has no switch is always enabled.
        """
        found = []
        for tier in self.tiers:
            functions = []
            for option in tier.plugins:
                registration = self.registered.get(option.name)
                function = None if registration is None else part(registration)
                if function is not None and (not switch or option.enabled(switch)):
                    functions.append((option.name, function))
            found.append(functions)
        return found

    # Orders

    def job_less(self, left: JobInfo, right: JobInfo) -> bool:
        """Return whether a job comes first (Session.JobOrderFn)."""
        for order in self._job_order:
            if found := order(left, right):
                return bool(found < 0)
        return (left.created, left.id) < (right.created, right.id)

    def queue_less(self, left: QueueInfo, right: QueueInfo) -> bool:
        """Return whether a queue comes first (Session.QueueOrderFn)."""
        for order in self._queue_order:
            if found := order(left, right):
                return bool(found < 0)
        return (left.created, left.name) < (right.created, right.name)

    def task_less(self, left: TaskInfo, right: TaskInfo) -> bool:
        """Return whether a task comes first (Session.TaskOrderFn)."""
        for order in self._task_order:
            if found := order(left, right):
                return bool(found < 0)
        return (left.created, left.uid) < (right.created, right.uid)

    def pop(self, what: str, owner: str, heap: Heap[Any], name: Callable[[Any], str]) -> Any:
        """Pop a heap; the beginning of its array is recorded as it was before."""
        if (recorder := self.recorder) is None:
            return heap.pop()
        size, before = len(heap), tuple(name(item) for item in heap.items[:MOST_HEAP])
        found = heap.pop()
        recorder.note(HeapPop(recorder.action, what, owner, size, before, name(found)))
        return found

    def pop_queue(self, heap: Heap[QueueInfo]) -> QueueInfo:
        """Pop a heap of queues."""
        found: QueueInfo = self.pop("queue", "", heap, attrgetter("name"))
        return found

    def pop_job(self, heap: Heap[JobInfo], queue: str) -> JobInfo:
        """Pop a queue's heap of jobs."""
        found: JobInfo = self.pop("job", queue, heap, attrgetter("id"))
        return found

    def pop_task(self, heap: Heap[TaskInfo], job: str) -> TaskInfo:
        """Pop a job's heap of tasks."""
        found: TaskInfo = self.pop("task", job, heap, attrgetter("key"))
        return found

    # Checks

    def job_ready(self, job: JobInfo) -> bool:
        """Return whether every plugin finds a job ready; without any, it is (Session.JobReady)."""
        return all(check(job) for check in self._ready)

    def job_invalid(self, job: JobInfo) -> str:
        """Return why a plugin would reject a job, "" if none would (Session.JobValid).

        The original asks before any plugin has registered: jobs are never rejected.
        """
        return next((why for check in self._valid if (why := check(job))), "")

    def job_pipelined(self, job: JobInfo) -> bool:
        """Return whether every plugin finds a job pipelined (Session.JobPipelined)."""
        return all(check(job) for check in self._pipelined)

    def overused(self, queue: QueueInfo) -> bool:
        """Return whether any plugin finds a queue overused (Session.Overused)."""
        return any(check(queue) for check in self._overused)

    def passing(self, task: TaskInfo) -> BoolVector:
        """Return the nodes on which all predicates pass, ``(N,) bool`` (Session.PredicateFn)."""
        found: BoolVector | None = None
        for predicate in self._predicates:
            passes = predicate.passes(task)
            found = passes if found is None else found & passes
        return np.ones(len(self.nodes), np.bool_) if found is None else found

    def scores(self, task: TaskInfo, candidates: BoolVector) -> FloatVector:
        """Return each candidate's sum of weighted scores, ``(N,) float64``; 0 without a node order."""
        found: FloatVector | None = None
        for order in self._node_orders:
            score = order.score(task, candidates)
            found = score if found is None else found + score
        return np.zeros(len(self.nodes)) if found is None else found

    def observe_nodes(self, task: TaskInfo, passing: BoolVector, candidates: BoolVector, chosen: int) -> None:
        """Record which nodes were considered for a task, and their scores; nothing without a recorder.

        Of many nodes only the first are described, of candidates those of the highest score.
        """
        if (recorder := self.recorder) is None:
            return
        names, most = self.nodes.names, recorder.most_nodes()
        refused, short = np.flatnonzero(~passing), np.flatnonzero(passing & ~candidates)
        totals = self.scores(task, candidates)
        rows = np.flatnonzero(candidates)
        rows = rows[np.argsort(-totals[rows], kind="stable")]
        counts = (len(refused), len(short), len(rows))
        best, shown = rows[:most].tolist(), refused[:most].tolist()
        reasons = dict.fromkeys(shown, "")
        for predicate in self._predicates:
            found = predicate.reasons(task, shown)
            reasons = {row: reasons[row] or reason for row, reason in zip(shown, found, strict=True)}
        parts: dict[str, FloatVector] = {}
        for order in self._node_orders:
            parts |= order.parts(task, candidates)
        recorder.note(
            NodesConsidered(
                recorder.action,
                task.job,
                task.key,
                counts,
                {names[row]: reason for row, reason in reasons.items()},
                tuple(names[row] for row in short[:most]),
                tuple((names[row], float(totals[row])) for row in best),
                {name: tuple(float(part[row]) for row in best) for name, part in parts.items()},
                "" if chosen < 0 else names[chosen],
            )
        )

    # Victims

    def preemptable(self, task: TaskInfo, candidates: Sequence[TaskInfo]) -> list[TaskInfo]:
        """Return which candidates of a node may be preempted for a task (Session.Preemptable)."""
        return self._victims("preemptable", self._preemptable, task, candidates)

    def reclaimable(self, task: TaskInfo, candidates: Sequence[TaskInfo]) -> list[TaskInfo]:
        """Return which candidates of a node may be reclaimed for a task (Session.Reclaimable)."""
        return self._victims("reclaimable", self._reclaimable, task, candidates)

    def _victims(
        self,
        what: str,
        tiers: TierVictims,
        task: TaskInfo,
        candidates: Sequence[TaskInfo],
    ) -> list[TaskInfo]:
        """Intersect the plugins' answers; the first tier after which any victim is left decides.

        An empty answer is kept for the next tier, which so cannot add anything.
        """
        victims: list[TaskInfo] | None = None
        answers: list[TierAnswer] = []
        decided = 0
        for number, tier in enumerate(tiers, 1):
            for name, function in tier:
                answer = function(task, candidates)
                if self.recorder is not None:
                    answers.append(TierAnswer(number, name, tuple(one.key for one in answer)))
                if victims is None:
                    victims = answer
                else:
                    uids = {one.uid for one in answer}
                    victims = [one for one in victims if one.uid in uids]
            if victims:
                decided = number
                break
        if (recorder := self.recorder) is not None:
            keys = tuple(one.key for one in candidates)
            chosen = tuple(one.key for one in victims or ())
            recorder.note(
                VictimsChosen(
                    recorder.action, what, task.job, task.key, keys, tuple(answers), decided, chosen
                )
            )
        return victims or []

    # What is recorded, if anything is

    def drop_queue(self, queue: str, why: str) -> None:
        """Record a queue's entry that is not served."""
        if self.recorder is not None:
            self.recorder.note(QueueDropped(self.recorder.action, queue, why))

    def drop_job(self, task: TaskInfo, why: str) -> None:
        """Record that the job of a task is served no more by this action."""
        if self.recorder is not None:
            self.recorder.note(JobDropped(self.recorder.action, task.job, task.key, why))

    def _placed(self, task: TaskInfo, row: int) -> None:
        if self.recorder is not None:
            node = self.nodes.names[row]
            self.recorder.note(Placement(self.recorder.action, task.job, task.key, node, task.status))

    def _failed(self, task: TaskInfo, why: str) -> None:
        if self.recorder is not None:
            self.recorder.note(PlacementFailed(self.recorder.action, task.job, task.key, why))

    # Changes

    def allocate(self, task: TaskInfo, row: int) -> bool:
        """Place a task on idle resources; dispatch its job if that is ready now (Session.Allocate).

        Return False if the node refuses the task: it then stays Allocated without occupying a node, and no
        plugin is notified, as in the original.
        """
        job = self.jobs[task.job]
        job.move(task, ALLOCATED)
        if refused := self.nodes.add(task, row):
            if task.node_name not in self.nodes.rows:
                self.lost.add(task.key)
            self.neighbors.update(task)
            self._failed(task, refused)
            return False
        self.lost.discard(task.key)
        self._placed(task, row)
        self._notify(self._on_allocate, task)
        if self.job_ready(job):
            self._dispatch(job)
        return True

    def _dispatch(self, job: JobInfo) -> None:
        """Send every Allocated task of a job; the first that cannot be sent ends this."""
        for task in job.of(ALLOCATED):
            if not self._sendable(task):
                self._failed(task, f"cannot be bound to <{task.node_name}>")
                return
            self.outcome.bound[task.key] = task.node_name
            job.move(task, BINDING)
            if (recorder := self.recorder) is not None:
                recorder.note(Dispatch(recorder.action, job.id, task.key, task.node_name))

    def _sendable(self, task: TaskInfo) -> bool:
        """Return whether the cache accepts a task on its node.

        One that the session's node refused is not there; the cache, which does not know what this session
        only holds, tries again.
        """
        row = self.nodes.rows.get(task.node_name, -1)
        if row < 0:
            return False
        if task.key in self.nodes.tasks[row]:
            return True
        idle = self.nodes.idle_of(row)
        for other in self.nodes.tasks[row].values():
            if other.status == ALLOCATED:
                idle.add(other.request)
        return task.request.fits(idle)

    def pipeline(self, task: TaskInfo, row: int, *, in_statement: bool = False) -> None:
        """Place a task on resources that are being released (Session.Pipeline, Statement.Pipeline).

        If the node refuses the task it stays Pipelined nevertheless; only a statement then notifies the
        plugins.
        """
        self.jobs[task.job].move(task, PIPELINED)
        if refused := self.nodes.add(task, row):
            self._failed(task, refused)
            if not in_statement:
                return
        else:
            self._placed(task, row)
        self._notify(self._on_allocate, task)

    def evict(self, task: TaskInfo, why: str) -> None:
        """Evict a task and send that (Session.Evict)."""
        self.release(task, why)
        self.send_eviction(task)

    def release(self, task: TaskInfo, why: str) -> None:
        """Make a task release its resources in this session, without sending anything."""
        self._restate(task, RELEASING)
        if (recorder := self.recorder) is not None:
            recorder.note(Eviction(recorder.action, task.job, task.key, task.node_name, why))
        self._notify(self._on_deallocate, task)

    def send_eviction(self, task: TaskInfo) -> None:
        """Send the deletion of a task's pod (SchedulerCache.Evict)."""
        self.outcome.evicted.append(task.key)

    def unrelease(self, task: TaskInfo, status: str) -> None:
        """Undo :meth:`release`: the task has its previous status again (Statement.unevict)."""
        self._restate(task, status)
        self._notify(self._on_allocate, task)

    def unpipeline(self, task: TaskInfo) -> None:
        """Undo :meth:`pipeline` (Statement.unpipeline)."""
        self.jobs[task.job].move(task, PENDING)
        row = self.nodes.rows.get(task.node_name, -1)
        if row >= 0 and task.key in self.nodes.tasks[row]:
            self.nodes.remove(task)
        self._notify(self._on_deallocate, task)

    def _notify(self, handlers: Sequence[Callable[[TaskInfo], None]], task: TaskInfo) -> None:
        self.neighbors.update(task)
        for handler in handlers:
            handler(task)

    def _restate(self, task: TaskInfo, status: str) -> None:
        self.jobs[task.job].move(task, status)
        row = task.node
        self.nodes.remove(task)
        if refused := self.nodes.add(task, row):
            raise RuntimeError(refused)  # what was there a moment ago fits
