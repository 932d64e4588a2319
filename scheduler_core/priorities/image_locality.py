"""ImageLocalityPriority: prefer nodes that already have the pod's images."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.reads import Reads
from scheduler_core.cluster.view import Scope, View
from scheduler_core.objects.arrays import IntVector
from scheduler_core.priorities.base import MAX_PRIORITY, MapOnly, Mapped
from scheduler_core.priorities.rule import TENTHS, PriorityRule, ScorePlugin

MIB = 1024 * 1024
LEAST = 23 * MIB
MOST = 1000 * MIB


class ImageLocality(MapOnly):
    """Score the bytes that need no pulling (priorities.ImageLocalityPriorityMap)."""

    scope = Scope.OBJECTS
    reads = Reads(pod=("containers",), node=("images",))

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Return the summed sizes of the containers' images on the node, scaled from 23 MiB to 1000 MiB."""
        return view.take(view.memo(("images", pod.images), lambda: self._scores(pod, view)))

    def _scores(self, pod: PodInfo, view: View) -> IntVector:
        total = np.zeros(view.columns.size, np.int64)
        for image in pod.images:
            for node, size in view.columns.images.get(image, {}).items():
                total[node] += size
        scaled = MAX_PRIORITY * (total - LEAST) // (MOST - LEAST) + 1
        return np.where(total < LEAST, 0, np.where(total >= MOST, MAX_PRIORITY, scaled))


RULES = (
    PriorityRule(
        name="ImageLocalityPriority",
        place=110,
        run=Mapped(ImageLocality()),
        text="Nodes that have the pod's container images already.",
        formula=(
            "The bytes of the pod's images that the node has: 0 below 23Mi, 10 from 1000Mi on, in "
            "between 1 to 10 along a line."
        ),
        plugins=(ScorePlugin("ImageLocality", TENTHS),),
    ),
)
