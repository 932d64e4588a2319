"""The scores of Kubernetes 1.22's default plugins, from 0 to 100 each, and the choice of a node.

NodeResourcesFit (LeastAllocated) and NodeResourcesBalancedAllocation are worked out in 1.22's steps; the
plugins that rank nodes as their forerunners did are asked of the v1.11 priorities and spread to 100.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.reasons import Codes
from scheduler_core.cluster.state import Cluster
from scheduler_core.cluster.view import View
from scheduler_core.cycle import IntVector
from scheduler_core.framework.profile import Scheduling
from scheduler_core.priorities.base import MAX_PRIORITY
from scheduler_core.priorities.resource_allocation import requested_and_capacity
from scheduler_core.scoring import rank_nodes
from scheduler_core.vectors import ClassVectors

MAX_NODE_SCORE = 100


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of the feasible nodes, ``(F,) int64`` each; ``others`` is the remaining plugins' sum."""

    nodes: IntVector
    least_allocated: IntVector
    balanced: IntVector
    others: IntVector

    @property
    def totals(self) -> IntVector:
        """Add up, ``(F,) int64``."""
        return self.least_allocated + self.balanced + self.others

    def best(self) -> int:
        """Return the first of the best nodes; Kubernetes takes any of them by lot."""
        return int(self.nodes[int(np.argmax(self.totals))])


def score_nodes(
    pod: PodState,
    cluster: Cluster,
    failed: Codes | None,
    feasible: IntVector,
    vectors: ClassVectors,
    scheduling: Scheduling,
) -> Scored:
    """Score the feasible nodes, given as ascending column indices; ``vectors`` are the pod's class's."""
    view = View(cluster, feasible)
    requested, capacity = requested_and_capacity(pod.info, view)
    usable = (capacity > 0) & (requested <= capacity)
    free = np.where(usable, (capacity - requested) * MAX_NODE_SCORE // np.maximum(capacity, 1), 0)
    cpu, memory = np.where(capacity == 0, 1.0, requested / np.maximum(capacity, 1))
    balance = ((1 - np.abs(cpu - memory)) * MAX_NODE_SCORE).astype(np.int64)
    ranking = rank_nodes(pod, cluster, failed, feasible, scheduling.profile, vectors, trace=False)
    return Scored(
        feasible,
        scheduling.fit_weight * np.asarray(free.sum(axis=0) // 2, np.int64),
        scheduling.balanced_weight * np.where((cpu >= 1) | (memory >= 1), 0, balance),
        ranking.totals * (MAX_NODE_SCORE // MAX_PRIORITY),
    )
