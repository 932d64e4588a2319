"""The interface of a stepwise simulation, shared by v1.11's and the framework's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, Self, runtime_checkable

from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.cycle import Cycle, Decision, FinalState
from scheduler_core.run.reported import ReportedRun
from scheduler_core.schedulers.v1_11.columns.state import Cluster
from scheduler_core.schedulers.v1_11.policy import Profile
from scheduler_core.schedulers.v1_11.queue import PriorityQueue
from scheduler_core.schedulers.v1_11.strategy import Strategy


class Stepper(ReportedRun, Protocol):
    """A stepwise run of a scenario. ``time`` is virtual seconds; ``deleted`` is in order of deletion."""

    decisions: list[Decision]
    major: int
    minor: int

    @property
    def cluster(self) -> Cluster:
        """The current cluster."""

    @property
    def queue(self) -> PriorityQueue:
        """The queue as far as filtering reads it: at least the nominated pods."""

    @property
    def profile(self) -> Profile:
        """The profile that filters and scores for the default scheduler's pods."""

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """The profiles by schedulerName."""

    @property
    def time(self) -> float:
        """Virtual seconds since the start."""

    @property
    def deleted(self) -> list[str]:
        """The keys of deleted pods, in order."""

    @property
    def index(self) -> int:
        """The number of cycles that have run."""

    @property
    def done(self) -> bool:
        """Whether no pod is left to schedule and no operation is outstanding."""

    @property
    def rest(self) -> FinalState | None:
        """The state at the end of the run; ``None`` while cycles remain, and without virtual time."""

    def profile_of(self, pod: Pod) -> Profile:
        """Return the profile that schedules a pod."""

    def responsible(self, pod: Pod) -> bool:
        """Return whether this scheduler is responsible for a pod."""

    def __iter__(self) -> Iterator[Cycle]: ...

    def step(self) -> Cycle | None:
        """Run one cycle; ``None`` at the end of the run."""

    def peek(self) -> bool:
        """Advance to the next cycle; return False at the end of the run."""

    def replay(self, decisions: Iterable[Decision]) -> None:
        """Replay cycles whose decisions are known."""

    def fork(self, *, trace: bool) -> Self:
        """Return an independent copy at the current step."""

    def record(self, *, trace: bool) -> None:
        """Set whether cycles record, from the next one on, what views need or only the decisions."""

    def placement(self) -> dict[str, str]:
        """Return the node of every pod, "" for a pending one, in creation order."""


@runtime_checkable
class CachingStepper(Protocol):
    """A stepwise run that may have an equivalence cache."""

    @property
    def cache(self) -> Strategy | None:
        """The equivalence cache, ``None`` if it is off."""


@runtime_checkable
class CountingStepper(Protocol):
    """A stepwise run with a round-robin counter."""

    @property
    def last_node_index(self) -> int:
        """The counter, which breaks ties."""


def cache_of(simulation: Stepper) -> Strategy | None:
    """Return the equivalence cache of a run, ``None`` if it has none."""
    return simulation.cache if isinstance(simulation, CachingStepper) else None


def counter_of(simulation: Stepper) -> int:
    """Return the round-robin counter of a run, 0 if it has none."""
    return simulation.last_node_index if isinstance(simulation, CountingStepper) else 0
