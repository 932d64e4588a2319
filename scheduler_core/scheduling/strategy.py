"""What a scheduler may do to evaluate less: one protocol for the equivalence cache, batching and nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from scheduler_core.cluster.events import ClusterEvent
from scheduler_core.cluster.pods import PodState
from scheduler_core.objects.arrays import IntVector
from scheduler_core.scheduling.cache_record import CacheRecord, Counts
from scheduler_core.scheduling.vectors import ClassVectors, KnownOutcomes

NodeIndices = npt.NDArray[np.int32]
Trial = Callable[[str], tuple[bool, int]]
"""Check a pod on one node alone: whether it fits, and how many predicates were asked about that."""


class Strategy:
    """Evaluate everything, for every pod anew; what saves evaluations overrides what it has a say in.

    In a cycle's order: :meth:`begin`; :meth:`offer`, :meth:`answers` and :meth:`asked` while it is decided,
    then :meth:`placed` or :meth:`failed`; :meth:`handle` for what lands between evaluating and writing,
    :meth:`write`, :meth:`handle` for what the decision changes, :meth:`finish`. One that was restarted with
    the scheduler knows nothing of what was before.
    """

    ranks = False  # whether it lives on what was ranked: it makes offers, and has to see known decisions made
    exact = True  # whether every answer is what a fresh evaluation would find

    def __init__(self) -> None:
        self.totals = Counts()

    @property
    def bytes(self) -> int:
        """How much what is kept takes now."""
        return 0

    # What becomes of pods and other objects

    def know(self, pod: PodState) -> None:
        """Take note of a pod that came, or changed."""

    def forget(self, key: str) -> None:
        """Take note that a pod is gone."""

    def handle(self, event: ClusterEvent | None) -> None:
        """Take note of a change; called after pods changed, and before nodes, storage or services do."""

    # A cycle

    def begin(self, cycle: int, time: float) -> None:
        """Begin a cycle, counted from 1, at a moment of virtual time."""

    def offer(self, pod: PodState, fits: Trial) -> str | None:  # noqa: ARG002
        """Name a node that the pod goes to without a look at the others; ``None`` to look at all."""
        return None

    def answers(self, pod: PodState, vectors: ClassVectors | None) -> KnownOutcomes | None:  # noqa: ARG002
        """Return what answers for the pod's predicates; ``vectors`` are what pods of its class share."""
        return vectors

    def asked(self, pairs: int) -> None:
        """Take note of how many pairs of predicate and node had to be answered."""

    def placed(self, pod: PodState, node: int, feasible: NodeIndices, totals: IntVector | None) -> None:
        """Take note that a pod goes to ``node``, and how the feasible ones, ``(F,)``, were ranked if so."""

    def failed(self) -> None:
        """Take note that the pod was not placed."""

    def write(self) -> None:
        """Keep what was evaluated, now that all has landed that lands inside the cycle."""

    def finish(self, message: str | None = None) -> CacheRecord:  # noqa: ARG002
        """End the cycle and tell of it; ``message`` is what ended it, if no node was chosen."""
        return CacheRecord("off", "")

    def report(self) -> Iterator[str]:
        """Yield what was done in the whole run, line by line."""
        yield from ()


EVALUATE_ALL = Strategy()
