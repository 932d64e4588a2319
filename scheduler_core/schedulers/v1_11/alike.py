"""A decision by one node of those that are alike for a class of pods, where nothing else is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from scheduler_core.record.choice import ChoiceCounts, LateChoice, NodeChoice
from scheduler_core.schedulers.columns.alike import AlikeNodes, Rows
from scheduler_core.schedulers.columns.pods import PodCounts, PodState
from scheduler_core.schedulers.columns.reasons import FAILED_BY_ERROR
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.profiles.priority import Mapped, MapSpread, Scores
from scheduler_core.schedulers.v1_11.scores import by_name_descending, combine
from scheduler_core.schedulers.v1_11.vectors import ClassVectors


class FoundNode(NamedTuple):
    """The node of a decision, among which nodes it was chosen, and the checks that filtering them took."""

    node: int
    choice: NodeChoice | LateChoice
    asked: int


class AlikeClass:
    """The nodes that are alike for the pods of one class, by what the class's vectors have of them."""

    def __init__(self, vectors: ClassVectors, pod: PodState) -> None:
        self.outdated = False
        """Whether pods have been counted again since, so that nodes have to be compared again."""
        self._vectors = vectors
        self._profile = vectors.plan.profile
        whole, size = View(vectors.cluster), vectors.base.size
        self._open = [
            predicate
            for predicate, known in zip(self._profile.predicates, vectors.outcomes, strict=True)
            if known is None
        ]
        self._spreads: list[tuple[int, MapSpread, PodCounts | None]] = []
        self._others = []
        for _, priority in vectors.plan.open_priorities:
            steps = priority.run.steps if isinstance(priority.run, Mapped) else None
            if isinstance(steps, MapSpread):
                self._spreads.append((priority.weight, steps, steps.counted(pod.info, whole)))
            else:
                self._others.append(priority)
        self._depths = np.full(size, len(self._profile.predicates), np.int64)
        self._feasible = np.ones(size, np.bool_)
        self._asked = int(self._depths.sum())
        self._look(range(size))
        counts = [
            column
            for _, steps, counted in self._spreads
            if counted is not None
            for column in (counted.counts, steps.domains(whole).ids)
        ]
        scaled = [known.raw for known in vectors.scaled.values()]
        columns = vectors.cluster.columns
        self._alike = AlikeNodes(
            [vectors.base, *scaled, *counts], self._feasible, partial(by_name_descending, columns=columns)
        )
        self.are_few = self._alike.are_few and not any(
            known is not None and known.errors for known in vectors.outcomes
        )

    def _look(self, changed: Sequence[int]) -> None:
        """Note where rows stop being checked, and which pass."""
        outcomes = [(number, self._vectors.outcomes[number]) for number in self._vectors.checks]
        found = [(number, one.codes) for number, one in outcomes if one is not None and one.codes is not None]
        if not found:
            return  # as at first: codes that a vector has once it keeps
        rows = np.array(changed, np.intp)
        left, depths = np.ones(len(rows), np.bool_), np.full(len(rows), len(self._profile.predicates))
        passed = left.copy()
        for number, known in found:
            codes = known[rows]
            stopping = left & (codes == FAILED_BY_ERROR if self._profile.always_check_all else codes != 0)
            depths[stopping] = number + 1
            left &= ~stopping
            passed &= codes == 0
        self._asked += int(depths.sum()) - int(self._depths[rows].sum())
        self._depths[rows], self._feasible[rows] = depths, passed

    def renew(self, rows: list[int]) -> None:
        """Follow a change of the vectors in some rows."""
        self._look(rows)
        self._alike.renew(rows)

    def choose(self, pod: PodState, counter: int) -> FoundNode | None:
        """Choose a node for a pod of the class; ``None`` for none, or if more is to be looked at."""
        info, whole, alike = pod.info, View(self._vectors.cluster), self._alike
        for predicate in self._open:
            outcome = predicate(info, whole, pod)
            if outcome.codes is not None or outcome.errors:
                return None
        alike.begin(0)
        places = alike.places
        if len(places) < 2:
            only = places.astype(np.int32)
            return FoundNode(int(only[0]), NodeChoice(only), self._asked) if len(only) else None
        numbers, rows = alike.different()
        totals = self._totals(pod, numbers, rows, whole)
        if totals is None:
            return None
        best, best_numbers, tied = alike.best(numbers, totals)
        listed = alike.listed()
        choice = LateChoice(
            lambda: NodeChoice(
                listed.places.astype(np.int32),
                listed.spread(numbers, totals),
                listed.tied(best_numbers).astype(np.int32),
            ),
            ChoiceCounts(len(places), best, tied),
        )
        return FoundNode(alike.chosen(best_numbers, counter % tied), choice, self._asked)

    def _totals(self, pod: PodState, numbers: Rows, rows: Rows, whole: View) -> Rows | None:
        """Return the totals of rows, one of each number; ``None`` if they depend on more."""
        vectors = self._vectors
        parts: list[tuple[int, Scores]] = []
        for known in vectors.scaled.values():
            raw = known.raw[rows]
            parts.append((known.weight, known.steps.scale(raw, int(raw.max()))))
        for weight, steps, counted in self._spreads:
            if steps.counted(pod.info, whole) is not counted:
                self.outdated = True
                return None
            if counted is None:
                parts.append((weight, steps.reduce(np.zeros(len(rows), np.int64), pod.info, whole)))
            else:
                parts.append(
                    (weight, steps.spread(counted.counts[rows], rows, self._alike.sizes(numbers), whole))
                )
        for priority in self._others:
            score = priority.run(pod.info, View(vectors.cluster, rows), pod).score
            if not isinstance(score, int):
                return None
            parts.append((priority.weight, score))
        totals = combine(parts, vectors.base[rows])
        return totals if self._profile.priorities else totals + 1
