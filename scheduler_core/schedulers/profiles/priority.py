"""The two kinds of priority, as kube-scheduler names them, and the common interface to run either.

A *PriorityFunction* scores the whole list of nodes at once. A *PriorityMapFunction* computes a value per
node, and a *PriorityReduceFunction* then converts the list of values to scores; they appear
in pairs, in which the Reduce may be missing. Both kinds result in a row A1N1, A1N2 ... of the matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.record.priority_row import PriorityKind
from scheduler_core.schedulers.columns.columns import Domains
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodCounts, PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.quirks import in_variant

MAX_PRIORITY = 10

Scores = IntVector | int  # (F,), or one number for all


class Scored(Struct, frozen=True):
    """One priority's result over the F feasible nodes; ``raw`` is ``None`` if it has no map step.

    A number as ``score`` is the score of every node. Both vectors may be live columns: to keep
    them beyond the cycle, copy them.
    """

    raw: IntVector | None
    score: Scores


class PriorityFunction(Protocol):
    """Score the whole list of nodes at once (algorithm.PriorityFunction)."""

    def function(self, pod: PodInfo, view: View, state: PodState) -> Scores:
        """Return the scores of the view's rows, ``(F,) int64``, or one for all."""


class PriorityMapFunction(Protocol):
    """Compute a value per node (algorithm.PriorityMapFunction)."""

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Return the value of each row, ``(R,) int64``; it depends on the row's own node only."""


class PriorityReduceFunction(Protocol):
    """Compare what Map returned (algorithm.PriorityReduceFunction)."""

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> Scores:
        """Convert the feasible nodes' values to scores, ``(F,) int64``, or one for all."""


class Priority(Protocol):
    """Score the feasible nodes for a pod, with either kind of function.

    The rows of ``view`` are the feasible nodes, so that ``(R,)`` and ``(F,)`` are the same.
    """

    @property
    def kind(self) -> PriorityKind:
        """The functions that it consists of."""

    @property
    def reads(self) -> Reads:
        """The fields that a score depends on."""

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Scored:
        """Return raw values and scores from 0 to 10, ``(F,) int64`` each."""


class Function(PriorityFunction, ABC):
    """A priority without a map step, and so without raw values."""

    reads: Reads
    kind: PriorityKind = "function"

    @abstractmethod
    def function(self, pod: PodInfo, view: View, state: PodState) -> Scores:
        """Return the scores of the whole list, ``(F,) int64``, or one for all."""

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Scored:
        """Call the function."""
        return Scored(None, self.function(pod, view, state))


class MapReduce(PriorityMapFunction, PriorityReduceFunction, ABC):
    """A priority that computes a value per node and then compares the values: a pair of Map and Reduce.

    ``scope`` is what the value of a node depends on.
    """

    scope: Scope
    reads: Reads
    kind: PriorityKind = "map/reduce"

    @abstractmethod
    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Return the value of each row, ``(R,) int64``; may be a live column."""

    @abstractmethod
    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> Scores:
        """Convert the feasible nodes' values to scores, ``(F,) int64``, or one for all."""


class MapOnly(MapReduce):
    """A priority whose Reduce is missing: the value is the score."""

    kind: PriorityKind = "map"

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:  # noqa: ARG002
        """Return the values unchanged."""
        return raw


class MapScaled(MapReduce):
    """A priority whose reduce step depends on the highest value only (priorities.NormalizeReduce)."""

    @abstractmethod
    def scale(self, raw: IntVector, most: int) -> IntVector:
        """Return the scores of values whose highest is ``most``; if that is 0, all scores are equal."""

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:  # noqa: ARG002
        """Scale to the highest value of a feasible node."""
        return self.scale(raw, int(raw.max(initial=0)))


class MapSpread(MapReduce):
    """A priority whose value of a node is a number of pods on it, compared with those of other domains."""

    @abstractmethod
    def counted(self, pod: PodInfo, view: View) -> PodCounts | None:
        """Return the live counts of the pods to spread the pod from, ``None`` if nothing selects the pod."""

    @abstractmethod
    def domains(self, view: View) -> Domains:
        """Return the domains that are compared."""

    @abstractmethod
    def spread(self, raw: IntVector, rows: IntVector, sizes: IntVector, view: View) -> Scores:
        """Return the scores of rows, each of which stands for ``sizes`` feasible nodes that are alike."""


class Mapped(Struct, frozen=True):
    """Run a :class:`MapReduce` as a :class:`Priority` (algorithm.PriorityConfig with Map and Reduce)."""

    steps: MapReduce

    def under(self, quirks: frozenset[str]) -> Mapped:
        """Return the priority with these quirks in force."""
        steps = in_variant(self.steps, quirks)
        return self if steps is self.steps else Mapped(steps)

    @property
    def kind(self) -> PriorityKind:
        """The functions that it consists of: with or without a reduce step."""
        return self.steps.kind

    @property
    def reads(self) -> Reads:
        """The fields that its steps read."""
        return self.steps.reads

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Scored:  # noqa: ARG002
        """Run the map step, then the reduce step."""
        raw = self.steps.map(pod, view)
        return Scored(raw, self.steps.reduce(raw, pod, view))
