"""A function of utilization given by points, linear between them and flat outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from scheduler_core.schedulers.v1_37.nodes import Ints

Shape = tuple[tuple[int, int], ...]
"""Points of utilization (0 to 100) and score (0 to 100)."""


def read_shape(points: Sequence[Mapping[str, Any]] | None, default: Shape) -> Shape:
    """Read ``shape`` of a plugin's arguments; its scores are of 0 to 10."""
    if not points:
        return default
    return tuple((int(p.get("utilization") or 0), 10 * int(p.get("score") or 0)) for p in points)


def evaluate(shape: Shape, utilization: Ints) -> Ints:
    """Evaluate the function with integer arithmetic (helper.BuildBrokenLinearFunction)."""
    out = np.full_like(utilization, shape[-1][1])
    for (x0, y0), (x1, y1) in reversed(list(pairwise(shape))):
        within = utilization <= x1
        product = (y1 - y0) * (utilization[within] - x0)
        out[within] = y0 + np.sign(product) * (np.abs(product) // (x1 - x0))
    out[utilization <= shape[0][0]] = shape[0][1]
    return out
