"""What a simulation is to those who step it: the interface that v1.11's and the framework's share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, Self

from scheduler_core.cluster.state import Cluster
from scheduler_core.config.policy import Profile
from scheduler_core.objects.model import Pod
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.scheduling.cycle import Cycle, Decision, FinalState
from scheduler_core.scheduling.queue import SchedulingQueue
from scheduler_core.scheduling.strategy import Strategy


class Stepper(Protocol):
    """A scenario that steps. ``time`` is virtual seconds, ``deleted`` lists pods in order of deletion."""

    scenario: Scenario
    decisions: list[Decision]
    major: int
    minor: int

    @property
    def cluster(self) -> Cluster:
        """The cluster as it stands."""

    @property
    def queue(self) -> SchedulingQueue:
        """Who waits, as far as filtering asks: the nominated pods at least."""

    @property
    def cache(self) -> Strategy | None:
        """The equivalence cache, ``None`` where there is none."""

    @property
    def profile(self) -> Profile:
        """What filters and scores for the default scheduler's pods."""

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """What filters and scores, by the schedulerName of the pods."""

    @property
    def time(self) -> float:
        """Virtual seconds since the start."""

    @property
    def deleted(self) -> list[str]:
        """The keys of deleted pods, in order."""

    @property
    def last_node_index(self) -> int:
        """The round-robin counter."""

    @property
    def index(self) -> int:
        """How many cycles have run."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to try and no operation to come."""

    @property
    def rest(self) -> FinalState | None:
        """How it stands at the end, ``None`` while cycles are to come and where time stands still."""

    def profile_of(self, pod: Pod) -> Profile:
        """Return the profile that schedules a pod."""

    def responsible(self, pod: Pod) -> bool:
        """Tell whether this scheduler is responsible for a pod."""

    def __iter__(self) -> Iterator[Cycle]: ...

    def step(self) -> Cycle | None:
        """Run one cycle; ``None`` at the end of the run."""

    def peek(self) -> bool:
        """Let happen what comes before the next cycle; tell whether there is one."""

    def replay(self, decisions: Iterable[Decision]) -> None:
        """Go through cycles whose decisions are known."""

    def fork(self, *, trace: bool) -> Self:
        """Return another simulation that stands where this one does, and goes on by itself."""

    def record(self, *, trace: bool) -> None:
        """Record, from the next cycle on, what views need, or what is decided alone."""

    def placement(self) -> dict[str, str]:
        """Return the node of every pod, "" for a pending one, in creation order."""
