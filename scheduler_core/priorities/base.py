"""The protocols of a priority: map and reduce, or all nodes in one go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.view import Scope, View
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


class MapReduce(ABC):
    """A priority that values each node by itself and then compares the values.

    ``scope`` says what the value of a node depends on.
    """

    scope: Scope

    @abstractmethod
    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Value each row, ``(R,) int64``."""

    @abstractmethod
    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:
        """Turn the feasible nodes' values into scores, ``(F,) int64``."""


class MapOnly(MapReduce):
    """A priority without a reduce step: the value is the score."""

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:  # noqa: ARG002
        """Leave the values as they are."""
        return raw


class MapScaled(MapReduce):
    """A priority whose reduce step needs to know the highest value only (priorities.NormalizeReduce)."""

    @abstractmethod
    def scale(self, raw: IntVector, most: int) -> IntVector:
        """Score values when ``most`` is the highest of them; at 0 every value scores alike."""

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:  # noqa: ARG002
        """Scale to the highest value of a feasible node."""
        return self.scale(raw, int(raw.max(initial=0)))


@dataclass(frozen=True, slots=True)
class Mapped:
    """Run a :class:`MapReduce` as a :class:`Priority` (algorithm.PriorityConfig with Map and Reduce)."""

    steps: MapReduce

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Scored:  # noqa: ARG002
        """Map, then reduce."""
        raw = self.steps.map(pod, view)
        return Scored(raw, self.steps.reduce(raw, pod, view))
