"""ImageLocalityPriority: prefer nodes that already have the pod's images."""

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
    shortened,
    truncated,
    unit_of,
)
from scheduler_core.schedulers.v1_11.priorities.rule import TENTHS, PriorityRule, ScorePlugin

MIB = 1024 * 1024
LEAST = 23 * MIB
MOST = 1000 * MIB


class ImageLocalityPriority(MapOnly):
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


def _describe(asked: LineQuestion, rule: ImageLocalityPriority) -> Description:  # noqa: ARG001
    """Describe the scaled sum of the sizes of the images on the node."""
    found = [
        (image, asked.cluster.columns.images.get(image, {}).get(asked.node, 0))
        for image in asked.pod.info.images
    ]
    total = sum(size for _, size in found)
    lines = shortened([_image(image, size) for image, size in found], "images")
    unit, size = unit_of(total, LEAST, MOST)
    low, high, there = number(LEAST // size), number(MOST // size), number(total // size)
    lines.append(FormulaLine(f"together, in {unit}", "the sizes added up", "", there))
    if total < LEAST:
        lines.append(FormulaLine("score", "0 below 23Mi", f"{there} < {low}", "0"))
    elif total >= MOST:
        lines.append(FormulaLine("score", "10 from 1000Mi", f"{there} ≥ {high}", number(MAX_PRIORITY)))
    else:
        scaled = MAX_PRIORITY * (total - LEAST) / (MOST - LEAST) + 1
        numbers = f"{MAX_PRIORITY} × ({there} − {low}) / ({high} − {low}) + 1"
        lines.append(truncated("score", "10 × (sum − 23Mi) / (1000Mi − 23Mi) + 1", numbers, scaled))
    return Description("Nodes that hold the pod's container images already.", tuple(lines))


def _image(image: str, size: int) -> FormulaLine:
    unit, whole = unit_of(size) if size else ("bytes", 1)
    return FormulaLine(
        f"{image}, in {unit}", "its size on the node; 0 if it is not there", "", number(size // whole)
    )


RULES = (
    PriorityRule(
        name="ImageLocalityPriority",
        place=110,
        run=Mapped(ImageLocalityPriority()),
        text="Nodes that have the pod's container images already.",
        formula=(
            "The bytes of the pod's images that the node has: 0 below 23Mi, 10 from 1000Mi on, in "
            "between 1 to 10 along a line."
        ),
        plugins=(ScorePlugin("ImageLocality", TENTHS),),
        describe=_describe,
    ),
)
