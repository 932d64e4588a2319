"""ResourceLimitsPriority: prefer nodes whose allocatable resources cover the pod's limits."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.reads import Reads
from scheduler_core.cluster.view import Scope, View
from scheduler_core.objects.arrays import IntVector
from scheduler_core.priorities.base import MapOnly, Mapped
from scheduler_core.priorities.rule import PriorityRule


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


RULES = (
    PriorityRule(
        name="ResourceLimitsPriority",
        place=130,
        run=Mapped(ResourceLimits()),
        text="Nodes that can hold the pod's limits, not only its requests.",
        formula="1 if the node can hold the pod's cpu limit or its memory limit, else 0.",
    ),
)
