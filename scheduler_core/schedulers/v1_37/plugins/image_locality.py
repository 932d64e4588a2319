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
        nodes = ctx.nodes
        total = np.zeros(len(rows), np.int64)
        counted, number = self.images(ctx.pod)
        if not number:
            return total
        for name in counted:
            image = nodes.images.get(name)
            if image is not None:
                spread = image.counts[rows] / len(nodes.order)
                total += (image.sizes[rows] * spread).astype(np.int64)
        most = _MOST * number
        return MAX_SCORE * (np.clip(total, _LEAST, most) - _LEAST) // (most - _LEAST)

    @staticmethod
    def images(pod: CompiledPod) -> tuple[list[str], int]:
        """Return the images that count, and how many the greatest sum is for: here as many."""
        counted = [*images_of_containers(pod), *images_of_volumes(pod)]
        return counted, len(counted)


def images_of_containers(pod: CompiledPod) -> list[str]:
    """Return the image of each container."""
    return [image_name(one.get("image") or "") for one in (*pod.init_containers, *pod.containers)]


def images_of_volumes(pod: CompiledPod) -> list[str]:
    """Return the image of each image volume."""
    sources = [volume["image"] for volume in pod.volumes if volume.get("image")]
    return [image_name(source.get("reference") or "") for source in sources]


def _signed(pod: CompiledPod, arguments: Arguments) -> Any:
    del arguments
    return sorted(set(images_of_containers(pod)))


PLUGIN = Declared(
    "ImageLocality",
    "score",
    rank=180,
    weight=1,
    prefers="nodes that have the pod's images already",
    formula="sum of the sizes of present images, each times its share of nodes, scaled to 0–100 between "
    "23 MiB and 1000 MiB per image",
    signs=_signed,
    reuse=Reused(score="own"),
    code=ImageLocality(),
)
