"""How many pods of each workload were ready over virtual time, against how many its owner desires."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct


class AvailabilitySample(NamedTuple):
    """The pods of a workload from a moment on, in virtual seconds, until the next one of its series.

    ``ready`` are Running, ready and not being deleted; ``pending`` have no node. A pod that is bound and not
    ready yet counts only for what is desired.
    """

    at: float
    desired: int
    ready: int
    pending: int
    terminating: int


class WorkloadAvailability(Struct, frozen=True, kw_only=True, rename="camel"):
    """One workload over a run. Times are virtual seconds.

    What is counted as below desired begins when as many pods as desired were first ready (``complete_at``),
    or with the workload if they never were. ``fewest_ready`` and ``fewest_at`` cover the same span, as far as
    any pod is desired. ``below_until`` is ``None`` while it still is below; ``longest`` is the longest time
    below in one piece.
    """

    kind: str
    key: str  # namespace/name; both are "" for pods without a controller
    moments: tuple[AvailabilitySample, ...]
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
    def last(self) -> AvailabilitySample:
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


class Availability(Struct, frozen=True, kw_only=True, rename="camel"):
    """All workloads over a run up to ``until``, those that were below desired longest first.

    ``total`` sums all workloads, those beyond the bound (``left_out``) included. ``calm_at`` is the last
    change of any of them.
    """

    until: float
    calm_at: float
    total: WorkloadAvailability
    workloads: tuple[WorkloadAvailability, ...]
    left_out: int = 0
    failed: tuple[str, ...] = ()  # a sentence for each drain, eviction or rollout that came to nothing
