"""Strategies to save evaluations: one interface for the equivalence cache, batching and neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.record.cache_record import CacheRecord, Counts
from scheduler_core.schedulers.columns.events import InvalidationEvent
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.v1_11.vectors import ClassVectors, KnownOutcomes

NodeIndices = npt.NDArray[np.int32]
Trial = Callable[[str], tuple[bool, int]]
"""Checks a pod on one node alone: returns whether it fits, and how many predicates were checked."""


class EvaluationStrategy:
    """Evaluates everything again for every pod; subclasses that save evaluations override what they need.

    The calls in a cycle, in order: :meth:`begin`; :meth:`offer`, :meth:`answers` and :meth:`asked` during the
    decision, then :meth:`placed` or :meth:`failed`; :meth:`handle` for events between evaluation and write;
    :meth:`write`; :meth:`handle` for the changes of the decision; :meth:`finish`. A restart of the scheduler
    begins with an empty strategy.
    """

    ranks = False  # whether it uses rankings: it offers nodes, and a replay must rank known decisions again
    exact = True  # whether every answer equals that of a fresh evaluation

    def __init__(self) -> None:
        self.totals = Counts()

    @property
    def bytes(self) -> int:
        """The memory in use now, in bytes."""
        return 0

    # Changes of pods and other objects

    def know(self, pod: PodState) -> None:
        """Handle a pod that was created or updated."""

    def forget(self, key: str) -> None:
        """Handle a pod that was deleted."""

    def handle(self, event: InvalidationEvent | None) -> None:
        """Handle an event; called after a change of pods, before a change of nodes, storage or services."""

    # A cycle

    def begin(self, cycle: int, time: float) -> None:
        """Begin a cycle, numbered from 1, at a virtual time."""

    def offer(self, pod: PodState, fits: Trial) -> str | None:  # noqa: ARG002
        """Return a node to schedule the pod to without evaluating the others; ``None`` to evaluate all."""
        return None

    def answers(self, pod: PodState, vectors: ClassVectors | None) -> KnownOutcomes | None:  # noqa: ARG002
        """Return the known outcomes of the pod's predicates; ``vectors`` are those that its class shares."""
        return vectors

    def asked(self, pairs: int) -> None:
        """Record how many (predicate, node) pairs had to be answered."""

    def placed(self, pod: PodState, node: int, feasible: NodeIndices, totals: IntVector | None) -> None:
        """Record that a pod is scheduled to ``node``, and the feasible nodes' totals, ``(F,)``, if ranked."""

    def failed(self) -> None:
        """Record that the pod was not scheduled."""

    def write(self) -> None:
        """Store what was evaluated, after all events that arrive within the cycle."""

    def finish(self, message: str | None = None) -> CacheRecord:  # noqa: ARG002
        """End the cycle and return its record; ``message`` is the failure message if no node was chosen."""
        return CacheRecord("off", "")

    def report(self) -> Iterator[str]:
        """Yield the lines of a report on the whole run."""
        yield from ()


EVALUATE_ALL = EvaluationStrategy()
