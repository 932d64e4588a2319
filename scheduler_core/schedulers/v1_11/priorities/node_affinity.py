"""NodeAffinityPriority: preferred node affinity terms."""

from __future__ import annotations

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import NodeSelectorTerm, Requirement
from scheduler_core.schedulers.columns.nodeaffinity import term_mask
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.priority import MAX_PRIORITY, Mapped, MapScaled
from scheduler_core.schedulers.v1_11.priorities.line import (
    Description,
    FormulaLine,
    LineQuestion,
    number,
    shortened,
    truncated,
)
from scheduler_core.schedulers.v1_11.priorities.rule import TENTHS, PriorityRule, ScorePlugin, in_both


class NodeAffinityPriority(MapScaled):
    """Prefer the nodes that preferred terms match (priorities.CalculateNodeAffinityPriorityMap)."""

    scope = Scope.OBJECTS
    reads = Reads(pod=("affinity",), node=("name", "labels"))

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Return the sum of the weights of the matching terms."""
        affinity = pod.fields.affinity
        if affinity is None or not affinity.node_preferred:
            return np.zeros(view.size, np.int64)
        return view.take(view.memo(("preferred-node-terms", pod.number), lambda: self._sums(pod, view)))

    def _sums(self, pod: PodInfo, view: View) -> IntVector:
        sums = np.zeros(view.columns.size, np.int64)
        affinity = pod.fields.affinity
        for preferred in affinity.node_preferred if affinity is not None else ():
            # v1.11 reads only the expressions of a preferred term
            term = NodeSelectorTerm(match_expressions=preferred.term.match_expressions)
            if preferred.weight:
                sums += preferred.weight * term_mask(term, view.columns)
        return sums

    def scale(self, raw: IntVector, most: int) -> IntVector:
        """Scale to the highest sum (priorities.NormalizeReduce)."""
        return raw * MAX_PRIORITY // most if most else raw


def _describe(asked: LineQuestion, rule: NodeAffinityPriority) -> Description:  # noqa: ARG001
    """Describe the sum of the weights of the terms that match, compared with the highest sum."""
    affinity = asked.pod.info.fields.affinity
    preferred = affinity.node_preferred if affinity is not None else ()
    lines: list[FormulaLine] = []
    for one in preferred:
        term = NodeSelectorTerm(match_expressions=one.term.match_expressions)
        matches = bool(term_mask(term, asked.cluster.columns)[asked.node])
        finding = "matches: its weight" if matches else "does not match"
        lines.append(FormulaLine(_expressions(one.term), finding, "", number(one.weight if matches else 0)))
    lines = shortened(lines, "terms") or [FormulaLine("preferred terms", "the pod has none", "", "0")]
    lines.append(FormulaLine("sum", "of the weights that match", "", number(asked.raw)))
    most = int(asked.values.max(initial=0))
    if not most:
        scale = FormulaLine("score", "no feasible node matches a term, so all keep 0", "", "0")
    else:
        formula = f"{MAX_PRIORITY} × sum / highest sum of a feasible node"
        numbers = f"{MAX_PRIORITY} × {number(asked.raw)} / {number(most)}"
        scale = truncated(
            "score", formula, numbers, MAX_PRIORITY * asked.raw / most, MAX_PRIORITY * asked.raw // most
        )
    return Description("Nodes that the pod's preferred node affinity terms match.", tuple(lines), (scale,))


def _expressions(term: NodeSelectorTerm) -> str:
    return " and ".join(map(_requirement, term.match_expressions)) or "a term without expressions"


def _requirement(requirement: Requirement) -> str:
    values = f" [{', '.join(requirement.values)}]" if requirement.values else ""
    return f"{requirement.key} {requirement.operator}{values}"


RULES = (
    PriorityRule(
        name="NodeAffinityPriority",
        place=90,
        run=Mapped(NodeAffinityPriority()),
        text="Nodes that match more of the pod's preferred node affinity, by weight.",
        formula=(
            "map: the weights of the preferred terms that match. reduce: 10 × own / most, 0 if none matches."
        ),
        weights=in_both(1),
        plugins=(ScorePlugin("NodeAffinity", f"{TENTHS}; a preferred term's matchFields are not read"),),
        describe=_describe,
    ),
)
