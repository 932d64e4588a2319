"""LeastRequested, MostRequested, RequestedToCapacityRatio: a score averaged over cpu and memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.reads import Reads
from scheduler_core.cluster.view import Scope, View
from scheduler_core.objects.arrays import IntVector
from scheduler_core.priorities.base import MAX_PRIORITY, MapOnly, Mapped
from scheduler_core.priorities.rule import (
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


@dataclass(frozen=True, slots=True)
class Shape:
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
    ),
    PriorityRule(
        name="RequestedToCapacityRatioPriority",
        place=60,
        run=Mapped(ResourceAllocation(Shape())),
        text="Nodes by a curve over the requested share of cpu and memory.",
        formula=(
            "The shape's score at the requested percentage, for cpu and for memory; the mean of both."
            " Without an argument from 10 at 0 % to 0 at 100 %."
        ),
        plugins=(ScorePlugin("RequestedToCapacityRatio", TENTHS),),
    ),
    PriorityRule(
        name="requestedToCapacityRatioArguments",
        place=220,
        made=ResourceAllocation,
        argument="requestedToCapacityRatioArguments: {shape: [{utilization: 0, score: 0}, …]}",
        formula="As RequestedToCapacityRatioPriority, along the points of the shape.",
    ),
)
