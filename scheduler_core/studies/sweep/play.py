"""Running a cell to its end."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from types import MappingProxyType
from typing import Any

from scheduler_core.compare.optimum.distance import Distance, distance_of
from scheduler_core.kubernetes.model import Pod
from scheduler_core.progress import Watch, unwatched
from scheduler_core.record.cycle import Cycle, Decision
from scheduler_core.run import simulate
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.studies.sweep.figures import cell_figures
from scheduler_core.studies.sweep.prices import Prices
from scheduler_core.studies.sweep.waits import Waits


def cell_run(scenario: Scenario, prices: Prices = MappingProxyType({})) -> dict[str, Any]:
    """Run a cell without a trace, and return its figures.

    Raises:
        PolicyError: Its configuration cannot be used.
    """
    run = simulate(scenario, trace=False)
    waits, decisions, operations = Waits(), list[Decision](), iter(scenario.operations)
    while (cycle := run.step()) is not None:
        decisions.append(cycle.decision)
        waits.note(cycle.time, _moves(cycle, islice(operations, len(cycle.operations))))
    return cell_figures(run, decisions, waits, prices)


def _moves(cycle: Cycle, operations: Iterable[Operation]) -> Iterable[tuple[str, bool]]:
    """Return the pods that a cycle moved, with the operations before it, and whether each is on a node."""
    if cycle.moves is not None:
        return [(key, bool(node)) for key, node in cycle.moves if node is not None]
    created = [(one.key, False) for one in operations if isinstance(one.object, Pod)]
    return [*created, *((key, True) for key, _ in cycle.decision.placements)]


def cell_distance(scenario: Scenario, seconds: float, watch: Watch = unwatched) -> Distance:
    """Run a cell, and search for ``seconds`` at most how far its placement is from the best one.

    ``watch`` hears of the stages ``stepping``, in cycles, and ``searching``, and ends the work by raising.

    Raises:
        PolicyError: Its configuration cannot be used.
    """
    run, cycles = simulate(scenario, trace=False), 0
    while run.step() is not None:
        cycles += 1
        watch("stepping", cycles, cycles)
    return distance_of(run, seconds, watch)
