"""Find the best placement within a bound of seconds, with the proven gap, and the moves that lead to it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.compare.optimum.model import Model
from scheduler_core.compare.optimum.objectives import OBJECTIVES
from scheduler_core.compare.optimum.problem import PackingProblem
from scheduler_core.kubernetes.model import Pod
from scheduler_core.progress import Watch, unwatched

WORKERS = 2
SEED = 1
LEAST_SECONDS = 0.1
COMPLETING_SECONDS = 1.0  # to find what follows from a hint
REPORT_SECONDS = 0.1  # between two calls of the watch during a search


class Proof(Struct, frozen=True, rename="camel"):
    """What was found for one objective: its value, the proven bound, and whether they are equal."""

    objective: str
    means: str
    value: int
    bound: int
    optimal: bool
    seconds: float

    @property
    def gap(self) -> float:
        """The distance of the value from the bound, as a fraction of the value."""
        return abs(self.value - self.bound) / max(abs(self.value), 1)


class MigrationStep(Struct, frozen=True, rename="camel"):
    """A step from here to there: ``evict`` a pod from its node, or ``bind`` one."""

    action: str
    pod: str
    node: str


class Optimum(Struct, frozen=True, rename="camel"):
    """A placement: pods by ``namespace/name`` with their nodes, those that stay pending, and the moves.

    ``unsearched`` are the objectives for which the time did not suffice: all, if none was found in it and
    the rules may still allow one.
    """

    feasible: bool
    proofs: tuple[Proof, ...]
    placements: dict[str, str]
    pending: tuple[str, ...]
    moves: tuple[MigrationStep, ...]
    left_out: tuple[str, ...]
    unsearched: tuple[str, ...] = ()
    evicted: tuple[str, ...] = ()
    """Running pods that end without a node, for pending ones of higher priority."""

    @property
    def is_proven(self) -> bool:
        """Whether no placement is better by any of the objectives."""
        return self.feasible and not self.unsearched and all(proof.optimal for proof in self.proofs)


def find_optimum(
    problem: PackingProblem,
    objectives: Sequence[str],
    seconds: float,
    watch: Watch = unwatched,
    start: Mapping[str, str] = MappingProxyType({}),
) -> Optimum:
    """Optimize one objective after the other, each without giving up what the ones before reached.

    ``watch`` hears of the stage ``searching``, in milliseconds, and ends the search by raising. The search
    begins with the placement ``start``, if the rules allow it.

    Raises:
        KeyError: An objective is not in :data:`.OBJECTIVES`.
    """
    from ortools.sat.python import cp_model

    model = Model(problem)
    wanted = [(name, OBJECTIVES[name]) for name in objectives]
    begins = time.monotonic()
    ends = begins + seconds

    def report() -> None:
        elapsed = min(time.monotonic() - begins, seconds)
        watch("searching", round(elapsed * 1000), round(seconds * 1000))

    proofs: list[Proof] = []
    counts: list[dict[int, int]] | None = None
    _begin_with(model, start)
    status = cp_model.UNKNOWN
    for place, (name, objective) in enumerate(wanted):
        began = time.monotonic()
        expression = objective.expression(model)  # what it needs does not weigh on those before
        solver = cp_model.CpSolver()
        solver.parameters.num_workers, solver.parameters.random_seed = WORKERS, SEED
        solver.parameters.max_time_in_seconds = max((ends - began) / (len(wanted) - place), LEAST_SECONDS)
        (model.cp.maximize if objective.maximized else model.cp.minimize)(expression)
        _complete(model, cp_model)
        status = _solved(solver, model.cp, report)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            break
        value = round(solver.objective_value)
        optimal = status == cp_model.OPTIMAL
        bound = value if optimal else round(solver.best_objective_bound)
        elapsed = round(time.monotonic() - began, 3)
        proofs.append(Proof(name, objective.means, value, bound, optimal, elapsed))
        counts = [{node: int(solver.value(count)) for node, count in of.items()} for of in model.x]
        model.cp.add(expression >= value if objective.maximized else expression <= value)
        _hint(model, solver)
    if counts is None:
        unsearched = () if status == cp_model.INFEASIBLE else tuple(objectives)
        return Optimum(False, (), {}, tuple(_keys(problem)), (), problem.left_out, unsearched)
    return replace(_answer(problem, proofs, counts), unsearched=tuple(objectives[len(proofs) :]))


def _solved(solver: Any, model: Any, report: Callable[[], None]) -> Any:
    """Solve in a thread, which holds no lock of the interpreter, and stop the search if ``report`` raises."""
    with ThreadPoolExecutor(1) as threads:
        search = threads.submit(solver.solve, model)
        try:
            while True:
                try:
                    return search.result(REPORT_SECONDS)
                except TimeoutError:
                    report()
        except BaseException:
            solver.stop_search()
            raise


def _begin_with(model: Model, start: Mapping[str, str]) -> None:
    """Let the search begin with a placement; without one pods stay where they are."""
    for of, counts in zip(model.problem.classes, model.x):
        pods = Counter(start.get(pod.meta.key) if start else pod.node_name for pod in of.pods)
        for node, count in counts.items():
            model.cp.add_hint(count, pods[model.problem.nodes[node].meta.name])


def _complete(model: Model, cp_model: Any) -> None:
    """Give every variable the value that follows from the hinted ones, if they are a placement.

    A search that begins with all values has a solution at once, however little time it has.
    """
    solver = cp_model.CpSolver()
    solver.parameters.fix_variables_to_their_hinted_value = True
    solver.parameters.max_time_in_seconds = COMPLETING_SECONDS
    if solver.solve(model.cp) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        _hint(model, solver)


def _hint(model: Model, solver: Any) -> None:
    """Let the next search begin with what this one found, of every variable."""
    model.cp.clear_hints()
    for place in range(len(model.cp.proto.variables)):
        variable = model.cp.get_int_var_from_proto_index(place)
        model.cp.add_hint(variable, solver.value(variable))


def _keys(problem: PackingProblem) -> list[str]:
    return [pod.meta.key for of in problem.classes for pod in of.pods if not pod.node_name]


def _answer(problem: PackingProblem, proofs: Sequence[Proof], counts: Sequence[dict[int, int]]) -> Optimum:
    placements: dict[str, str] = {}
    pending: list[str] = []
    evictions: list[MigrationStep] = []
    bindings: list[MigrationStep] = []
    evicted: list[str] = []
    for of, values in zip(problem.classes, counts):
        room = {problem.nodes[node].meta.name: value for node, value in values.items() if value}
        for pod, node in _assigned(of.pods, room):
            if node is None and pod.node_name:
                evicted.append(pod.meta.key)
                evictions.append(MigrationStep("evict", pod.meta.key, pod.node_name))
            elif node is None:
                pending.append(pod.meta.key)
            if node is None:
                continue
            placements[pod.meta.key] = node
            if pod.node_name and pod.node_name != node:
                evictions.append(MigrationStep("evict", pod.meta.key, pod.node_name))
            if pod.node_name != node:
                bindings.append(MigrationStep("bind", pod.meta.key, node))
    moves = (*evictions, *bindings)  # what is bound may need the room of what is evicted
    left_out = problem.left_out
    return Optimum(True, tuple(proofs), placements, tuple(pending), moves, left_out, evicted=tuple(evicted))


def _assigned(pods: Sequence[Pod], room: dict[str, int]) -> list[tuple[Pod, str | None]]:
    """Return each pod of a class with its node: whoever can stay stays, and running pods come first."""
    found: dict[str, str | None] = {}
    for pod in pods:
        if room.get(pod.node_name, 0) > 0:
            found[pod.meta.key] = pod.node_name
            room[pod.node_name] -= 1
    for pod in sorted(pods, key=lambda one: not one.node_name):
        if pod.meta.key not in found:
            node = next((name for name, left in room.items() if left), None)
            found[pod.meta.key] = node
            if node is not None:
                room[node] -= 1
    return [(pod, found[pod.meta.key]) for pod in pods]
