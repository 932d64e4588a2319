"""LeastRequested, MostRequested, RequestedToCapacityRatio: a score averaged over cpu and memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.policy_argument import PolicyArgument
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
    unit_of,
)
from scheduler_core.schedulers.v1_11.priorities.rule import (
    AUTOSCALER_PROVIDER,
    DEFAULT_PROVIDER,
    TENTHS,
    PriorityRule,
    ScorePlugin,
)

Scorer = Callable[[IntVector, IntVector], IntVector]


def requested_and_capacity(pod: PodInfo, view: View) -> tuple[IntVector, IntVector]:
    """Return requested cpu and memory including the pod, and the allocatable amounts: ``(2, R)`` each.

    Requests are the non-zero ones (priorityutil.GetNonzeroRequests).
    """
    return view.used[4:] + pod.usage[4:, None], view.allocatable[:2]


def least_requested(requested: IntVector, capacity: IntVector) -> IntVector:
    """Score the free share (priorities.leastRequestedScore)."""
    usable = (capacity > 0) & (requested <= capacity)
    share = (capacity - requested) * MAX_PRIORITY // np.maximum(capacity, 1)
    return np.where(usable, share, 0)


def most_requested(requested: IntVector, capacity: IntVector) -> IntVector:
    """Score the used share (priorities.mostRequestedScore)."""
    usable = (capacity > 0) & (requested <= capacity)
    return np.where(usable, requested * MAX_PRIORITY // np.maximum(capacity, 1), 0)


class FunctionShape(Struct, frozen=True):
    """A piecewise linear function of utilization in per cent; points ascend in utilization."""

    points: tuple[tuple[int, int], ...] = ((0, 10), (100, 0))

    def __call__(self, requested: IntVector, capacity: IntVector) -> IntVector:
        """Score the utilization (priorities.buildRequestedToCapacityRatioScorerFunction)."""
        usable = (capacity > 0) & (requested <= capacity)
        free = (capacity - requested) * 100 // np.maximum(capacity, 1)
        return self.at(np.where(usable, 100 - free, 100))

    def at(self, utilization: IntVector) -> IntVector:
        """Evaluate the function (priorities.buildBrokenLinearFunction); ``/`` truncates toward zero."""
        result = np.full(utilization.shape, self.points[-1][1], np.int64)
        for (x0, y0), (x1, y1) in reversed(list(zip(self.points, self.points[1:]))):
            product = (y1 - y0) * (utilization - x0)
            step = np.sign(product) * (np.abs(product) // (x1 - x0))
            result = np.where(utilization <= x1, y0 + step, result)
        return np.where(utilization <= self.points[0][0], self.points[0][1], result)


class ResourceAllocation(MapOnly):
    """The average of one scoring function over cpu and memory; no reduce step."""

    scope = Scope.NODE
    reads = Reads(pod=("containers",), node=("allocatable",), objects=("Pod",))

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Return the average of the scores for cpu and memory, rounded down."""
        cpu, memory = self.scorer(*requested_and_capacity(pod, view))
        return np.asarray((cpu + memory) // 2)


PREFERS: dict[object, str] = {
    least_requested: "Nodes where much cpu and memory stays free: the free shares, 0 to 10, averaged.",
    most_requested: "Nodes where little cpu and memory stays free: the used shares, 0 to 10, averaged.",
}
BY_SHAPE = "Nodes by a curve over the requested share of cpu and memory, averaged."


class NodeAmounts:
    """Cpu or memory of a node including the pod, in a unit that divides all of its amounts."""

    def __init__(self, asked: LineQuestion, index: int) -> None:
        view = asked.alone
        requested, capacity = requested_and_capacity(asked.pod.info, view)
        own = int(asked.pod.info.usage[4 + index])
        bytes_ = (int(requested[index, 0]), int(capacity[index, 0]), own)
        unit, size = ("m", 1) if index == 0 else unit_of(*bytes_)
        self.name = ("cpu", "memory")[index]
        self.unit = unit
        self.requested, self.capacity, self.own = (amount // size for amount in bytes_)

    @property
    def fits(self) -> bool:
        """Whether a share can be computed: the capacity is positive and not exceeded."""
        return self.capacity > 0 and self.requested <= self.capacity

    def sum(self) -> FormulaLine:
        """Return the line that adds the pod to the node's pods; amounts as v1.11 counts them for scores."""
        before = self.requested - self.own
        return FormulaLine(
            f"{self.name} requested, in {self.unit}",
            "pods on the node + this pod",
            f"{number(before)} + {number(self.own)}",
            number(self.requested),
        )

    def full(self, value: int) -> FormulaLine:
        """Return the line on why no share can be computed."""
        if self.capacity == 0:
            return FormulaLine(self.name, "nothing is allocatable", "", number(value))
        numbers = f"{number(self.requested)} > {number(self.capacity)}"
        return FormulaLine(self.name, "requested > allocatable", numbers, number(value))


def _describe(asked: LineQuestion, rule: ResourceAllocation) -> Description:
    """Describe the average of the scores for cpu and memory."""
    both = (NodeAmounts(asked, 0), NodeAmounts(asked, 1))
    scorer = rule.scorer
    lines: list[FormulaLine] = []
    scores: list[int] = []
    for amounts in both:
        lines.append(amounts.sum())
        if isinstance(scorer, FunctionShape):
            curve = _shape(amounts, scorer)
            lines += curve
            scores.append(int(curve[-1].value))
        else:
            line = _share(amounts, free=scorer is least_requested)
            lines.append(line)
            scores.append(int(line.value))
    lines.append(_halved(scores))
    return Description(PREFERS.get(scorer, BY_SHAPE), tuple(lines))


def _halved(scores: list[int]) -> FormulaLine:
    cpu, memory = scores
    numbers = f"({number(cpu)} + {number(memory)}) / 2"
    return truncated("score", "(cpu + memory) / 2", numbers, (cpu + memory) / 2)


def _share(amounts: NodeAmounts, *, free: bool) -> FormulaLine:
    if not amounts.fits:
        return amounts.full(0)
    requested, capacity = amounts.requested, amounts.capacity
    of = f"{amounts.name}, of {number(capacity)} {amounts.unit}"
    if free:
        formula = f"(allocatable − requested) × {MAX_PRIORITY} / allocatable"
        numbers = f"({number(capacity)} − {number(requested)}) × {MAX_PRIORITY} / {number(capacity)}"
        product = (capacity - requested) * MAX_PRIORITY
    else:
        formula = f"requested × {MAX_PRIORITY} / allocatable"
        numbers = f"{number(requested)} × {MAX_PRIORITY} / {number(capacity)}"
        product = requested * MAX_PRIORITY
    return truncated(of, formula, numbers, product / capacity, product // capacity)


def _shape(amounts: NodeAmounts, shape: FunctionShape) -> list[FormulaLine]:
    requested, capacity = amounts.requested, amounts.capacity
    if amounts.fits:
        free = (capacity - requested) * 100 // capacity
        used = 100 - free
        of = f"{amounts.name} used, in %"
        numbers = f"100 − ({number(capacity)} − {number(requested)}) × 100 / {number(capacity)}"
        formula = "100 − (allocatable − requested) × 100 / allocatable"
        first = FormulaLine(of, formula, numbers, number(used), f"100 − {number(free)}")
    else:
        used = 100
        first = amounts.full(used)
    return [first, _on_curve(amounts.name, used, shape.points)]


def _on_curve(name: str, used: int, points: tuple[tuple[int, int], ...]) -> FormulaLine:
    """Return the line for the segment of the curve that contains the utilization."""
    if used <= points[0][0]:
        return FormulaLine(name, f"up to {points[0][0]} %", "", number(points[0][1]))
    for (x0, y0), (x1, y1) in pairwise(points):
        if used <= x1:
            product = (y1 - y0) * (used - x0)
            step = abs(product) // (x1 - x0) * (1 if product > 0 else -1)
            numbers = f"{y0} + ({y1} − {y0}) × ({used} − {x0}) / ({x1} − {x0})"
            formula = f"the line from {y0} at {x0} % to {y1} at {x1} %"
            sign = "+" if step >= 0 else "−"
            return FormulaLine(name, formula, numbers, number(y0 + step), f"{y0} {sign} {abs(step)}")
    return FormulaLine(name, f"from {points[-1][0]} %", "", number(points[-1][1]))


_OTHER_STRATEGIES = (
    "MostAllocated and RequestedToCapacityRatio score whole numbers from 0 to 10, not 0 to 100"
)

RULES = (
    PriorityRule(
        name="LeastRequestedPriority",
        place=40,
        run=Mapped(ResourceAllocation(least_requested)),
        text="Nodes where much cpu and memory stays free.",
        formula=(
            "(capacity − requested) × 10 / capacity, for cpu and for memory; the mean of both. A "
            "container that asks for nothing counts 100m and 200Mi."
        ),
        weights={DEFAULT_PROVIDER: 1},
        plugins=(
            ScorePlugin("NodeResourcesFit", _OTHER_STRATEGIES),
            ScorePlugin("NodeResourcesLeastAllocated"),
        ),
        describe=_describe,
    ),
    PriorityRule(
        name="MostRequestedPriority",
        place=50,
        run=Mapped(ResourceAllocation(most_requested)),
        text="Nodes where little cpu and memory stays free: it packs.",
        formula=(
            "requested × 10 / capacity, for cpu and for memory, 0 where it is beyond; the mean of both."
        ),
        weights={AUTOSCALER_PROVIDER: 1},
        plugins=(ScorePlugin("NodeResourcesMostAllocated", TENTHS),),
        describe=_describe,
    ),
    PriorityRule(
        name="RequestedToCapacityRatioPriority",
        place=60,
        run=Mapped(ResourceAllocation(FunctionShape())),
        text="Nodes by a curve over the requested share of cpu and memory.",
        formula=(
            "The shape's score at the requested percentage, for cpu and for memory; the mean of both."
            " Without an argument from 10 at 0 % to 0 at 100 %."
        ),
        plugins=(ScorePlugin("RequestedToCapacityRatio", TENTHS),),
        describe=_describe,
    ),
    PriorityRule(
        name="requestedToCapacityRatioArguments",
        place=220,
        made=ResourceAllocation,
        argument=PolicyArgument(
            "requestedToCapacityRatioArguments",
            ("shape",),
            "{shape: [{utilization: 0, score: 0}, …]}",
            lambda shape: Mapped(ResourceAllocation(FunctionShape(shape))),
        ),
        formula="As RequestedToCapacityRatioPriority, along the points of the shape.",
        describe=_describe,
    ),
)
