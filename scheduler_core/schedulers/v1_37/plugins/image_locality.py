"""ImageLocality: prefer nodes that have the pod's images already, the larger the better."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_core.schedulers.v1_37.plugins.base import MAX_SCORE, Context, Ints, Plugin, Rows
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared, Reused
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments

_MIB = 1024 * 1024
_LEAST = 23 * _MIB
_MOST = 1000 * _MIB


def image_name(name: str) -> str:
    """Return the name with its tag (normalizedImageName)."""
    return name + ":latest" if name.rfind(":") <= name.rfind("/") else name


class ImageLocality(Plugin):
    """Sizes of present images, scaled by how widely each is spread."""

    key = "ImageLocality"

    def score(self, ctx: Context, rows: Rows) -> Ints:
        """Sum the scaled sizes and map them to 0 to 100."""
        nodes, pod = ctx.nodes, ctx.pod
        containers = (*pod.init_containers, *pod.containers)
        total = np.zeros(len(rows), np.int64)
        if not containers:
            return total
        for container in containers:
            image = nodes.images.get(image_name(container.get("image") or ""))
            if image is not None:
                spread = image.counts[rows] / len(nodes.order)
                total += (image.sizes[rows] * spread).astype(np.int64)
        most = _MOST * len(containers)
        return MAX_SCORE * (np.clip(total, _LEAST, most) - _LEAST) // (most - _LEAST)


def _signed(pod: CompiledPod, arguments: Arguments) -> Any:
    del arguments
    containers = (*pod.containers, *pod.init_containers)
    return sorted({image_name(container.get("image") or "") for container in containers})


PLUGIN = Declared(
    "ImageLocality",
    "score",
    rank=180,
    weight=1,
    prefers="nodes that have the pod's images already",
    formula="sum of the sizes of present images, each times its share of nodes, scaled to 0–100 between "
    "23 MiB and 1000 MiB per container",
    signs=_signed,
    reuse=Reused(score="own"),
    code=ImageLocality(),
)
