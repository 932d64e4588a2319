"""What a session works on: tasks, jobs and queues (api.TaskInfo, api.JobInfo, api.QueueInfo)."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from scheduler_core.kubernetes.model import Pod, PodGroup, PodGroupCondition
from scheduler_core.schedulers.kube_batch.resources import Resource
from scheduler_core.schedulers.kube_batch.task_class import TaskClass

PENDING = "Pending"
ALLOCATED = "Allocated"  # placed in this session, not sent
PIPELINED = "Pipelined"  # placed on resources that are still being released
BINDING = "Binding"  # the bind request was sent
BOUND = "Bound"
RUNNING = "Running"
RELEASING = "Releasing"
SUCCEEDED = "Succeeded"
FAILED = "Failed"
UNKNOWN = "Unknown"

ALLOCATED_STATUSES = frozenset({BOUND, BINDING, RUNNING, ALLOCATED})
"""The statuses that count as allocated (api.AllocatedStatus)."""

TERMINATED_STATUSES = frozenset({SUCCEEDED, FAILED})
NO_NODE = -1
DEFAULT_TASK_PRIORITY = 1  # of a pod without spec.priority


@dataclass(slots=True, eq=False)
class TaskInfo:
    """One pod. ``request`` is for accounting, ``init_request``, which covers init containers, for fitting.

    ``job`` is the id of its job, "" if it only occupies its node. ``node`` is a row of the session's nodes,
    :data:`NO_NODE` for none or one that is not among them; ``node_name`` keeps the name after a pipelined
    task was rolled back, as the original does. ``created`` is in seconds since 1970.
    """

    uid: str
    key: str
    pod: Pod
    job: str
    request: Resource
    init_request: Resource
    kind: TaskClass
    status: str
    priority: int
    created: float
    node_name: str = ""
    node: int = NO_NODE
    status_on_node: str = ""  # the status that its node accounted for

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return self.pod.meta.namespace


@dataclass(slots=True, eq=False)
class QueueInfo:
    """A Queue; its name is its id. ``created`` is in seconds since 1970."""

    name: str
    weight: int
    created: float


@dataclass(slots=True, eq=False)
class JobInfo:
    """A PodGroup, or a PodDisruptionBudget with a controller, and the tasks that belong to it.

    ``group`` is ``None`` for a budget's job; ``shadow`` is whether the group exists only in the scheduler.
    ``short_of`` are the resources missing on the nodes to which the last task had to be pipelined, by node
    (JobInfo.NodesFitDelta).
    """

    id: str
    name: str
    namespace: str
    queue: str
    min_available: int
    created: float
    group: PodGroup | None = None
    shadow: bool = False
    priority: int = 0
    tasks: dict[str, TaskInfo] = field(default_factory=dict)
    by_status: dict[str, dict[str, TaskInfo]] = field(default_factory=dict)
    allocated: Resource = field(default_factory=Resource)
    short_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    conditions: tuple[PodGroupCondition, ...] = ()

    def add(self, task: TaskInfo) -> None:
        """Add a task (JobInfo.AddTaskInfo)."""
        self.tasks[task.uid] = task
        self.by_status.setdefault(task.status, {})[task.uid] = task
        if task.status in ALLOCATED_STATUSES:
            self.allocated.add(task.request)

    def move(self, task: TaskInfo, status: str) -> None:
        """Change a task's status (JobInfo.UpdateTaskStatus); it becomes the last of that status."""
        previous = self.by_status[task.status]
        del previous[task.uid]
        if not previous:
            del self.by_status[task.status]
        if task.status in ALLOCATED_STATUSES:
            self.allocated.sub(task.request)
        task.status = status
        self.add(task)

    def of(self, status: str) -> list[TaskInfo]:
        """Return the tasks of one status."""
        return list(self.by_status.get(status, {}).values())

    def requested(self, statuses: Container[str]) -> Resource:
        """Return what the tasks with one of these statuses request together."""
        found = Resource()
        for status, tasks in self.by_status.items():
            if status in statuses:
                for task in tasks.values():
                    found.add(task.request)
        return found

    def count(self, statuses: Container[str]) -> int:
        """Return the number of tasks with one of these statuses."""
        number = 0
        for status, tasks in self.by_status.items():
            if status in statuses:
                number += len(tasks)
        return number

    @property
    def ready_tasks(self) -> int:
        """The number of tasks that are allocated or have succeeded (JobInfo.ReadyTaskNum)."""
        return self.count(READY_STATUSES)

    @property
    def ready(self) -> bool:
        """Whether enough tasks are ready (JobInfo.Ready)."""
        return self.ready_tasks >= self.min_available

    @property
    def pipelined(self) -> bool:
        """Whether enough tasks are ready or pipelined (JobInfo.Pipelined)."""
        return self.count(PIPELINED_STATUSES) >= self.min_available

    @property
    def valid_tasks(self) -> int:
        """The number of tasks that can still count (JobInfo.ValidTaskNum)."""
        return self.count(VALID_STATUSES)


READY_STATUSES = ALLOCATED_STATUSES | {SUCCEEDED}
PIPELINED_STATUSES = READY_STATUSES | {PIPELINED}
VALID_STATUSES = PIPELINED_STATUSES | {PENDING}
