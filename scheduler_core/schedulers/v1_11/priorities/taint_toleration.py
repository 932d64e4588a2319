"""TaintTolerationPriority: prefer nodes with few PreferNoSchedule taints that the pod does not tolerate."""

from __future__ import annotations

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.selectors import tolerates
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.priority import MAX_PRIORITY, Mapped, MapScaled
from scheduler_core.schedulers.v1_11.priorities.line import (
    EVERY,
    Description,
    FormulaLine,
    LineQuestion,
    number,
    shortened,
)
from scheduler_core.schedulers.v1_11.priorities.rule import TENTHS, PriorityRule, ScorePlugin, in_both

EFFECT = "PreferNoSchedule"


class TaintTolerationPriority(MapScaled):
    """Avoid nodes that would rather not have the pod (priorities.ComputeTaintTolerationPriorityMap)."""

    scope = Scope.OBJECTS
    reads = Reads(pod=("tolerations",), node=("taints",))

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Count the PreferNoSchedule taints that are not tolerated."""
        tolerations = tuple(t for t in pod.fields.tolerations if t.effect in ("", EFFECT))

        def compute() -> IntVector:
            column = view.columns.taints
            counts = [
                sum(t.effect == EFFECT and not tolerates(tolerations, t) for t in taints)
                for taints in column.values
            ]
            return np.array(counts, np.int64)[column.ids]

        return view.take(view.memo(("prefer-no-schedule", tolerations), compute))

    def scale(self, raw: IntVector, most: int) -> IntVector:
        """Score few taints high (priorities.NormalizeReduce, reversed)."""
        return (
            MAX_PRIORITY - raw * MAX_PRIORITY // most if most else np.full(len(raw), MAX_PRIORITY, np.int64)
        )


def _describe(asked: LineQuestion, rule: TaintTolerationPriority) -> Description:  # noqa: ARG001
    """Describe the count of taints that are not tolerated, compared with the highest count."""
    tolerations = tuple(t for t in asked.pod.info.fields.tolerations if t.effect in ("", EFFECT))
    lines: list[FormulaLine] = []
    for taint in asked.cluster.columns.nodes[asked.node].taints:
        if taint.effect == EFFECT:
            name = f"{taint.key}={taint.value}:{EFFECT}" if taint.value else f"{taint.key}:{EFFECT}"
            tolerated = tolerates(tolerations, taint)
            lines.append(
                FormulaLine(
                    name, "tolerated" if tolerated else "not tolerated", "", "0" if tolerated else "1"
                )
            )
    lines = shortened(lines, "taints") or [FormulaLine("taints", f"the node has none with {EFFECT}", "", "0")]
    lines.append(FormulaLine("not tolerated", "how many taints", "", number(asked.raw)))
    most = int(asked.values.max(initial=0))
    if not most:
        scale = FormulaLine("score", "no feasible node has such a taint, so each scores the most", "", EVERY)
    else:
        formula = f"{MAX_PRIORITY} − {MAX_PRIORITY} × taints / most taints of a feasible node"
        numbers = f"{MAX_PRIORITY} − {MAX_PRIORITY} × {number(asked.raw)} / {number(most)}"
        lost = MAX_PRIORITY * asked.raw // most
        exact = f"{MAX_PRIORITY} − {lost}" if lost else ""
        scale = FormulaLine("score", formula, numbers, number(MAX_PRIORITY - lost), exact)
    prefers = f"Nodes with few {EFFECT} taints that the pod does not tolerate."
    return Description(prefers, tuple(lines), (scale,))


RULES = (
    PriorityRule(
        name="TaintTolerationPriority",
        place=100,
        run=Mapped(TaintTolerationPriority()),
        text="Nodes with fewer PreferNoSchedule taints that the pod does not tolerate.",
        formula=(
            "map: PreferNoSchedule taints that the pod does not tolerate. reduce: 10 − 10 × own / "
            "most, 10 if there are none."
        ),
        weights=in_both(1),
        plugins=(ScorePlugin("TaintToleration", TENTHS),),
        describe=_describe,
    ),
)
