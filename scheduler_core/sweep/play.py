"""Running a cell to its end, and the cells that no other is better than."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.cycle import Cycle, Decision
from scheduler_core.run import simulate
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.sweep.figures import cell_figures

BETTER: Mapping[str, int] = {"placed": 1, "nodesUsed": -1, "fragmentation": -1}
"""The figures of the Pareto front: 1 if more is better, -1 if less is."""


class Waits:
    """The virtual seconds that pods waited, from when they were first seen until they were first placed."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._since: dict[Any, float] = {}
        self._placed: set[Any] = set()

    def note(self, time: float, moves: Iterable[tuple[Any, bool]]) -> None:
        """Count the moves of a moment: a pod, and whether it came to a node or waits."""
        for pod, placed in moves:
            if not placed:
                self._since.setdefault(pod, time)
            elif pod not in self._placed:
                self._placed.add(pod)
                self.seconds.append(time - self._since.get(pod, 0.0))


def cell_run(scenario: Scenario) -> dict[str, Any]:
    """Run a cell without a trace, and return its figures.

    Raises:
        PolicyError: Its configuration cannot be used.
    """
    run = simulate(scenario, trace=False)
    waits, decisions, operations = Waits(), list[Decision](), iter(scenario.operations)
    while (cycle := run.step()) is not None:
        decisions.append(cycle.decision)
        waits.note(cycle.time, _moves(cycle, islice(operations, len(cycle.operations))))
    return cell_figures(run, decisions, waits.seconds)


def _moves(cycle: Cycle, operations: Iterable[Operation]) -> Iterable[tuple[str, bool]]:
    """Return the pods that a cycle moved, with the operations before it, and whether each is on a node."""
    if cycle.moves is not None:
        return [(key, bool(node)) for key, node in cycle.moves if node is not None]
    created = [(one.key, False) for one in operations if isinstance(one.object, Pod)]
    return [*created, *((key, True) for key, _ in cycle.decision.placements)]


def pareto_front(rows: Sequence[Mapping[str, Any] | None]) -> set[int]:
    """Return the numbers of the rows of figures that no other row is better than by :data:`BETTER`."""
    points = [
        None if row is None else tuple(sign * float(row[name]) for name, sign in BETTER.items())
        for row in rows
    ]
    known = {point for point in points if point is not None}
    front = {one for one in known if not any(_dominates(other, one) for other in known)}
    return {number for number, point in enumerate(points) if point in front}


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other))
