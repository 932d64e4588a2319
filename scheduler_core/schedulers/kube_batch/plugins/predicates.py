"""``predicates``: where a task may run, resources aside (Kubernetes 1.16's predicates)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from scheduler_core.kubernetes.arrays import BoolVector
from scheduler_core.kubernetes.model import Node, NodeCondition
from scheduler_core.kubernetes.selectors import tolerates
from scheduler_core.schedulers.columns.nodeaffinity import required_mask
from scheduler_core.schedulers.columns.storage import ports_conflict
from scheduler_core.schedulers.kube_batch.configuration import argument, parse_bool
from scheduler_core.schedulers.kube_batch.model import TaskInfo
from scheduler_core.schedulers.kube_batch.nodes import Nodes
from scheduler_core.schedulers.kube_batch.plugin import Registration
from scheduler_core.schedulers.kube_batch.session import Session

PRESSURES = ("Memory", "Disk", "PID")
UNAVAILABLE = "node <{node}> are not available to schedule task <{task}>"
EFFECTS = ("NoSchedule", "NoExecute")
CONDITIONS = (("Ready", "True"), ("NetworkUnavailable", "False"))  # each with the status that passes
_REASONS = {
    "Ready": "node(s) were not ready",
    "NetworkUnavailable": "node(s) had unavailable network",
}
_Status = tuple[tuple[NodeCondition, ...], bool]


class Check(Struct, frozen=True):
    """One check: where it fails, ``(N,) bool`` or ``None`` for nowhere, and the reason for a node."""

    fails: Callable[[TaskInfo], BoolVector | None]
    words: Callable[[TaskInfo, int], str]


class Predicates:
    """The checks in order. Those that read only the node and the task's class are evaluated once."""

    def __init__(self, session: Session, pressures: tuple[str, ...]) -> None:
        self.nodes: Nodes = session.nodes
        self.neighbors = session.neighbors
        self._static: dict[int, BoolVector] = {}
        of = self._reason
        self.full = Check(self._full, of("node <{node}> can not allow more task running on it"))
        self.static = (
            Check(self._condition, self._condition_words),
            Check(self._unselected, of("node <{node}> didn't match task <{task}> node selector")),
            Check(self._untolerated, of("task <{task}> does not tolerate node <{node}> taints")),
            *(Check(self._pressed(name), of(f"{UNAVAILABLE} due to {name} Pressure")) for name in pressures),
        )
        taken = "node <{node}> didn't have available host ports for task <{task}>"
        self.ports = Check(self._ports_taken, of(taken))
        # the original gives the arguments in this order
        refused = "task <{node}/{namespace}> affinity/anti-affinity failed on node <{name}>"
        self.affinity = Check(self._refused, of(refused))
        condition, selector, *rest = self.static
        self.order = (self.full, condition, selector, self.ports, *rest, self.affinity)

    def _reason(self, template: str) -> Callable[[TaskInfo, int], str]:
        def words(task: TaskInfo, row: int) -> str:
            namespace, _, name = task.key.partition("/")
            node = self.nodes.names[row]
            return template.format(node=node, task=task.key, namespace=namespace, name=name)

        return words

    def passes(self, task: TaskInfo) -> BoolVector:
        """Return where every check passes, ``(N,) bool``."""
        static = self._static.get(task.kind.number)
        if static is None:
            static = np.ones(len(self.nodes), np.bool_)
            for check in self.static:
                if (fails := check.fails(task)) is not None:
                    static &= ~fails
            self._static[task.kind.number] = static
        found = static & (self.nodes.counts < self.nodes.most_tasks)
        for check in (self.ports, self.affinity):
            if (fails := check.fails(task)) is not None:
                found &= ~fails
        return found

    def reasons(self, task: TaskInfo, rows: Sequence[int]) -> list[str]:
        """Return the first failure on each of some nodes, "" where there is none."""
        found = dict.fromkeys(rows, "")
        for check in self.order:
            fails = check.fails(task)
            if fails is not None:
                found |= {row: check.words(task, row) for row in rows if fails[row] and not found[row]}
        return list(found.values())

    def _full(self, task: TaskInfo) -> BoolVector:
        del task
        full: BoolVector = self.nodes.counts >= self.nodes.most_tasks
        return full

    def _by_status(self, fails: Callable[[_Status], bool]) -> BoolVector | None:
        column = self.nodes.columns.status
        found = np.array([fails(status) for status in column.values], np.bool_)
        return found[column.ids] if found.any() else None

    def _condition(self, task: TaskInfo) -> BoolVector | None:
        """CheckNodeCondition; CheckNodeUnschedulable then finds nothing more."""
        del task
        return self._by_status(lambda status: bool(bad_conditions(*status)))

    def _condition_words(self, task: TaskInfo, row: int) -> str:
        node: Node = self.nodes.columns.nodes[row]
        reasons = ", ".join(bad_conditions(node.conditions, node.unschedulable))
        return f"node <{node.meta.name}> are not available to schedule task <{task.key}>: {reasons}"

    def _unselected(self, task: TaskInfo) -> BoolVector | None:
        return ~required_mask(task.pod, self.nodes.columns)

    def _untolerated(self, task: TaskInfo) -> BoolVector | None:
        column = self.nodes.columns.taints
        tolerations = task.pod.tolerations
        found = np.array(
            [
                any(taint.effect in EFFECTS and not tolerates(tolerations, taint) for taint in taints)
                for taints in column.values
            ],
            np.bool_,
        )
        return found[column.ids] if found.any() else None

    def _pressed(self, name: str) -> Callable[[TaskInfo], BoolVector | None]:
        """Return the check of a pressure; memory pressure keeps only best-effort pods away."""

        def under(status: _Status) -> bool:
            found = [one.status for one in status[0] if one.type == f"{name}Pressure"]
            return bool(found) and found[-1] == "True"

        def fails(task: TaskInfo) -> BoolVector | None:
            if name == "Memory" and not task.kind.info.best_effort:
                return None
            return self._by_status(under)

        return fails

    def _ports_taken(self, task: TaskInfo) -> BoolVector | None:
        wanted = task.kind.info.ports
        if not wanted:
            return None
        found = np.zeros(len(self.nodes), np.bool_)
        for row, tasks in enumerate(self.nodes.tasks):
            used = [port for one in tasks.values() for port in one.kind.info.ports]
            found[row] = bool(used) and ports_conflict(wanted, used)
        return found

    def _refused(self, task: TaskInfo) -> BoolVector | None:
        return self.neighbors.refused(task)


def bad_conditions(conditions: tuple[NodeCondition, ...], unschedulable: bool) -> list[str]:
    """Return the reasons of CheckNodeCondition in Kubernetes 1.16; a missing condition passes."""
    reasons = [
        _REASONS[kind]
        for condition in conditions
        for kind, fine in CONDITIONS
        if condition.type == kind and condition.status != fine
    ]
    return [*reasons, "node(s) were unschedulable"] if unschedulable else reasons


def open_session(session: Session, arguments: Mapping[str, str]) -> Registration:
    """Register the predicates; those of pressure only if an argument enables them."""
    enabled = tuple(
        name
        for name in PRESSURES
        if argument(arguments, f"predicate.{name}PressureEnable", False, parse_bool)
    )
    return Registration(predicate=Predicates(session, enabled))
