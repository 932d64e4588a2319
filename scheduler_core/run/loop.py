"""The loop of every run: operations land, a scheduler makes an attempt, its cycle is recorded and committed.

What passes between two attempts, and what an attempt is, differs by scheduler: a subclass says it. Step
numbers, operations, replay and forks are here alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar, Self

from msgspec.structs import replace

from scheduler_core.forks import Copier, Forkable, copied, flat
from scheduler_core.interrupts import look
from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.cache_record import CacheReport
from scheduler_core.record.cycle import Cycle, Decision, FinalState, Restart
from scheduler_core.run.agenda import Agenda
from scheduler_core.run.report import ReportedRun
from scheduler_core.scenario.scenario import Operation, Scenario, Selection
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.profiles.difference import differences
from scheduler_core.schedulers.profiles.profile import Profile


class Stepper(ReportedRun, Forkable):
    """A stepwise run of a scenario: iterate over it, or call :meth:`step`, for one Cycle at a time.

    ``decisions`` are those of the cycles so far. The next cycle is step ``major.minor + 1``: operations begin
    a major step. ``trace=False`` omits from each Cycle what only views need.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {"decisions": flat}

    decisions: list[Decision]
    major: int
    minor: int
    cluster: Cluster
    queue: Nominations
    """The queue as far as filtering reads it: at least the nominated pods."""
    cache: CacheReport | None = None
    """The equivalence cache; ``None`` if it is off, and for a release without one."""

    def __init__(self, scenario: Scenario, *, trace: bool) -> None:
        self.scenario = scenario
        self.decisions = []
        self.major, self.minor = 1, 0
        self._trace = trace
        self._configuration = self._before = scenario.configuration  # now, and in the last cycle
        self._agenda = Agenda.of(scenario.operations)
        self._landing: list[Operation] = []  # to be applied during the next cycle
        self._applied: list[str] = []  # ids of the operations since the last cycle
        self._restarted: list[str] = []  # ids of those that restarted the scheduler

    # What a subclass has

    @property
    @abstractmethod
    def profile(self) -> Profile:
        """The profile that filters and scores for the default scheduler's pods."""

    @property
    @abstractmethod
    def profiles(self) -> Mapping[str, Profile]:
        """The profiles by schedulerName."""

    @property
    @abstractmethod
    def time(self) -> float:
        """Virtual seconds since the start."""

    @property
    @abstractmethod
    def deleted(self) -> Sequence[str]:
        """The keys of deleted pods, in order of deletion."""

    @property
    @abstractmethod
    def _has_attempt(self) -> bool:
        """Whether a pod can be tried now."""

    @abstractmethod
    def _advance(self) -> bool:
        """Let operations land and time pass until a pod can be tried; return False at the end of the run."""

    @abstractmethod
    def _cycle(self) -> Cycle | None:
        """Make the attempt that is due and commit it; ``None`` for one that no cycle records."""

    @abstractmethod
    def _repeat(self, decision: Decision) -> bool:
        """Make the attempt that is due as it was decided; return whether a cycle records it.

        Raises:
            ValueError: The attempt is about another pod, or decides otherwise.
        """

    @abstractmethod
    def _write(self, operation: Operation) -> None:
        """Create, update or delete the object of an operation."""

    @abstractmethod
    def _restart(self, operation: Operation) -> None:
        """Restart the scheduler with the configuration of an operation."""

    @abstractmethod
    def record(self, *, trace: bool) -> None:
        """Set whether cycles record, from the next one on, what views need or only the decisions."""

    def responsible(self, pod: Pod) -> bool:
        """Return whether a scheduler of this run is responsible for a pod."""
        return pod.scheduler_name in self.profiles

    def profile_of(self, pod: Pod) -> Profile:
        """Return the profile that schedules a pod; the main one for a pod of another scheduler."""
        return self.profiles.get(pod.scheduler_name, self.profile)

    @property
    def rest(self) -> FinalState | None:
        """The state at the end of the run; ``None`` while cycles remain, and if the last cycle ends it."""
        return None

    # Steps

    @property
    def counter(self) -> int:
        """The round-robin counter, which breaks ties; 0 for a release without one."""
        return 0

    @property
    def index(self) -> int:
        """The number of cycles that have run."""
        return len(self.decisions)

    @property
    def single_cycles(self) -> int:
        """The number of cycles that are replayed one by one, which takes about as long as they did."""
        return self.index

    @property
    def done(self) -> bool:
        """Whether no cycle remains; advances to the next cycle."""
        return not self.peek()

    def __iter__(self) -> Iterator[Cycle]:
        while (cycle := self.step()) is not None:
            yield cycle

    def step(self) -> Cycle | None:
        """Run one scheduling cycle and return its record; ``None`` at the end of the run."""
        while self._advance():
            cycle = self._cycle()
            if cycle is not None:
                return cycle
        return None

    def peek(self) -> bool:
        """Advance to the next cycle; return False at the end of the run."""
        return self._advance()

    def replay(self, decisions: Iterable[Decision], begun: Callable[[], object] | None = None) -> None:
        """Repeat cycles whose decisions are known, without recording what views need.

        ``begun`` is called before each cycle, and before a stretch of cycles that are repeated at once.

        Raises:
            ValueError: No pod is left to schedule, or a cycle is about another pod or decides otherwise.
        """
        left = list(decisions)
        first = 0
        with self._replaying():
            while first < len(left):
                if begun is not None:
                    begun()
                found = self._repeat_stretch(left, first)
                if not found:
                    self._require_attempt(left[first])
                    while not self._repeat(left[first]):
                        self._require_attempt(left[first])
                first += found or 1

    def _repeat_stretch(self, decisions: Sequence[Decision], first: int) -> int:
        """Repeat as many decisions from the first on as can be at once; return their number."""
        del decisions, first
        return 0

    def _committed(self, decisions: Sequence[Decision]) -> None:
        """Count the cycles of a stretch."""
        self.decisions += decisions
        self._applied, self._restarted = [], []
        self._before = self._configuration
        self.minor += len(decisions)

    @property
    def undoable(self) -> int:
        """The number of cycles that are kept to be undone where that takes memory worth counting."""
        return 0

    def rewind(self, index: int) -> bool:
        """Go back to the state after cycle ``index`` if that is cheap; return whether it did."""
        del index
        return False

    def _replaying(self) -> AbstractContextManager[None]:
        """Return a context in which cycles record only decisions."""
        return nullcontext()

    def _require_attempt(self, decision: Decision) -> None:
        if not self._advance():
            raise ValueError(
                f"cycle {self.index + 1}: no pod is left to schedule, but a decision for {decision.pod}"
            )

    def _require_pod(self, pod: str, decision: Decision) -> None:
        if pod != decision.pod:
            raise ValueError(f"cycle {self.index + 1} is about {pod}, the decision about {decision.pod}")

    def _require_same(self, made: Decision, decision: Decision) -> None:
        if made != decision:
            raise ValueError(f"cycle {self.index + 1} decides {made}, not {decision}")

    @property
    def is_copyable(self) -> bool:
        """Whether a fork is a copy now, rather than a run that repeats all decisions."""
        return True

    def when_copyable(self, act: Callable[[], object]) -> None:
        """Call ``act`` once when a fork is a copy: at once, or while the run advances to its next cycle."""
        act()

    @property
    def is_ahead(self) -> bool:
        """Whether it is a copy that was made while the run advanced beyond its last cycle."""
        return False

    def fork(self, *, trace: bool) -> Self:
        """Return an independent copy at the current step, which records with ``trace``.

        Objects, decisions and what is compiled are shared because nothing changes them.
        """
        other: Self = copied(self, {id(shared): shared for shared in self._unchanging()})
        other.record(trace=trace)
        return other

    # Branches: another scenario, which differs by operations alone, goes on from where it parts from this one

    def parts_from(self, scenario: Scenario) -> float | None:
        """Return the second from which another scenario differs from this run's, infinity for never.

        ``None`` if it has to be run from its start, or differs after a number of cycles.
        """
        del scenario
        return None

    def keep_before(self, second: float) -> None:
        """Keep a fork of the moment at which an operation of this second would land, for :meth:`branched`."""
        del second

    def stop_after(self, second: float) -> None:
        """Have the run end before anything that comes after a second, where time passes."""
        del second

    def has_kept(self, second: float) -> bool:
        """Return whether that moment has come."""
        del second
        return False

    def branched(self, scenario: Scenario, *, trace: bool) -> Stepper | None:
        """Return a run of another scenario that goes on where it parts from this one, or earlier.

        ``None`` if it has to be run from its start, or if this run is beyond and has kept no fork.
        """
        del scenario, trace
        return None

    def discard(self) -> None:
        """Let go of the run, which is not used again, without waiting for a garbage collection.

        One that does not refer to itself is freed with its last reference.
        """

    def _unchanging(self) -> Iterator[object]:
        """Yield what a fork shares with this run."""
        yield self.scenario
        yield self._configuration
        yield self._before
        yield self._agenda.steps
        yield from self.scenario.operations

    def placement(self) -> dict[str, str]:
        """Return the node of every pod, "" for a pending one, in creation order; waiting pods hold theirs."""
        pods = sorted(self.cluster.pods.values(), key=lambda pod: pod.order)
        return {pod.key: pod.node_name for pod in pods}

    # Operations

    def _land_next(self) -> None:
        """Apply the next operations; those that land during a cycle wait for one if a pod can be tried."""
        step, operations = self._agenda.take()
        self.major, self.minor = step + 1, 0
        for operation in operations:
            look()
            self._pass_to_operation(operation)
            self._applied.append(operation.id)
            if self._waits_for_cycle(operation):
                self._landing.append(operation)
            else:
                self._land_on(operation)
        if not self._has_attempt:
            self._land()

    def _pass_to_operation(self, operation: Operation) -> None:
        """Let time pass to that of an operation."""

    def _waits_for_cycle(self, operation: Operation) -> bool:
        """Return whether an operation lands during the next cycle."""
        return operation.during

    def _land(self) -> None:
        """Apply the operations that land during a cycle."""
        landing, self._landing = self._landing, []
        for operation in landing:
            self._land_on(operation)

    def _land_on(self, operation: Operation) -> None:
        """Apply an operation, to each of the pods that it selects."""
        if operation.selection is None:
            self._operate(operation)
            return
        for key in self._selected(operation.selection):
            self._operate(replace(operation, key=key, selection=None))

    def _selected(self, selection: Selection) -> Iterable[str]:
        """Return the keys of the pods that an operation is about, in their order."""
        del selection
        return ()

    def _operate(self, operation: Operation) -> None:
        if operation.configuration is not None:
            self._restart(operation)
        else:
            self._write(operation)

    # The record

    def _complete(self, cycle: Cycle) -> None:
        """Set the fields that only the run knows."""
        cycle.index = self.index + 1
        cycle.step = f"{self.major}.{self.minor + 1}"
        cycle.operations = tuple(self._applied)
        if self._restarted:
            cycle.restart = Restart(tuple(self._restarted), self._differences())

    def _differences(self) -> tuple[str, ...]:
        """Return what the scheduler's restart has changed in its policy."""
        return tuple(differences(self._before.profile, self._configuration.profile))

    def _commit(self, decision: Decision) -> None:
        """Count a cycle."""
        self._committed((decision,))
