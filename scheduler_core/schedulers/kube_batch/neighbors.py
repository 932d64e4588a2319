"""Inter-pod affinity in a session: the predicate and the priority, by the rules of Kubernetes 1.16."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.kube_batch.model import ALLOCATED_STATUSES, JobInfo, TaskInfo
from scheduler_core.schedulers.kube_batch.nodes import Nodes
from scheduler_core.schedulers.v1_11.predicates.interpod import OWN_QUIRKS, MatchInterPodAffinity
from scheduler_core.schedulers.v1_11.priorities.inter_pod_affinity import InterPodAffinityPriority

MOST_SCORE = 10

# Without the predicate's metadata, which kube-batch does not compute, it still is as v1.11 was, except that
# each term of an existing pod's anti-affinity counts by its own topology key.
PREDICATE = MatchInterPodAffinity(OWN_QUIRKS - {"last-anti-affinity-term"})
PRIORITY = InterPodAffinityPriority()


class InSession(Protocol):
    """What is read of a session."""

    jobs: dict[str, JobInfo]
    nodes: Nodes
    lost: set[str]


class Neighbors:
    """The pods that count for affinity; nothing is computed unless a pod of the session has such terms.

    The predicate sees the tasks of known jobs with an allocated status by the node that they name, even if
    that has refused them; the priority sees every task on a candidate.
    """

    def __init__(self, session: InSession) -> None:
        self._session = session
        self._nodes = session.nodes
        on_nodes = [task for tasks in session.nodes.tasks for task in tasks.values()]
        of_jobs = [task for job in session.jobs.values() for task in job.tasks.values()]
        self._active = any(task.kind.has_terms for task in (*on_nodes, *of_jobs))
        self._allocated, self._present = Cluster(), Cluster()
        if self._active:
            for cluster in (self._allocated, self._present):
                for node in self._nodes.columns.nodes:
                    cluster.put(node)
                cluster.refresh()
            for task in (*on_nodes, *of_jobs):
                self.update(task)
        self._strays: dict[int, list[TaskInfo]] = {}  # by row: pods that their own node refused
        for task in of_jobs if self._active else ():
            row = self._nodes.rows.get(task.pod.node_name, -1)
            if row >= 0 and task.status in ALLOCATED_STATUSES and task.key not in self._nodes.tasks[row]:
                self._strays.setdefault(row, []).append(task)

    def update(self, task: TaskInfo) -> None:
        """Recount a task after it was placed, refused, evicted or rolled back."""
        if not self._active:
            return
        there = task.node >= 0 and task.key in self._nodes.tasks[task.node]
        allocated = (
            task.status in ALLOCATED_STATUSES
            and task.node_name in self._nodes.rows
            and task.job in self._session.jobs
        )
        _set(self._present, task, there)
        _set(self._allocated, task, allocated)

    def refused(self, task: TaskInfo) -> BoolVector | None:
        """Return where affinity or anti-affinity keeps a task out, ``(N,) bool``; ``None`` for nowhere.

        An allocated task whose node is not in the session makes the original's check fail with an error on
        every node.
        """
        if self._session.lost:
            return np.ones(len(self._nodes), np.bool_)
        if not self._active:
            return None
        found = self._predicate(task)
        for row, strays in self._strays.items():
            # a node does not see the pods that it has refused, every other one does (NodeInfo.Filter)
            for stray in strays:
                _set(self._allocated, stray, there=False)
            without = self._predicate(task)
            for stray in strays:
                _set(self._allocated, stray, there=True)
            if found is None and without is not None:
                found = np.zeros(len(self._nodes), np.bool_)
            if found is not None:
                found[row] = without is not None and without[row]
        return found

    def _predicate(self, task: TaskInfo) -> BoolVector | None:
        state = _state(self._allocated, task)
        codes = PREDICATE(state.info, View(self._allocated), state).codes
        return None if codes is None else codes != 0

    def scores(self, task: TaskInfo, candidates: BoolVector) -> IntVector | None:
        """Return the priority's scores, ``(N,) int64``, 0 to 10; ``None`` if all are 0.

        Only pods on candidates count (priorities.InterPodAffinity.CalculateInterPodAffinityPriority).
        """
        if not self._active:
            return None
        state = _state(self._present, task)
        columns = self._present.columns
        sums = np.zeros(len(self._nodes), np.int64)
        for key, weight, counted in PRIORITY.weighted(state.info, View(self._present), state.kind):
            domains = columns.topology((key,))
            by_domain = np.zeros(domains.count + 1, np.int64)
            np.add.at(by_domain, domains.ids, np.where(candidates, counted.counts, 0))
            by_domain[-1] = 0
            sums += weight * by_domain[domains.ids]
        among = sums[candidates]
        low, high = min(0, int(among.min(initial=0))), max(0, int(among.max(initial=0)))
        if low == high:
            return None
        scaled = MOST_SCORE * ((sums - low) / (high - low))
        return np.asarray(scaled.astype(np.int64))


def _state(cluster: Cluster, task: TaskInfo) -> PodState:
    """Return a task's pod in a cluster, added without a node if it is not there yet."""
    state = cluster.pods.get(task.key) or cluster.put(task.pod)
    assert state is not None  # terminated tasks are never asked for
    return state


def _set(cluster: Cluster, task: TaskInfo, there: bool) -> None:
    """Put a task's pod on its node, or take it off."""
    if task.pod.terminal:
        return
    state = _state(cluster, task)
    name = task.node_name if there else ""
    if state.node_name == name:
        return
    if state.node_name:
        cluster.forget(state)
    if name:
        cluster.assume(state, name)
