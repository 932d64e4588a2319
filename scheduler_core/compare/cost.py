"""Measure the benefit of the cache: one workload without a cache, with a cache and with batching."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.compare.compare import last_nodes
from scheduler_core.compare.outcome import CycleOutcome, outcome
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.record.cache_record import Counts
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.instant import Simulation
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.settings.settings import CACHE_MODES

STRATEGIES = ("off", "sound", "batching")
SHORT_SECONDS = 2.0  # of all strategies together; shorter runs are timed twice


class Progress(Struct, frozen=True):
    """The progress of a measurement: ``done`` of ``total`` expected cycles of all strategies have run."""

    strategy: str
    done: int
    total: int


class Cost(Struct, frozen=True):
    """The cost of one strategy's run.

    ``evaluations`` are pairs of predicate and node, ``hits`` those that the cache served instead; neither
    includes the dry runs of preemption. ``lookups`` are hits and misses. For batching, a lookup is a pod that
    requests a kept ranking, a hit one that is placed on the offered node, a write a ranking that is kept,
    and an invalidated entry one that is flushed. ``bytes`` is the maximum size of the cache or ranking.
    ``seconds`` is CPU time of scheduling only: without a trace, and without the results that this engine
    shares between the pods of a template regardless of the strategy. ``first`` is the first cycle whose
    outcome differs from that of the strategy compared with, and ``differing`` the number of pods that end on
    another node, or on none.
    """

    strategy: str
    cycles: int
    placed: int
    evaluations: int
    hits: int
    lookups: int
    writes: int
    invalidated: int
    bytes: int
    seconds: float
    first: int | None
    differing: int

    @property
    def operations(self) -> int:
        """The sum of lookups, writes and invalidated entries."""
        return self.lookups + self.writes + self.invalidated

    @property
    def per_pod(self) -> float:
        """Microseconds per cycle."""
        return self.seconds / self.cycles * 1e6 if self.cycles else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return this as a JSON object."""
        return {
            "strategy": self.strategy,
            "cycles": self.cycles,
            "placed": self.placed,
            "evaluations": self.evaluations,
            "hits": self.hits,
            "lookups": self.lookups,
            "writes": self.writes,
            "invalidated": self.invalidated,
            "operations": self.operations,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 4),
            "microsecondsPerCycle": round(self.per_pod, 1),
            "firstDifference": self.first,
            "placementsDiffering": self.differing,
        }


def with_cache(scenario: Scenario, **settings: Any) -> Scenario:
    """Return a scenario with these cache settings throughout.

    An operation that restarts the scheduler keeps all its other changes, and the scenario its release, even
    if it is the cache alone that chose it.
    """

    def changed(operation: Operation) -> Operation:
        new = operation.configuration
        if new is None:
            return operation
        return replace(operation, configuration=replace(new, settings=replace(new.settings, **settings)))

    operations = tuple(changed(operation) for operation in scenario.operations)
    return replace(
        scenario,
        operations=operations,
        settings=replace(scenario.settings, **settings),
        presumed=scenario.release,
        kubelets="",
    )


def strategies_for(scenario: Scenario) -> tuple[str, ...]:
    """Return the cache modes to compare, including the scenario's own, in the order of ``CACHE_MODES``.

    A mode that the policy excludes, as extenders exclude batching, is left out.
    """
    own = scenario.settings.cache
    return tuple(
        mode for mode in CACHE_MODES if mode == own or (mode in STRATEGIES and _is_usable(scenario, mode))
    )


def _is_usable(scenario: Scenario, mode: str) -> bool:
    try:
        return all(one.profiles for one in with_cache(scenario, cache=mode).configurations)
    except PolicyError:
        return False


def measure_costs(scenario: Scenario, strategies: Iterable[str] | None = None) -> list[Cost]:
    """Run a scenario under each strategy (default :func:`strategies_for`); the first is the baseline.

    Raises:
        PolicyError: The scenario's policy cannot be used.
    """
    work = measuring(scenario, strategies)
    while True:
        try:
            next(work)
        except StopIteration as end:
            costs: list[Cost] = end.value
            return costs


def measuring(
    scenario: Scenario,
    strategies: Iterable[str] | None = None,
    *,
    clock: Callable[[], float] = time.thread_time,
) -> Generator[Progress, None, list[Cost]]:
    """Do the work of :func:`measure_costs`, yielding after every cycle; any thread may resume it."""
    names = tuple(strategies_for(scenario) if strategies is None else dict.fromkeys(strategies))
    expected = expected_cycles(scenario)
    costs: list[Cost] = []
    outcomes: list[CycleOutcome] = []
    placement: dict[str, str] = {}
    done = 0
    for place, name in enumerate(names):
        run = _Run(name, scenario, outcomes, first=not place)
        while run.step(clock):
            done += 1
            left = max(0, expected - run.simulation.index) + expected * (len(names) - place - 1)
            yield Progress(name, done, done + left)
        expected = run.simulation.index
        if not place:
            placement = last_nodes(run.simulation)
        costs.append(run.cost(placement))
    if sum(cost.seconds for cost in costs) < SHORT_SECONDS:
        for place, name in enumerate(names):
            again = _Run(name, scenario, [], first=True)
            while again.step(clock):
                yield Progress(name, done, done)
            costs[place] = replace(costs[place], seconds=min(costs[place].seconds, again.seconds))
    return costs


def expected_cycles(scenario: Scenario) -> int:
    """Return the number of cycles of a scenario if each of its pods is attempted once."""
    pods = [*scenario.objects, *(o.object for o in scenario.operations if o.action == "create")]
    return sum(isinstance(pod, Pod) and not pod.node_name for pod in pods)


@dataclass(slots=True)
class _Run:
    """The run of one strategy. ``outcomes`` are the first strategy's, which fills the list."""

    name: str
    scenario: Scenario
    outcomes: list[CycleOutcome]
    first: bool
    simulation: Simulation = field(init=False)
    counts: Counts = field(default_factory=Counts)
    offers: int = 0  # offered nodes that pods were placed on
    evaluations: int = 0
    bytes: int = 0
    seconds: float = 0.0
    differs: int | None = None

    def __post_init__(self) -> None:
        self.simulation = Simulation(
            with_cache(self.scenario, cache=self.name, audit=False), trace=False, reuse=False
        )

    def step(self, clock: Callable[[], float]) -> bool:
        """Run and count one cycle; return False at the end of the run."""
        began = clock()
        cycle = self.simulation.step()
        self.seconds += clock() - began
        if cycle is None:
            return False
        self._count(cycle)
        if self.first:
            self.outcomes.append(outcome(cycle.decision))
        elif self.differs is None:
            index = self.simulation.index
            if index > len(self.outcomes) or self.outcomes[index - 1] != outcome(cycle.decision):
                self.differs = index
        return True

    def _count(self, cycle: Cycle) -> None:
        self.evaluations += cycle.evaluations
        if cycle.cache is not None:
            self.counts.add(cycle.cache.counts)
            self.offers += bool(cycle.cache.hint) and cycle.cache.hint == cycle.decision.node
        cache = self.simulation.cache
        if cache is not None:
            self.bytes = max(self.bytes, cache.bytes)

    def cost(self, placement: dict[str, str]) -> Cost:
        """Return the cost of the run; ``placement`` is that of the first strategy."""
        mine = last_nodes(self.simulation)
        cycles = self.simulation.index
        if self.differs is None and cycles < len(self.outcomes):
            self.differs = cycles + 1
        counts = self.counts
        batching = self.name == "batching"
        return Cost(
            strategy=self.name,
            cycles=cycles,
            placed=sum(bool(node) for node in self.simulation.placement().values()),
            evaluations=self.evaluations,
            hits=self.offers if batching else counts.hits,
            lookups=cycles if batching else counts.hits + counts.misses,
            writes=counts.writes,
            invalidated=counts.invalidated,
            bytes=self.bytes,
            seconds=self.seconds,
            first=self.differs,
            differing=sum(
                mine.get(pod, "") != placement.get(pod, "") for pod in dict.fromkeys([*placement, *mine])
            ),
        )
