"""How many pods of each workload were ready over virtual time, against how many its owner desires."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct

COLUMNS = ("at", "desired", "ready", "pending", "terminating")
"""The columns of a series, in the order of :class:`Moment`'s fields."""


class Moment(NamedTuple):
    """The pods of a workload from a moment on, in virtual seconds, until the next one of its series.

    ``ready`` are Running, ready and not being deleted; ``pending`` have no node. A pod that is bound and not
    ready yet counts only for what is desired.
    """

    at: float
    desired: int
    ready: int
    pending: int
    terminating: int


class WorkloadAvailability(Struct, frozen=True, kw_only=True):
    """One workload over a run. Times are virtual seconds.

    What is counted as below desired begins when as many pods as desired were first ready (``complete_at``),
    or with the workload if they never were. ``fewest_ready`` and ``fewest_at`` cover the same span, as far as
    any pod is desired. ``below_until`` is ``None`` while it still is below; ``longest`` is the longest time
    below in one piece.
    """

    kind: str
    key: str  # namespace/name; both are "" for pods without a controller
    moments: tuple[Moment, ...]
    complete_at: float | None = None
    fewest_ready: int = 0
    fewest_at: float = 0.0
    most_ready: int = 0
    most_pending: int = 0
    below: float = 0.0
    below_from: float | None = None
    below_until: float | None = None
    longest: float = 0.0
    longest_from: float | None = None
    evicted: int = 0  # by the eviction API and by NoExecute taints
    refused: int = 0  # pods whose eviction a PodDisruptionBudget refused at least once
    preempted: int = 0

    @property
    def last(self) -> Moment:
        """The state at the end."""
        return self.moments[-1]

    @property
    def is_below(self) -> bool:
        """Whether fewer pods are ready at the end than are desired."""
        return self.last.ready < self.last.desired

    @property
    def name(self) -> str:
        """``Kind namespace/name``, for people."""
        return f"{self.kind} {self.key}" if self.kind else "pods without a controller"

    def document(self) -> dict[str, Any]:
        """Return the workload as a JSON object; times to the millisecond."""
        now = self.last
        return {
            "kind": self.kind,
            "key": self.key,
            "desired": now.desired,
            "ready": now.ready,
            "pending": now.pending,
            "terminating": now.terminating,
            "completeAt": _ms(self.complete_at),
            "fewestReady": self.fewest_ready,
            "fewestAt": _ms(self.fewest_at),
            "mostReady": self.most_ready,
            "mostPending": self.most_pending,
            "below": _ms(self.below),
            "belowFrom": _ms(self.below_from),
            "belowUntil": _ms(self.below_until),
            "longest": _ms(self.longest),
            "longestFrom": _ms(self.longest_from),
            "evicted": self.evicted,
            "refused": self.refused,
            "preempted": self.preempted,
            "moments": [[_ms(one.at), *one[1:]] for one in self.moments],
        }


class Availability(Struct, frozen=True, kw_only=True):
    """All workloads over a run up to ``until``, those that were below desired longest first.

    ``total`` sums all workloads, those beyond the bound (``left_out``) included. ``calm_at`` is the last
    change of any of them.
    """

    until: float
    calm_at: float
    total: WorkloadAvailability
    workloads: tuple[WorkloadAvailability, ...]
    left_out: int = 0

    def document(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "until": _ms(self.until),
            "calmAt": _ms(self.calm_at),
            "columns": list(COLUMNS),
            "total": self.total.document(),
            "workloads": [one.document() for one in self.workloads],
            "leftOut": self.left_out,
        }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
