"""InterPodAffinityPriority: preferred terms in both directions, all nodes in one go."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.pods import PodKind, PodQuery, PodState
from scheduler_core.cluster.topology import domain_sums
from scheduler_core.cluster.view import View
from scheduler_core.cycle import IntVector
from scheduler_core.priorities.base import MAX_PRIORITY, Scored


class InterPodAffinity:
    """Sum the weights of terms that hold between the pod and existing ones
    (priorities.InterPodAffinity.CalculateInterPodAffinityPriority).
    """

    def __init__(self, hard_weight: int = 1) -> None:
        self.hard_weight = hard_weight

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Scored:
        """Score the sums from lowest to highest, 0 being between them."""
        sums = self.sums(pod, view, state.kind)
        if sums is None:
            return Scored(None, np.zeros(view.size, np.int64))
        low, high = min(0, int(sums.min(initial=0))), max(0, int(sums.max(initial=0)))
        if low == high:
            return Scored(None, np.zeros(view.size, np.int64))
        score = MAX_PRIORITY * ((sums - low) / (high - low))
        return Scored(None, score.astype(np.int64))

    def sums(self, pod: PodInfo, view: View, kind: PodKind) -> IntVector | None:
        """Add up the weights per row, ``(R,) int64``; ``None`` if no term is at work."""
        by_key: dict[str, IntVector] = {}
        for key, weight, counts in self._weighted(pod, view, kind):
            former = by_key.get(key)
            by_key[key] = counts * weight if former is None else former + counts * weight
        total: IntVector | None = None
        for key, per_node in by_key.items():
            part = view.take(domain_sums(view.columns, (key,), per_node))
            total = part if total is None else total + part
        return total

    def _weighted(self, pod: PodInfo, view: View, kind: PodKind) -> Iterator[tuple[str, int, IntVector]]:
        """Yield (topology key, weight, pods per node) of every term that holds, ours first."""
        index = view.cluster.index
        for terms, sign in ((pod.terms.preferred, 1), (pod.terms.anti_preferred, -1)):
            for term in terms:
                tracked = index.count(PodQuery.of_terms((term,)))
                if tracked.total and term.weight:
                    yield term.topology_key, sign * term.weight, tracked.counts
        for acting in index.acting_on(kind):
            if not acting.total:
                continue
            theirs = acting.terms
            for term in theirs.required:
                if self.hard_weight and term.selects(kind.namespace, kind.labels):
                    yield term.topology_key, self.hard_weight, acting.counts
            for terms, sign in ((theirs.preferred, 1), (theirs.anti_preferred, -1)):
                for term in terms:
                    if term.weight and term.selects(kind.namespace, kind.labels):
                        yield term.topology_key, sign * term.weight, acting.counts
