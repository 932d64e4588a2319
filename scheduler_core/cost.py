"""Was the cache worth it? One workload with no cache, with a cache and with batching, in numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scheduler_core.cycle import Decision
from scheduler_core.equivalence.keeper import CacheKeeper
from scheduler_core.scenario import Scenario
from scheduler_core.simulation import Simulation

STRATEGIES = ("off", "sound", "batching")


class Stopped(Exception):  # noqa: N818 -- whoever asked wants it no longer
    """The computation was given up."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One strategy's run. Evaluations, hits and so on count pairs of predicate and node.

    ``seconds`` are of scheduling alone, without a trace. ``first`` is the first cycle that decides otherwise
    than without a cache, and ``differing`` the pods that end on another node, or on none.
    """

    strategy: str
    pods: int
    placed: int
    evaluations: int
    hits: int
    writes: int
    invalidated: int
    bytes: int
    seconds: float
    first: int | None
    differing: int

    @property
    def per_pod(self) -> float:
        """Microseconds a cycle."""
        return self.seconds / self.pods * 1e6 if self.pods else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "strategy": self.strategy,
            "cycles": self.pods,
            "placed": self.placed,
            "evaluations": self.evaluations,
            "hits": self.hits,
            "writes": self.writes,
            "invalidated": self.invalidated,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 4),
            "microsecondsPerCycle": round(self.per_pod, 1),
            "firstDifference": self.first,
            "placementsDiffering": self.differing,
        }


def measure_costs(
    scenario: Scenario,
    strategies: Iterable[str] = STRATEGIES,
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> list[Cost]:
    """Run a scenario once for each strategy; the first is what the others are compared with.

    Raises:
        Stopped: ``stopped()`` turned true.
    """
    costs: list[Cost] = []
    decisions: list[Decision] = []
    placement: dict[str, str] = {}
    for strategy in strategies:
        simulation = Simulation(_under(scenario, strategy), trace=False)
        seconds, size = _run(simulation, stopped)
        mine = simulation.placement()
        if not costs:
            decisions, placement = simulation.decisions, mine
        first = next((n for n, (a, b) in enumerate(zip(decisions, simulation.decisions), 1) if a != b), None)
        counts = simulation.cache.totals if simulation.cache is not None else None
        costs.append(
            Cost(
                strategy=strategy,
                pods=simulation.index,
                placed=sum(bool(node) for node in mine.values()),
                evaluations=counts.evaluations if counts else _evaluations(scenario, strategy, stopped),
                hits=counts.hits if counts else 0,
                writes=counts.writes if counts else 0,
                invalidated=counts.invalidated if counts else 0,
                bytes=size,
                seconds=seconds,
                first=first,
                differing=sum(mine.get(pod) != node for pod, node in placement.items()),
            )
        )
    return costs


def _under(scenario: Scenario, strategy: str) -> Scenario:
    return scenario.under(scenario.policy, replace(scenario.settings, cache=strategy, audit=False))


def _run(simulation: Simulation, stopped: Callable[[], bool]) -> tuple[float, int]:
    """Run to the end; return the seconds it took and the most bytes that a cache held."""
    size = 0
    began = time.perf_counter()
    while simulation.step() is not None:
        if isinstance(simulation.cache, CacheKeeper):
            size = max(size, simulation.cache.cache.stats.bytes)
        if stopped():
            raise Stopped
    return time.perf_counter() - began, size


def _evaluations(scenario: Scenario, strategy: str, stopped: Callable[[], bool]) -> int:
    """Count what a scheduler without a cache evaluates, which only a trace tells."""
    total = 0
    for cycle in Simulation(_under(scenario, strategy), quirk_effects=False):
        if cycle.matrix is not None:
            total += int(np.count_nonzero(cycle.matrix.codes >= 0))
        if stopped():
            raise Stopped
    return total
