"""Which of the feasible nodes is best: priorities, the weighted sum, and v1.11's choice among equals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.state import Cluster
from scheduler_core.cluster.view import View
from scheduler_core.cycle import IntVector, PriorityRow
from scheduler_core.policy import Profile


@dataclass(slots=True)
class Ranking:
    """``totals`` is ``(F,) int64``; ``ties`` the best nodes in the order the counter takes them."""

    rows: list[PriorityRow]
    totals: IntVector
    ties: npt.NDArray[np.int64]

    def choice(self, counter: int) -> int:
        """Return the node index that the round-robin counter points at (genericScheduler.selectHost)."""
        return int(self.ties[counter % len(self.ties)])


def rank_nodes(pod: PodState, cluster: Cluster, feasible: npt.NDArray[np.int64], profile: Profile) -> Ranking:
    """Score the feasible nodes and add up weight times score (core.PrioritizeNodes).

    A policy without priorities gives every node the total 1.
    """
    columns = cluster.columns
    view = View(cluster, None if len(feasible) == columns.size else feasible)
    rows: list[PriorityRow] = []
    totals = np.zeros(view.size, np.int64)
    for priority in profile.priorities:
        scored = priority.run(pod.info, view, pod)
        rows.append(PriorityRow(priority.name, priority.weight, scored.raw, scored.score))
        totals += priority.weight * scored.score
    if not rows:
        totals += 1
    best = np.zeros(columns.size, np.bool_)
    best[feasible[totals == totals.max()]] = True
    by_name = columns.by_name_descending
    return Ranking(rows, totals, by_name[best[by_name]])
