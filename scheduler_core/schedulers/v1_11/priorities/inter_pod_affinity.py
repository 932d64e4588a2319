"""InterPodAffinityPriority: preferred terms in both directions, for all nodes at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.columns import Domains
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import AffinityClass, PodCounts, PodKind, PodQuery, PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.topology import row_sums
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.profiles.priority import MAX_PRIORITY, Function, Scores
from scheduler_core.schedulers.quirks import quirk
from scheduler_core.schedulers.v1_11.priorities.line import (
    Description,
    FormulaLine,
    LineQuestion,
    number,
    shortened,
    truncated,
)
from scheduler_core.schedulers.v1_11.priorities.rule import TENTHS, PriorityRule, ScorePlugin, in_both


class InterPodAffinityPriority(Function):
    """Sum the weights of terms that hold between the pod and existing ones
    (priorities.InterPodAffinity.CalculateInterPodAffinityPriority).
    """

    reads = Reads(pod=("namespace", "labels", "terminating", "affinity"), node=("labels",), objects=("Pod",))

    def __init__(self, hard_weight: int = 1, *, from_zero: bool = True) -> None:
        self.hard_weight = hard_weight
        self.from_zero = from_zero

    def under(self, quirks: frozenset[str]) -> InterPodAffinityPriority:
        """Return the priority with these quirks in force."""
        from_zero = "affinity-scores-from-zero" in quirks
        if from_zero is self.from_zero:
            return self
        return InterPodAffinityPriority(self.hard_weight, from_zero=from_zero)

    def function(self, pod: PodInfo, view: View, state: PodState) -> Scores:
        """Scale the sums from lowest to highest; in v1.11 that range always includes 0."""
        by_key = self._by_key(pod, view, state.kind)
        if not by_key:
            return 0
        if len(by_key) == 1:
            ((domains, sums),) = by_key.items()
            places = view.take(domains.ids)
            if len(sums) < view.size // 2:  # fewer domains than nodes: score each domain once
                present = np.flatnonzero(np.bincount(places + 1, minlength=len(sums)))
                return np.asarray(self._scores(sums, sums[present - 1])[places])
            rows = sums[places]
        else:
            rows = _add_up(view, by_key)
        return self._scores(rows, rows)

    def sums(self, pod: PodInfo, view: View, state: PodState) -> IntVector:
        """Return the sum of each row's terms before scaling, ``(F,) int64``."""
        return _add_up(view, self._by_key(pod, view, state.kind))

    @quirk("affinity-scores-from-zero")
    def _scores(self, sums: IntVector, present: IntVector) -> IntVector:
        """Scale sums from the lowest to the highest of ``present``."""
        low, high = int(present.min()), int(present.max())
        if self.from_zero:
            low, high = min(0, low), max(0, high)
        if low == high:
            return np.zeros(len(sums), np.int64)
        score = MAX_PRIORITY * ((sums - low) / (high - low))
        return np.asarray(score.astype(np.int64))

    def _by_key(self, pod: PodInfo, view: View, kind: PodKind) -> dict[Domains, IntVector]:
        """Sum up the weights per topology key, for each domain."""
        by_key: dict[Domains, IntVector] = {}
        for key, weight, counted in self.weighted(pod, view, kind):
            domains = view.columns.topology((key,))
            part = weight * counted.sums(domains)
            total = by_key.get(domains)
            by_key[domains] = part if total is None else total + part
        return by_key

    def weighted(self, pod: PodInfo, view: View, kind: PodKind) -> Iterator[tuple[str, int, PodCounts]]:
        """Yield (topology key, weight, pods) of every matching term, first those of the incoming pod.

        For terms of existing pods, the pods are an :class:`AffinityClass`.
        """
        index = view.cluster.index
        for terms, sign in ((pod.terms.preferred, 1), (pod.terms.anti_preferred, -1)):
            for term in terms:
                tracked = index.count(PodQuery.of_terms((term,)))
                if tracked.total and term.weight:
                    yield term.topology_key, sign * term.weight, tracked
        for acting in index.acting_on(kind):
            if not acting.total:
                continue
            theirs = acting.terms
            for term in theirs.required:
                if self.hard_weight and term.selects(kind.namespace, kind.labels):
                    yield term.topology_key, self.hard_weight, acting
            for terms, sign in ((theirs.preferred, 1), (theirs.anti_preferred, -1)):
                for term in terms:
                    if term.weight and term.selects(kind.namespace, kind.labels):
                        yield term.topology_key, sign * term.weight, acting


def _add_up(view: View, by_key: dict[Domains, IntVector]) -> IntVector:
    rows = np.zeros(view.size, np.int64)
    for domains, sums in by_key.items():
        rows += row_sums(view, domains, sums)
    return rows


def _describe(asked: LineQuestion, rule: InterPodAffinityPriority) -> Description:
    """Describe the sum of the matching terms on the node, scaled between the lowest and the highest sum."""
    sums = rule.sums(asked.pod.info, asked.view, asked.pod)
    own = int(sums[asked.place])
    lines = shortened(_terms(asked, rule), "terms")
    if not lines:
        lines = [FormulaLine("terms", "none holds on this node", "", "0")]
    lines.append(FormulaLine("sum", "of the terms", "", number(own)))
    low, high = min(0, int(sums.min(initial=0))), max(0, int(sums.max(initial=0)))
    if low == high:
        scale = FormulaLine("score", "no feasible node has a sum, so none is preferred", "", "0")
    else:
        formula = f"{MAX_PRIORITY} × (sum − lowest) / (highest − lowest), 0 being between them"
        numbers = f"{MAX_PRIORITY} × ({number(own)} − {number(low)}) / ({number(high)} − {number(low)})"
        exact = MAX_PRIORITY * ((own - low) / (high - low))
        scale = truncated("score", formula, numbers, exact)
    prefers = "Nodes where preferred affinity to pods holds, and preferred anti-affinity does not."
    return Description(prefers, tuple(lines), (scale,))


def _terms(asked: LineQuestion, rule: InterPodAffinityPriority) -> list[FormulaLine]:
    columns = asked.cluster.columns
    lines = []
    for key, weight, counted in rule.weighted(asked.pod.info, asked.view, asked.pod.kind):
        domain = int(columns.topology((key,)).ids[asked.node])
        pods = int(counted.sums(columns.topology((key,)))[domain]) if domain >= 0 else 0
        if not pods:
            continue
        whose = (
            "pods with a term on this pod"
            if isinstance(counted, AffinityClass)
            else "pods that its term means"
        )
        where = f"{key}={columns.label(key).values[domain]}"
        numbers = f"{number(weight)} × {number(pods)}"
        lines.append(FormulaLine(where, f"weight × {whose}", numbers, number(weight * pods)))
    return lines


RULES = (
    PriorityRule(
        name="InterPodAffinityPriority",
        place=30,
        run=InterPodAffinityPriority(),
        text="Nodes where preferred affinity to pods holds, and preferred anti-affinity does not.",
        formula=(
            "Sum of the weights of preferred terms that hold, those of anti-affinity negative, in "
            "both directions; a required affinity term of another pod counts "
            "hardPodAffinitySymmetricWeight. Then 10 × (own − least) / (most − least); least is at "
            "most 0, most at least 0."
        ),
        weights=in_both(1),
        plugins=(ScorePlugin("InterPodAffinity", TENTHS),),
        describe=_describe,
    ),
)
