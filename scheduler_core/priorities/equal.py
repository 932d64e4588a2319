"""EqualPriority: every node alike."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.view import View
from scheduler_core.cycle import IntVector


class Equal:
    """Score 1 everywhere (core.EqualPriorityMap)."""

    def map(self, pod: PodInfo, view: View) -> IntVector:  # noqa: ARG002
        """Value 1."""
        return np.ones(view.size, np.int64)

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:  # noqa: ARG002
        """Leave the values as they are."""
        return raw
