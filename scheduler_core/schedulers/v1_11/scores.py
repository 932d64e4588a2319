"""Scoring the feasible nodes: priorities, the weighted sum, and v1.11's tie-break."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.record.priority_row import PriorityRow
from scheduler_core.schedulers.columns.columns import NodeColumns
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.profiles.priority import Scored, Scores
from scheduler_core.schedulers.profiles.profile import Profile, WeightedPriority
from scheduler_core.schedulers.v1_11.vectors import ClassVectors

Rows = npt.NDArray[np.int64]


class Ranking(Struct):
    """``totals`` is ``(F,) int64``; ``ties`` are the best nodes, in the order that the counter indexes."""

    rows: list[PriorityRow]
    totals: IntVector
    ties: Rows

    def choice(self, counter: int | None) -> int:
        """Return the node index that the round-robin counter points at (genericScheduler.selectHost).

        Without a counter it is the first of the best nodes, of which Kubernetes picks one at random.
        """
        if counter is None:
            return int(self.ties.min())
        return int(self.ties[counter % len(self.ties)])


def rank_nodes(
    pod: PodState,
    cluster: Cluster,
    failed: Codes | None,
    feasible: Rows | None,
    profile: Profile,
    vectors: ClassVectors | None,
    *,
    trace: bool,
    further: Sequence[PriorityRow] = (),
) -> Ranking:
    """Score the feasible nodes (``None``: all) and sum up weight times score (core.PrioritizeNodes).

    ``further`` are the scores of extenders. A policy without priorities and extenders gives every node the
    total 1. Without ``trace`` only totals and
    ties are computed, and ``rows`` stays empty.
    """
    ranker = _Ranker(pod, View(cluster, feasible), failed, vectors)
    rows: list[PriorityRow] = []
    fresh: list[tuple[int, Scores]] = []
    to_score: Iterable[tuple[int, WeightedPriority]] = enumerate(profile.priorities)
    if vectors is not None and not trace:
        to_score = vectors.plan.open_priorities
    for number, priority in to_score:
        scored = ranker.score(number, priority)
        if trace:
            rows.append(ranker.recorded(number, priority, scored))
        if not ranker.knows(number):
            fresh.append((priority.weight, scored.score))
    totals = combine(fresh, ranker.known_totals())
    if not profile.priorities and not profile.extenders:
        totals = totals + 1
    for row in further:
        totals = totals + row.weighted
    if trace:
        rows += further
    if vectors is not None and totals is vectors.base:
        totals = totals.copy()  # later changes of the class must not affect the record
    best = (totals == totals.max()).nonzero()[0]
    return Ranking(
        rows, totals, by_name_descending(best if feasible is None else feasible[best], cluster.columns)
    )


def combine(rows: Iterable[tuple[int, Scores]], totals: IntVector) -> IntVector:
    """Return ``totals``, ``(F,) int64``, plus weight times score of each priority; ``totals`` is unchanged.

    This is the Combine step that reduces the matrix to one HostPriorityList (core.PrioritizeNodes).
    """
    for weight, score in rows:
        totals = totals + (score if weight == 1 else weight * score)
    return totals


def by_name_descending(nodes: Rows, columns: NodeColumns) -> Rows:
    """Sort node indices (given in ascending order) by name in descending byte order (section 3.4)."""
    if columns.sorted_by_name:
        return nodes[::-1]
    return nodes[np.argsort(columns.name_ranks[nodes])[::-1]]


class _Ranker(Struct, frozen=True):
    """Scores one pod's feasible nodes, from the vectors of its class where possible."""

    pod: PodState
    view: View
    failed: Codes | None
    vectors: ClassVectors | None

    def knows(self, number: int) -> bool:
        return self.vectors is not None and number in self.vectors.raws

    def known_totals(self) -> IntVector:
        """Sum up the priorities that are known for the class; the result may be its live vector."""
        if self.vectors is None:
            return np.zeros(self.view.size, np.int64)
        scaled = self.vectors.scaled.values()
        scores = ((known.weight, known.scores(self.view.rows, self.failed)) for known in scaled)
        totals = combine(scores, self.vectors.base)
        return self.view.take(totals)

    def score(self, number: int, priority: WeightedPriority) -> Scored:
        """Return one priority's values and scores."""
        if self.vectors is None or not self.knows(number):
            return priority.run(self.pod.info, self.view, self.pod)
        raw = self.view.take(self.vectors.raws[number])
        steps = self.vectors.steps[number]
        scaled = self.vectors.scaled.get(number)
        if scaled is not None:
            return Scored(raw, self.view.take(scaled.scores(self.view.rows, self.failed)))
        return Scored(raw, steps.reduce(raw, self.pod.info, self.view))

    def recorded(self, number: int, priority: WeightedPriority, scored: Scored) -> PriorityRow:
        """Return the record of a priority, in arrays that later changes do not affect."""
        raw, score = scored.raw, scored.score
        if isinstance(score, int):
            score = np.full(self.view.size, score, np.int64)
        # arrays taken by row are copies already, and those that the class keeps may never change
        if self.view.rows is None and not (self.vectors is not None and self.vectors.plan.fixed(number)):
            one = score is raw
            raw = None if raw is None else raw.copy()
            score = raw if one and raw is not None else score.copy()
        return PriorityRow(priority.name, priority.weight, priority.run.kind, raw, score)
