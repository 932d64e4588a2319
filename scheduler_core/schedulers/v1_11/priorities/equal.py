"""EqualPriority: the same score for every node."""

from __future__ import annotations

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.priority import MapOnly, Mapped
from scheduler_core.schedulers.v1_11.priorities.line import Description, FormulaLine, LineQuestion
from scheduler_core.schedulers.v1_11.priorities.rule import PriorityRule


class Equal(MapOnly):
    """Score 1 everywhere (core.EqualPriorityMap)."""

    scope = Scope.OBJECTS
    reads = Reads()

    def map(self, pod: PodInfo, view: View) -> IntVector:  # noqa: ARG002
        """Return 1 for every row."""
        return np.ones(view.size, np.int64)


def _describe(asked: LineQuestion, rule: Equal) -> Description:  # noqa: ARG001
    """Describe the constant score."""
    return Description("All nodes alike.", (FormulaLine("score", "1 on every node", "", "1"),))


RULES = (
    PriorityRule(
        name="EqualPriority",
        place=120,
        run=Mapped(Equal()),
        text="All nodes alike.",
        formula="1.",
        describe=_describe,
    ),
)
