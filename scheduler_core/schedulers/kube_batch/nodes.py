"""The nodes of a session as columns, and the tasks on each (api.NodeInfo)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.kubernetes.model import Node
from scheduler_core.schedulers.columns.columns import NodeColumns
from scheduler_core.schedulers.kube_batch.model import PIPELINED, RELEASING, TaskInfo
from scheduler_core.schedulers.kube_batch.resources import InsufficientError, Resource
from scheduler_core.schedulers.kube_batch.task_class import FloatVector, TaskClass, least_free, vector

FloatMatrix = npt.NDArray[np.float64]


class Nodes:
    """N nodes in order of name, so that the first of several equals has the lowest name.

    ``resources`` are the names of the R resources that any node or task has; ``allocatable``, ``idle`` and
    ``releasing`` are ``(R, N) float64`` in millicores, bytes and thousandths. ``counts``, ``(N,) int64``, is
    the number of tasks on each node and ``most_tasks`` the allocatable pods, 0 where a node has none.
    ``nonzero``, ``(2, N) int64``, is what scores count of cpu and memory. ``changed`` lists the row of every
    change, in order.
    """

    def __init__(
        self, nodes: Sequence[Node], kinds: Sequence[TaskClass], columns: NodeColumns | None
    ) -> None:
        self.columns = columns or NodeColumns(nodes)
        self.names = self.columns.names
        self.rows = self.columns.index
        self.total = [Resource.of(node.allocatable) for node in nodes]
        amounts = (*self.total, *(kind.init_request for kind in kinds))
        named = (name for one in amounts for name in one.names)
        self.resources = tuple(dict.fromkeys(("cpu", "memory", *named)))
        size = len(nodes)
        self.allocatable: FloatMatrix = np.zeros((len(self.resources), size))
        for row, resource in enumerate(self.total):
            self.allocatable[:2, row] = resource.cpu, resource.memory
            for name, amount in (resource.scalars or {}).items():
                self.allocatable[self.resources.index(name), row] = amount
        self.idle = self.allocatable.copy()
        self.releasing: FloatMatrix = np.zeros_like(self.allocatable)
        self.counts: IntVector = np.zeros(size, np.int64)
        self.most_tasks: IntVector = self.columns.allocatable[3]
        self.nonzero: IntVector = np.zeros((2, size), np.int64)
        self.tasks: list[dict[str, TaskInfo]] = [{} for _ in range(size)]
        self.changed: list[int] = []
        self._vectors: dict[int, tuple[FloatVector, FloatVector, FloatVector]] = {}

    def __len__(self) -> int:
        return len(self.names)

    def vectors(self, kind: TaskClass) -> tuple[FloatVector, FloatVector, FloatVector]:
        """Return of a class the request, and what has to be exceeded by free amounts to fit it and to fit
        with init containers; each is ``(R,) float64``.
        """
        found = self._vectors.get(kind.number)
        if found is None:
            request = vector(kind.request, self.resources)
            plain = least_free(kind.request, self.resources)
            found = request, plain, least_free(kind.init_request, self.resources)
            self._vectors[kind.number] = found
        return found

    def fit_idle(self, task: TaskInfo) -> BoolVector:
        """Return where a task fits what is idle, ``(N,) bool``."""
        return _exceed(self.idle, self.vectors(task.kind)[2])

    def fit_releasing(self, task: TaskInfo) -> BoolVector:
        """Return where a task fits what is being released, ``(N,) bool``."""
        return _exceed(self.releasing, self.vectors(task.kind)[2])

    def fits_idle(self, task: TaskInfo, row: int) -> bool:
        """Return whether a task fits what is idle on one node."""
        return bool((self.idle[:, row] > self.vectors(task.kind)[2]).all())

    def idle_of(self, row: int) -> Resource:
        """Return what is idle on one node."""
        cpu, memory, *scalars = self.idle[:, row].tolist()
        return Resource(cpu, memory, dict(zip(self.resources[2:], scalars)) or None)

    def add(self, task: TaskInfo, row: int) -> str:
        """Add a task with its present status; return why that is not possible, "" if it was done
        (NodeInfo.AddTask).

        Raises:
            InsufficientError: A pipelined task does not fit what is being released.
        """
        name = self.names[row]
        if task.node_name and task.node_name != name:
            return f"task <{task.key}> already on different node <{task.node_name}>"
        if task.key in self.tasks[row]:
            return f"task <{task.key}> already on node <{name}>"
        request, least, _ = self.vectors(task.kind)
        if task.status == PIPELINED:
            self._release(row, -request, least)
        else:
            if not (self.idle[:, row] > least).all():
                return "Selected node NotReady"
            self.idle[:, row] -= request
            if task.status == RELEASING:
                self.releasing[:, row] += request
        self._count(task, row, 1)
        task.node_name, task.node, task.status_on_node = name, row, task.status
        self.tasks[row][task.key] = task
        return ""

    def remove(self, task: TaskInfo) -> None:
        """Remove a task from its node, by the status that the node accounted for (NodeInfo.RemoveTask).

        The task keeps the name of its node.
        """
        row, (request, least, _) = task.node, self.vectors(task.kind)
        if task.status_on_node == PIPELINED:
            self.releasing[:, row] += request
        else:
            if task.status_on_node == RELEASING:
                self._release(row, -request, least)
            self.idle[:, row] += request
        self._count(task, row, -1)
        del self.tasks[row][task.key]

    def _release(self, row: int, change: FloatVector, least: FloatVector) -> None:
        if not (self.releasing[:, row] > least).all():
            raise InsufficientError(f"node {self.names[row]} does not release enough for this")
        self.releasing[:, row] += change

    def _count(self, task: TaskInfo, row: int, sign: int) -> None:
        cpu, memory = task.kind.nonzero
        self.counts[row] += sign
        self.nonzero[0, row] += sign * cpu
        self.nonzero[1, row] += sign * memory
        self.changed.append(row)


def _exceed(free: FloatMatrix, least: FloatVector) -> BoolVector:
    """Return where the free amounts exceed ``least`` in every resource, ``(N,) bool``."""
    found: BoolVector = free[0] > least[0]
    for place in range(1, len(free)):
        if least[place] != -np.inf:
            found &= free[place] > least[place]
    return found
