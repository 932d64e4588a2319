"""From API objects to the snapshot of a session (SchedulerCache and SchedulerCache.Snapshot)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from scheduler_core.kubernetes import model as api
from scheduler_core.kubernetes.integers import parse_int
from scheduler_core.kubernetes.times import seconds_of
from scheduler_core.schedulers.columns.columns import NodeColumns
from scheduler_core.schedulers.kube_batch.model import (
    BOUND,
    DEFAULT_TASK_PRIORITY,
    FAILED,
    PENDING,
    RELEASING,
    RUNNING,
    SUCCEEDED,
    TERMINATED_STATUSES,
    UNKNOWN,
    JobInfo,
    QueueInfo,
    TaskInfo,
)
from scheduler_core.schedulers.kube_batch.nodes import Nodes
from scheduler_core.schedulers.kube_batch.task_class import TaskClasses

GROUP_NAME = "scheduling.k8s.io/group-name"
GROUP_MIN_MEMBER = "scheduling.k8s.io/group-min-member"  # of pods without a group
NEVER_CREATED = float("-inf")  # an object without a creationTimestamp has Go's zero time


class ServerOption(Struct, frozen=True):
    """The process's flags that decide about pods: --scheduler-name and --default-queue."""

    scheduler_name: str = "kube-batch"
    default_queue: str = "default"


@dataclass(slots=True)
class WatchedObjects:
    """The objects that the scheduler watches, each kind in order of creation."""

    nodes: list[api.Node] = field(default_factory=list)
    pods: list[api.Pod] = field(default_factory=list)
    groups: list[api.PodGroup] = field(default_factory=list)
    queues: list[api.Queue] = field(default_factory=list)
    classes: list[api.PriorityClass] = field(default_factory=list)
    budgets: list[api.PodDisruptionBudget] = field(default_factory=list)

    @classmethod
    def of(cls, objects: Iterable[api.KubernetesObject]) -> WatchedObjects:
        """Sort objects by kind; other kinds are not watched."""
        found = cls()
        table: Mapping[type, list[api.KubernetesObject]] = {
            api.Node: found.nodes,  # type: ignore[dict-item]
            api.Pod: found.pods,  # type: ignore[dict-item]
            api.PodGroup: found.groups,  # type: ignore[dict-item]
            api.Queue: found.queues,  # type: ignore[dict-item]
            api.PriorityClass: found.classes,  # type: ignore[dict-item]
            api.PodDisruptionBudget: found.budgets,  # type: ignore[dict-item]
        }
        for obj in objects:
            if type(obj) in table:
                table[type(obj)].append(obj)
        return found


class IgnoredObject(Struct, frozen=True):
    """A job that sessions ignore, or a pod that occupies nothing on its node, and why."""

    kind: str
    name: str
    why: str


@dataclass(slots=True)
class Snapshot:
    """What one session works on.

    ``left_out`` are the jobs that it does not contain, and the pods that it has on no node.
    """

    jobs: dict[str, JobInfo]
    queues: dict[str, QueueInfo]
    nodes: Nodes
    options: ServerOption
    left_out: list[IgnoredObject]


@dataclass(slots=True)
class SnapshotCache:
    """What is reused from one snapshot to the next while the objects stay the same."""

    classes: TaskClasses = field(default_factory=TaskClasses)
    nodes: tuple[api.Node, ...] = ()
    columns: NodeColumns | None = None

    def columns_of(self, nodes: tuple[api.Node, ...]) -> NodeColumns:
        """Return the columns of these nodes; the previous ones if the nodes are the same objects."""
        same = len(nodes) == len(self.nodes) and all(a is b for a, b in zip(nodes, self.nodes))
        if self.columns is None or not same:
            self.nodes, self.columns = nodes, NodeColumns(nodes)
        return self.columns


def task_status(pod: api.Pod) -> str:
    """Return a pod's task status (api.getTaskStatus)."""
    if pod.phase in ("Running", "Pending", ""):
        if pod.meta.deletion_timestamp is not None:
            return RELEASING
        if pod.phase == "Running":
            return RUNNING
        return BOUND if pod.node_name else PENDING
    return {"Succeeded": SUCCEEDED, "Failed": FAILED}.get(pod.phase, UNKNOWN)


def is_watched(pod: api.Pod, options: ServerOption) -> bool:
    """Return whether a pod enters the cache: a pending one only if it names this scheduler."""
    return pod.scheduler_name == options.scheduler_name or pod.phase not in ("Pending", "")


def take_snapshot(
    objects: WatchedObjects, options: ServerOption, kept: SnapshotCache | None = None
) -> Snapshot:
    """Build jobs from groups, budgets and pods, and put the tasks on their nodes."""
    kept = SnapshotCache() if kept is None else kept
    left_out: list[IgnoredObject] = []
    jobs = _declared_jobs(objects, options)
    tasks = []
    for pod in objects.pods:
        if is_watched(pod, options):
            task = _task(pod, kept.classes)
            _join(task, jobs, options)
            tasks.append(task)
    nodes = _nodes(objects, tasks, kept, left_out)
    queues = {queue.meta.name: _queue(queue) for queue in objects.queues}
    included = _included(jobs, queues, left_out)
    _set_priorities(included.values(), objects.classes)
    return Snapshot(included, queues, nodes, options, left_out)


def _declared_jobs(objects: WatchedObjects, options: ServerOption) -> dict[str, JobInfo]:
    jobs: dict[str, JobInfo] = {}
    for group in objects.groups:
        meta = group.meta
        jobs[meta.key] = JobInfo(
            meta.key,
            meta.name,
            meta.namespace,
            group.queue or options.default_queue,
            group.min_member,
            created_at(meta),
            group,
            conditions=group.status.conditions,
        )
    for budget in objects.budgets:
        controller, meta = budget.meta.controller, budget.meta
        if controller is None:
            continue
        least = budget.min_available if isinstance(budget.min_available, int) else 0
        jobs[controller.uid] = JobInfo(
            controller.uid, meta.name, meta.namespace, options.default_queue, least, created_at(meta)
        )
    return jobs


def _task(pod: api.Pod, classes: TaskClasses) -> TaskInfo:
    kind = classes.of(pod)
    return TaskInfo(
        uid=pod.meta.uid or pod.meta.key,
        key=pod.meta.key,
        pod=pod,
        job=group_of(pod),
        request=kind.request,
        init_request=kind.init_request,
        kind=kind,
        status=task_status(pod),
        priority=pod.priority if pod.priority_given else DEFAULT_TASK_PRIORITY,
        created=created_at(pod.meta),
    )


def group_of(pod: api.Pod) -> str:
    """Return the id of the job that a pod names by its annotation, "" if it names none (getJobID)."""
    group = pod.meta.annotations.get(GROUP_NAME)
    return f"{pod.meta.namespace}/{group}" if group else ""


def shadow_job_of(pod: api.Pod) -> str:
    """Return the id of the job of a pod without a group: its controller's uid, or its own."""
    controller = pod.meta.controller
    owner = "" if controller is None else controller.uid
    return owner or pod.meta.uid or pod.meta.key


def _join(task: TaskInfo, jobs: dict[str, JobInfo], options: ServerOption) -> None:
    """Add a task to its job (SchedulerCache.getOrCreateJob).

    A pod of this scheduler without a group gets a shadow group; one of another only occupies its node.
    """
    pod = task.pod
    if not task.job:
        if pod.scheduler_name != options.scheduler_name:
            return
        task.job = shadow_job_of(pod)
        if task.job not in jobs:
            jobs[task.job] = _shadow(task, options)
    elif task.job not in jobs:
        jobs[task.job] = JobInfo(task.job, "", "", "", 0, NEVER_CREATED)
    jobs[task.job].add(task)


def _shadow(task: TaskInfo, options: ServerOption) -> JobInfo:
    """Return the job of a pod without a group (createShadowPodGroup)."""
    pod = task.pod
    given = parse_int(pod.meta.annotations.get(GROUP_MIN_MEMBER, ""))
    least = 1 if given is None else given
    group = api.PodGroup(
        api.ObjectMeta(task.job, pod.meta.namespace),
        least,
        queue=options.default_queue,
        priority_class_name=pod.priority_class_name,
    )
    namespace, queue = pod.meta.namespace, options.default_queue
    return JobInfo(task.job, task.job, namespace, queue, least, task.created, group, shadow=True)


def created_at(meta: api.ObjectMeta) -> float:
    """Return an object's creation time in whole seconds since 1970."""
    seconds = seconds_of(meta.creation_timestamp)
    return NEVER_CREATED if seconds is None else seconds


def _queue(queue: api.Queue) -> QueueInfo:
    return QueueInfo(queue.meta.name, queue.weight, created_at(queue.meta))


def _nodes(
    objects: WatchedObjects, tasks: list[TaskInfo], kept: SnapshotCache, left_out: list[IgnoredObject]
) -> Nodes:
    """Put the tasks on their nodes (SchedulerCache.addTask).

    A node takes them in order as long as they fit. It stays ready: the original compares what is used with
    allocatable before any task is there. A task that it refuses belongs to its job and occupies nothing.
    """
    placed: dict[str, list[TaskInfo]] = {}
    for task in tasks:
        if task.pod.node_name:
            task.node_name = task.pod.node_name
            if task.status not in TERMINATED_STATUSES:
                placed.setdefault(task.node_name, []).append(task)
    ready = sorted(objects.nodes, key=lambda node: node.meta.name)
    kinds = list({task.kind.number: task.kind for task in tasks}.values())
    nodes = Nodes(ready, kinds, kept.columns_of(tuple(ready)))
    for name, of in placed.items():
        row = nodes.rows.get(name)
        if row is not None:
            refused = [task.key for task in of if nodes.add(task, row)]
            left_out += [IgnoredObject("Pod", key, "its node has no room for it") for key in refused]
    return nodes


def _included(
    jobs: dict[str, JobInfo], queues: dict[str, QueueInfo], left_out: list[IgnoredObject]
) -> dict[str, JobInfo]:
    """Return the jobs that sessions schedule: those with a group or budget and an existing queue."""
    found = {}
    for name, job in jobs.items():
        if not job.queue:
            left_out.append(IgnoredObject("Job", name, "its PodGroup does not exist"))
        elif job.queue not in queues:
            left_out.append(IgnoredObject("Job", name, f"its Queue {job.queue} does not exist"))
        else:
            found[name] = job
    return found


def _set_priorities(jobs: Iterable[JobInfo], classes: list[api.PriorityClass]) -> None:
    """Set the jobs' priorities: of their PriorityClass, or of the global default; a budget's job has 0."""
    by_name = {found.meta.name: found.value for found in classes}
    default = next((found.value for found in reversed(classes) if found.global_default), 0)
    for job in jobs:
        if job.group is not None:
            job.priority = by_name.get(job.group.priority_class_name, default)
