"""What a plugin is: its name, and what it registers with a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from scheduler_core.kubernetes.arrays import BoolVector
from scheduler_core.schedulers.kube_batch.model import JobInfo, QueueInfo, TaskInfo
from scheduler_core.schedulers.kube_batch.record import JobShares, QueueShares
from scheduler_core.schedulers.kube_batch.task_class import FloatVector

Compare = Callable[[JobInfo, JobInfo], int]
CompareQueues = Callable[[QueueInfo, QueueInfo], int]
CompareTasks = Callable[[TaskInfo, TaskInfo], int]
CheckJob = Callable[[JobInfo], bool]
CheckQueue = Callable[[QueueInfo], bool]
Victims = Callable[[TaskInfo, Sequence[TaskInfo]], list[TaskInfo]]


class TaskPredicate(Protocol):
    """A check of one task against every node of the session."""

    def passes(self, task: TaskInfo) -> BoolVector:
        """Return where a task may run, ``(N,) bool``; resources are not its matter."""
        ...

    def reasons(self, task: TaskInfo, rows: Sequence[int]) -> list[str]:
        """Return the first failure on each of some nodes, in the original's words; "" where there is none."""
        ...


class NodeScorer(Protocol):
    """A score of one task for every node of the session."""

    def score(self, task: TaskInfo, candidates: BoolVector) -> FloatVector:
        """Return the weighted score, ``(N,) float64``; only those of candidates, ``(N,) bool``, count."""
        ...

    def parts(self, task: TaskInfo, candidates: BoolVector) -> Mapping[str, FloatVector]:
        """Return the weighted score of each priority, ``(N,) float64``, for the record."""
        ...


class Registration(Struct, frozen=True, kw_only=True):
    """What a plugin registers when a session opens; ``None`` where it takes no part.

    Orders return a negative number if the first is to come first, 0 if they are equal. ``preemptable`` and
    ``reclaimable`` return which of the candidates may be evicted for a task. ``allocated`` and
    ``deallocated`` are called after a task was placed, and after it was evicted or rolled back. ``closing``
    is called when the session closes. ``job_shares`` and ``queue_shares`` are its present accounts.
    """

    job_order: Compare | None = None
    queue_order: CompareQueues | None = None
    task_order: CompareTasks | None = None
    predicate: TaskPredicate | None = None
    node_order: NodeScorer | None = None
    preemptable: Victims | None = None
    reclaimable: Victims | None = None
    overused: CheckQueue | None = None
    job_ready: CheckJob | None = None
    job_pipelined: CheckJob | None = None
    job_valid: Callable[[JobInfo], str] | None = None
    allocated: Callable[[TaskInfo], None] | None = None
    deallocated: Callable[[TaskInfo], None] | None = None
    closing: Callable[[], None] | None = None
    job_shares: Callable[[], tuple[JobShares, ...]] | None = None
    queue_shares: Callable[[], tuple[QueueShares, ...]] | None = None


SWITCHES = (
    "enableJobOrder",
    "enableJobReady",
    "enableJobPipelined",
    "enableTaskOrder",
    "enablePreemptable",
    "enableReclaimable",
    "enableQueueOrder",
    "enablePredicate",
    "enableNodeOrder",
)
"""The switches of a listed plugin; overused and job valid have none."""
