"""ResourceLimitsPriority: prefer nodes whose allocatable resources cover the pod's limits."""

from __future__ import annotations

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.priority import MapOnly, Mapped
from scheduler_core.schedulers.v1_11.priorities.line import (
    Description,
    FormulaLine,
    LineQuestion,
    number,
    unit_of,
)
from scheduler_core.schedulers.v1_11.priorities.rule import PriorityRule


class ResourceLimits(MapOnly):
    """Score 1 where the cpu or the memory limit fits the node (priorities.ResourceLimitsPriorityMap)."""

    scope = Scope.OBJECTS
    reads = Reads(pod=("containers", "init_containers"), node=("allocatable",))

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Return 1 where the cpu or the memory limit fits, otherwise 0."""
        fits = np.zeros(view.size, np.bool_)
        for limit, allocatable in zip(pod.limits, view.allocatable):
            if limit:
                fits |= (allocatable != 0) & (limit <= allocatable)
        return fits.astype(np.int64)


def _describe(asked: LineQuestion, rule: ResourceLimits) -> Description:  # noqa: ARG001
    """Describe the comparison of each of the pod's limits with the allocatable amount."""
    allocatable = asked.alone.allocatable
    lines: list[FormulaLine] = []
    either = False
    for name, limit, amount in zip(("cpu", "memory"), asked.pod.info.limits, allocatable[:, 0].tolist()):
        unit, size = ("m", 1) if name == "cpu" else unit_of(limit, amount)
        if not limit:
            lines.append(FormulaLine(f"{name} limit", "the pod has none", "", "0"))
            continue
        fits = amount != 0 and limit <= amount
        either |= fits
        sign = "≤" if fits else ">"
        numbers = f"{number(limit // size)} {sign} {number(amount // size)}"
        lines.append(
            FormulaLine(f"{name} limit, in {unit}", "limit ≤ allocatable", numbers, "1" if fits else "0")
        )
    lines.append(FormulaLine("score", "1 if either limit fits", "", "1" if either else "0"))
    prefers = "Nodes whose allocatable cpu or memory covers the pod's limits, not only its requests."
    return Description(prefers, tuple(lines))


RULES = (
    PriorityRule(
        name="ResourceLimitsPriority",
        place=130,
        run=Mapped(ResourceLimits()),
        text="Nodes that can hold the pod's limits, not only its requests.",
        formula="1 if the node can hold the pod's cpu limit or its memory limit, else 0.",
        describe=_describe,
    ),
)
