"""The two kinds of priority, as kube-scheduler names them, and what lets the engine run either.

A *PriorityFunction* scores the whole list of nodes in one go. A *PriorityMapFunction* values each
node by itself, and a *PriorityReduceFunction* then turns the list of values into scores; they appear
in pairs, of which the Reduce may be missing. Both kinds give a row A1N1, A1N2 ... of the matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.reads import Reads
from scheduler_core.cluster.view import Scope, View
from scheduler_core.objects.arrays import IntVector
from scheduler_core.priorities.row import PriorityKind
from scheduler_core.quirks import in_variant

MAX_PRIORITY = 10

Scores = IntVector | int  # (F,), or one number for all


@dataclass(frozen=True, slots=True)
class Scored:
    """One priority's result over the F feasible nodes; ``raw`` is ``None`` if it has no map step.

    A number as ``score`` is the score of every node. Both vectors may be live columns: who keeps
    them beyond the cycle copies them.
    """

    raw: IntVector | None
    score: Scores


class PriorityFunction(Protocol):
    """Score the whole list of nodes in one go (algorithm.PriorityFunction)."""

    def function(self, pod: PodInfo, view: View, state: PodState) -> Scores:
        """Return the scores of the view's rows, ``(F,) int64``, or one for all."""


class PriorityMapFunction(Protocol):
    """Value each node by itself (algorithm.PriorityMapFunction)."""

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Value each row, ``(R,) int64``; of a row nothing but its own node is asked."""


class PriorityReduceFunction(Protocol):
    """Compare what Map returned (algorithm.PriorityReduceFunction)."""

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> Scores:
        """Turn the feasible nodes' values into scores, ``(F,) int64``, or one for all."""


class Priority(Protocol):
    """Score the feasible nodes for a pod, by whichever kind of function it has.

    ``view`` shows the feasible nodes as its rows, so that ``(R,)`` and ``(F,)`` are the same.
    """

    @property
    def kind(self) -> PriorityKind:
        """Which functions it has."""

    @property
    def reads(self) -> Reads:
        """What a score depends on."""

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Scored:
        """Return raw values and scores from 0 to 10, ``(F,) int64`` each."""


class Function(PriorityFunction, ABC):
    """A priority without a map step, and so without raw values."""

    reads: Reads
    kind: PriorityKind = "function"

    @abstractmethod
    def function(self, pod: PodInfo, view: View, state: PodState) -> Scores:
        """Score the whole list, ``(F,) int64``, or with one score for all."""

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Scored:
        """Call the function."""
        return Scored(None, self.function(pod, view, state))


class MapReduce(PriorityMapFunction, PriorityReduceFunction, ABC):
    """A priority that values each node by itself and then compares the values: the two appear as a pair.

    ``scope`` says what the value of a node depends on.
    """

    scope: Scope
    reads: Reads
    kind: PriorityKind = "map/reduce"

    @abstractmethod
    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Value each row, ``(R,) int64``; may be a live column."""

    @abstractmethod
    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> Scores:
        """Turn the feasible nodes' values into scores, ``(F,) int64``, or one for all."""


class MapOnly(MapReduce):
    """A priority whose Reduce is missing: the value is the score."""

    kind: PriorityKind = "map"

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

    def under(self, quirks: frozenset[str]) -> Mapped:
        """Return the priority with these quirks in force."""
        steps = in_variant(self.steps, quirks)
        return self if steps is self.steps else Mapped(steps)

    @property
    def kind(self) -> PriorityKind:
        """Whether there is a reduce step."""
        return self.steps.kind

    @property
    def reads(self) -> Reads:
        """What its steps read."""
        return self.steps.reads

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Scored:  # noqa: ARG002
        """Map, then reduce."""
        raw = self.steps.map(pod, view)
        return Scored(raw, self.steps.reduce(raw, pod, view))
