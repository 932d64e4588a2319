"""BalancedResourceAllocation: prefer equal utilization of cpu and memory."""

from __future__ import annotations

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.priority import MAX_PRIORITY, MapOnly, Mapped
from scheduler_core.schedulers.v1_11.priorities.line import (
    Description,
    FormulaLine,
    LineQuestion,
    number,
    truncated,
)
from scheduler_core.schedulers.v1_11.priorities.resource_allocation import NodeAmounts, requested_and_capacity
from scheduler_core.schedulers.v1_11.priorities.rule import PriorityRule, ScorePlugin, in_both


class BalancedResourceAllocation(MapOnly):
    """Prefer nodes where the two used shares are close (priorities.balancedResourceScorer)."""

    scope = Scope.NODE
    reads = Reads(pod=("containers",), node=("allocatable",), objects=("Pod",))

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Return 10 for equal shares, 0 where either is full; computed in doubles and truncated."""
        requested, capacity = requested_and_capacity(pod, view)
        fractions = np.where(capacity == 0, 1.0, requested / np.maximum(capacity, 1))
        cpu, memory = fractions
        score = ((1 - np.abs(cpu - memory)) * MAX_PRIORITY).astype(np.int64)
        return np.where((cpu >= 1) | (memory >= 1), 0, score)


def _describe(asked: LineQuestion, rule: BalancedResourceAllocation) -> Description:  # noqa: ARG001
    """Describe the difference of the two shares."""
    both = (NodeAmounts(asked, 0), NodeAmounts(asked, 1))
    lines: list[FormulaLine] = []
    shares: list[float] = []
    for amounts in both:
        lines.append(amounts.sum())
        if amounts.capacity == 0:
            shares.append(1.0)
            lines.append(amounts.full(1))
            continue
        share = amounts.requested / amounts.capacity
        numbers = f"{number(amounts.requested)} / {number(amounts.capacity)}"
        shares.append(share)
        lines.append(FormulaLine(f"{amounts.name} share", "requested / allocatable", numbers, number(share)))
    cpu, memory = shares
    if cpu >= 1 or memory >= 1:
        lines.append(FormulaLine("score", "0 where cpu or memory is requested in full", "", "0"))
    else:
        numbers = f"(1 − |{number(cpu)} − {number(memory)}|) × {MAX_PRIORITY}"
        formula = f"(1 − |cpu share − memory share|) × {MAX_PRIORITY}"
        exact = (1 - abs(cpu - memory)) * MAX_PRIORITY
        lines.append(truncated("score", formula, numbers, exact))
    return Description("Nodes where cpu and memory would be used to the same share.", tuple(lines))


RULES = (
    PriorityRule(
        name="BalancedResourceAllocation",
        place=70,
        run=Mapped(BalancedResourceAllocation()),
        text="Nodes where cpu and memory would be used to the same share.",
        formula=("(1 − |requested share of cpu − requested share of memory|) × 10, and 0 if either is full."),
        weights=in_both(1),
        plugins=(ScorePlugin("NodeResourcesBalancedAllocation"),),
        describe=_describe,
    ),
)
