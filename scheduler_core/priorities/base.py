"""The two protocols of a priority: map and reduce, or all nodes in one go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.view import View
from scheduler_core.cycle import IntVector

MAX_PRIORITY = 10


@dataclass(frozen=True, slots=True)
class Scored:
    """One priority's result over the F feasible nodes; ``raw`` is ``None`` if it has no map step."""

    raw: IntVector | None
    score: IntVector


class Priority(Protocol):
    """Score the feasible nodes for a pod.

    ``view`` shows the feasible nodes as its rows, so that ``(R,)`` and ``(F,)`` are the same.
    """

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Scored:
        """Return raw values and scores from 0 to 10, ``(F,) int64`` each."""


class MapReduce(Protocol):
    """A priority that values each node by itself and then compares the values."""

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Value each row, ``(R,) int64``."""

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:
        """Turn the feasible nodes' values into scores, ``(F,) int64``."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """Run a :class:`MapReduce` as a :class:`Priority` (algorithm.PriorityConfig with Map and Reduce)."""

    steps: MapReduce

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Scored:  # noqa: ARG002
        """Map, then reduce."""
        raw = self.steps.map(pod, view)
        return Scored(raw, self.steps.reduce(raw, pod, view))
