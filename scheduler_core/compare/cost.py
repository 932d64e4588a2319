"""Was the cache worth it? One workload with no cache, with a cache and with batching, in numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_core.compare.compare import last_nodes
from scheduler_core.config.settings import CACHE_MODES
from scheduler_core.objects.model import Pod
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.scheduling.cache_record import Counts
from scheduler_core.scheduling.cycle import Cycle, Decision
from scheduler_core.simulation.instant import Simulation

STRATEGIES = ("off", "sound", "batching")
SHORT_SECONDS = 2.0  # all strategies together; what takes less is timed twice


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a measurement is: ``total`` cycles of all strategies are expected, of which ``done`` ran."""

    strategy: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Cost:
    """One strategy's run.

    ``evaluations`` are pairs of predicate and node, ``hits`` those that a cache answered instead; what
    preemption tries is in neither. ``lookups`` are hits and misses. Of batching, a lookup is a pod that
    asks for a kept ranking, a hit one that takes the node it is offered, a write a ranking that is kept
    and an invalidated entry one that is given up. ``bytes`` is the most that cache or ranking held.
    ``seconds`` are processor time of scheduling alone: without a trace, and without what this engine
    shares between the pods of a template whatever the strategy. ``first`` is the first cycle that ends
    otherwise than under the strategy compared with, and ``differing`` the pods that are on another node
    at last, or on none.
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
        """Lookups, writes and invalidated entries together."""
        return self.lookups + self.writes + self.invalidated

    @property
    def per_pod(self) -> float:
        """Microseconds a cycle."""
        return self.seconds / self.cycles * 1e6 if self.cycles else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
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


CycleOutcome = tuple[Any, ...]


def outcome(decision: Decision) -> CycleOutcome:
    """Return what a cycle does to the cluster; whether it ranked nodes on the way is left out."""
    return (
        decision.pod,
        decision.result,
        decision.node,
        decision.nominated,
        decision.victims,
        decision.cleared,
    )


def with_cache(scenario: Scenario, **settings: Any) -> Scenario:
    """Return a scenario with these settings of the cache from its beginning to its end.

    An operation that restarts the scheduler keeps everything else that it changes.
    """

    def changed(operation: Operation) -> Operation:
        new = operation.configuration
        if new is None:
            return operation
        return replace(operation, configuration=replace(new, settings=replace(new.settings, **settings)))

    operations = tuple(changed(operation) for operation in scenario.operations)
    return replace(scenario, operations=operations, settings=replace(scenario.settings, **settings))


def strategies_for(scenario: Scenario) -> tuple[str, ...]:
    """Return what is worth comparing, the scenario's own mode included, always in the order of the modes."""
    return tuple(mode for mode in CACHE_MODES if mode in (*STRATEGIES, scenario.settings.cache))


def measure_costs(scenario: Scenario, strategies: Iterable[str] | None = None) -> list[Cost]:
    """Run a scenario under each strategy (default :func:`strategies_for` it); the first is compared with.

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
    """Do the work of :func:`measure_costs`, pausing after every cycle; any thread may go on with it."""
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
    """Return how many cycles a scenario has if each of its pods is tried once."""
    pods = [*scenario.objects, *(o.object for o in scenario.operations if o.action == "create")]
    return sum(isinstance(pod, Pod) and not pod.node_name for pod in pods)


@dataclass(slots=True)
class _Run:
    """One strategy on its way. ``outcomes`` are the first strategy's, which fills the list."""

    name: str
    scenario: Scenario
    outcomes: list[CycleOutcome]
    first: bool
    simulation: Simulation = field(init=False)
    counts: Counts = field(default_factory=Counts)
    offers: int = 0  # nodes of a kept ranking that pods took
    evaluations: int = 0
    bytes: int = 0
    seconds: float = 0.0
    differs: int | None = None

    def __post_init__(self) -> None:
        self.simulation = Simulation(
            with_cache(self.scenario, cache=self.name, audit=False), trace=False, reuse=False
        )

    def step(self, clock: Callable[[], float]) -> bool:
        """Run a cycle and count; return False at the end."""
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
        """Return what the run came to; ``placement`` is that of the first strategy."""
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
