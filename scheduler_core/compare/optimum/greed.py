"""The price of greed: what schedulers place of a cluster's pending pods, beside the optimum."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.compare.optimum.contenders import CONTENDERS, Contender
from scheduler_core.compare.optimum.objectives import OBJECTIVES
from scheduler_core.compare.optimum.optimum import Optimum, find_optimum
from scheduler_core.compare.optimum.problem import problem_of, request_of
from scheduler_core.compare.optimum.snapshot import ClusterSnapshot
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.progress import Watch, unwatched
from scheduler_core.run.table import simulate
from scheduler_core.scenario.load import load
from scheduler_core.scenario.scenario import Scenario

SHARED = ("cpu", "memory")
CYCLES_EACH = 4  # of a scheduler, per pending pod
FEWEST_CYCLES = 200
SECONDS_EACH = 15.0  # of a scheduler
FIELDS_NAMED = 12  # of those that a scheduler does not honor


class PlacementFigures(Struct, frozen=True, rename="camel"):
    """What a placement comes to, in the objectives' terms, with the pods that run and those that wait.

    ``share`` is the largest share used of a node's cpu or memory, ``fragmentation`` the sum over nodes of the
    difference between free cpu and free memory, both in thousandths. Pods that were evicted and have no node
    are taken from those ``placed`` and from their ``priorities``.
    """

    placed: int
    pending: int
    priorities: int
    nodes: int
    share: int
    fragmentation: int
    evicted: int
    seconds: float
    placements: dict[str, str]


class GreedRow(Struct, frozen=True, rename="camel"):
    """A row of the table: ``figures`` are ``None`` where a scheduler cannot run it, and ``why`` says so.

    ``left_out`` are the kinds of objects and the fields that the cluster has and the scheduler does not read.
    ``verdict`` is one of :data:`VERDICTS`.
    """

    scheduler: str
    figures: PlacementFigures | None = None
    why: str = ""
    left_out: tuple[str, ...] = ()
    verdict: str = ""


VERDICTS: Mapping[str, str] = {
    "improved": "the optimum is better",
    "optimal": "as good as the optimum, which is proven",
    "equal": "as good as the best that was found",
    "other": "its placement breaks a rule of the search",
}
"""What the optimum is to a scheduler's placement, by the objectives in order."""


class Greed(Struct, frozen=True, rename="camel"):
    """The optimum with its proof, the schedulers beside it, and a bundle that makes the moves.

    ``nodes`` are ``(name, cpu, memory)`` in millicores and bytes; ``pods`` maps keys to requests of both.
    """

    step: int
    objectives: tuple[str, ...]
    pending: int
    nodes: tuple[tuple[str, int, int], ...]
    pods: dict[str, tuple[int, int]]
    optimum: Optimum
    rows: tuple[GreedRow, ...]
    bundle: str


def price_of_greed(
    scenario: Scenario,
    step: int,
    objectives: Sequence[str],
    seconds: float,
    *,
    move: bool = False,
    evict: bool = False,
    watch: Watch = unwatched,
) -> Greed:
    """Let each scheduler place the pending pods of a step, and search the optimum for ``seconds``.

    The search begins with the best of their placements. They and the search answer the same question: pods of
    lower priority are evicted for pending ones only if ``evict`` is set.

    ``watch`` hears of the stages ``stepping``, ``searching`` and ``placing:`` with a scheduler's name, in
    cycles of at least as many as pods are pending, and ends the work by raising.

    Raises:
        ShortRunError: The run ends before that step.
        PolicyError: The scenario's configuration cannot be used.
    """
    standing = ClusterSnapshot(simulate(scenario, trace=False), step, watch)
    others = [_row(name, one, standing, watch, evict=evict) for name, one in CONTENDERS.items()]
    began = time.monotonic()
    problem = problem_of(standing.nodes, standing.pods, move=move, evict=evict)
    found = find_optimum(problem, objectives, seconds, watch, _best(others, objectives))
    took = time.monotonic() - began
    kept = (pod for pod in standing.pods if pod.node_name and pod.meta.key not in found.evicted)
    running = {pod.meta.key: pod.node_name for pod in kept}
    best = figures_of(standing, {**running, **found.placements} if found.feasible else running, took)
    rows = [GreedRow("optimum", best if found.feasible else None, "" if found.feasible else nothing(found))]
    searched = [name for name in objectives if name not in found.unsearched]
    for row in others:
        figures = row.figures if found.feasible else None
        verdict = "" if figures is None else _verdict(figures, best, searched, proven=found.is_proven)
        rows.append(replace(row, verdict=verdict))
    nodes = tuple(
        (one.meta.name, one.allocatable.get("cpu", 0), one.allocatable.get("memory", 0))
        for one in standing.nodes
    )
    requests = {pod.meta.key: request_of(pod) for pod in standing.pods}
    pods = {key: (of.get("cpu", 0), of.get("memory", 0)) for key, of in requests.items()}
    bundle = standing.text_with(found.moves) if found.moves else ""
    return Greed(step, tuple(objectives), len(standing.pending), nodes, pods, found, tuple(rows), bundle)


INFEASIBLE = (
    "No placement satisfies the rules: running pods violate them already. Let running pods move, or choose "
    "an earlier step."
)


TOO_SHORT = "Nothing was found in the time: give the search more seconds."


def nothing(found: Optimum) -> str:
    """Return why a search has no placement."""
    return TOO_SHORT if found.unsearched else INFEASIBLE


def _verdict(
    figures: PlacementFigures, best: PlacementFigures, objectives: Sequence[str], *, proven: bool
) -> str:
    ours, theirs = worth(best, objectives), worth(figures, objectives)
    if theirs > ours:
        return "other"
    return "improved" if theirs < ours else "optimal" if proven else "equal"


def worth(figures: PlacementFigures, objectives: Sequence[str]) -> list[int]:
    """Return what a placement is worth by the objectives in order: the greater, the better."""
    values = ((OBJECTIVES[name], getattr(figures, OBJECTIVES[name].figure)) for name in objectives)
    return [value if objective.maximized else -value for objective, value in values]


def _row(name: str, one: Contender, standing: ClusterSnapshot, watch: Watch, *, evict: bool) -> GreedRow:
    began = time.monotonic()
    left_out = tuple(one.unread(standing.documents))
    try:
        scenario = load(standing.text_for(one, evict=evict), expand=False)
        simulation = simulate(scenario, trace=False)
    except BundleError as error:
        return GreedRow(name, None, error.problems[0].message, left_out)
    fields = list(dict.fromkeys(problem.unhonored for problem in scenario.warnings if problem.unhonored))
    left_out += tuple(fields[:FIELDS_NAMED])
    if len(fields) > FIELDS_NAMED:
        left_out += (f"and {len(fields) - FIELDS_NAMED:,} more fields",)
    most = max(FEWEST_CYCLES, CYCLES_EACH * len(standing.pending))
    for cycle in range(most):
        watch(f"placing:{name}", min(cycle, len(standing.pending)), len(standing.pending))
        if simulation.done or time.monotonic() - began > SECONDS_EACH:
            break
        simulation.step()
    placed = {key: node for key, node in simulation.placement().items() if node}
    return GreedRow(name, figures_of(standing, placed, time.monotonic() - began), left_out=left_out)


def _best(rows: Sequence[GreedRow], objectives: Sequence[str]) -> Mapping[str, str]:
    """Return the placement that is best by the objectives in order."""
    known = [row.figures for row in rows if row.figures is not None]
    return max(known, key=lambda one: worth(one, objectives)).placements if known else {}


def figures_of(standing: ClusterSnapshot, placement: Mapping[str, str], seconds: float) -> PlacementFigures:
    """Return what a placement of a cluster's pods comes to."""
    pods = {pod.meta.key: pod for pod in standing.pods}
    on = {key: node for key, node in placement.items() if key in pods}
    used: dict[str, dict[str, int]] = {}
    for key, place in on.items():
        of = used.setdefault(place, {})
        for name, amount in request_of(pods[key]).items():
            of[name] = of.get(name, 0) + amount
    shares, apart = [0.0], 0.0
    for node in standing.nodes:
        wholes = [node.allocatable.get(name, 0) for name in SHARED]
        parts = [
            used.get(node.meta.name, {}).get(name, 0) / whole if whole else 0.0
            for name, whole in zip(SHARED, wholes)
        ]
        shares += parts
        apart += abs(parts[0] - parts[1]) if all(wholes) else 0.0
    new = [key for key, pod in pods.items() if not pod.node_name and key in on]
    gone = [key for key, pod in pods.items() if pod.node_name and on.get(key) != pod.node_name]
    removed = [key for key in gone if key not in on]
    return PlacementFigures(
        placed=len(new) - len(removed),
        pending=len(standing.pending) - len(new),
        priorities=sum(pods[key].priority for key in new) - sum(pods[key].priority for key in removed),
        nodes=len(used),
        share=round(max(shares) * 1000),
        fragmentation=round(apart * 1000),
        evicted=len(gone),
        seconds=round(seconds, 3),
        placements=on,
    )
