"""The scores of Kubernetes 1.22's default plugins, from 0 to 100 each, and the choice of a node.

NodeResourcesFit (LeastAllocated) and NodeResourcesBalancedAllocation are computed with 1.22's granularity;
the plugins that score like their predecessors use the v1.11 priorities, scaled to 100.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.record.priority_row import PriorityRow
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.v1_11.priorities.resource_allocation import requested_and_capacity
from scheduler_core.schedulers.v1_11.scores import Ranking, by_name_descending, rank_nodes
from scheduler_core.schedulers.v1_11.vectors import ClassVectors
from scheduler_core.schedulers.v1_22.profile import MAX_NODE_SCORE, Scheduling


def score_nodes(
    pod: PodState,
    cluster: Cluster,
    failed: Codes | None,
    feasible: IntVector,
    vectors: ClassVectors,
    scheduling: Scheduling,
    *,
    record: bool = False,
) -> Ranking:
    """Score the feasible nodes, given as ascending column indices; ``vectors`` belong to the pod's class."""
    view = View(cluster, feasible)
    requested, capacity = requested_and_capacity(pod.info, view)
    usable = (capacity > 0) & (requested <= capacity)
    free = np.where(usable, (capacity - requested) * MAX_NODE_SCORE // np.maximum(capacity, 1), 0)
    cpu, memory = np.where(capacity == 0, 1.0, requested / np.maximum(capacity, 1))
    balance = ((1 - np.abs(cpu - memory)) * MAX_NODE_SCORE).astype(np.int64)
    ranking = rank_nodes(pod, cluster, failed, feasible, scheduling.profile, vectors, trace=record)
    own = (
        ("NodeResourcesFit", scheduling.fit_weight, np.asarray(free.sum(axis=0) // 2, np.int64)),
        (
            "NodeResourcesBalancedAllocation",
            scheduling.balanced_weight,
            np.where((cpu >= 1) | (memory >= 1), 0, balance),
        ),
    )
    fit, balanced = (weight * score for _, weight, score in own)
    totals = fit + balanced + ranking.totals * scheduling.scale
    best = feasible[totals == totals.max()]
    rows = [PriorityRow(name, weight, "map", score, score) for name, weight, score in own if weight]
    rows += [replace(row, score=row.score * scheduling.scale) for row in ranking.rows]
    ties = by_name_descending(best, cluster.columns)
    return Ranking(rows if record else [], totals, ties)
