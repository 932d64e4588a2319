"""How far the placement that a run ends with is from the best one of the same pods on the same nodes.

As arXiv 2511.08373 reports it: improved, equal or proven optimal.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from scheduler_core.compare.optimum.greed import TOO_SHORT
from scheduler_core.compare.optimum.optimum import Optimum, find_optimum
from scheduler_core.compare.optimum.problem import problem_of
from scheduler_core.compare.optimum.snapshot import ClusterSnapshot
from scheduler_core.kubernetes.model import Pod
from scheduler_core.progress import Watch, unwatched
from scheduler_core.run import Stepper

OBJECTIVES = ("most-pods", "fewest-nodes")
"""In this order: no pod is given up for a node."""

MOST_SIZE = 400_000
"""Nodes times pods beyond which no search is begun."""

TOO_LARGE = "Not searched: {:,} nodes × {:,} pods, and {:,} is the limit."
INFEASIBLE = "No placement of the pods that run keeps every rule of the search: the run broke one itself."
NOTHING_TO_PLACE = "There are no pods to place, or no nodes."


class Distance(Struct, frozen=True, rename="camel"):
    """What a run reached, and the best that was found; ``verdict`` is one of greed's ``VERDICTS``.

    ``why`` says why there is no verdict. ``placed`` and ``nodes`` are the run's pods with a node and nodes
    with a pod, ``best_placed`` and ``best_nodes`` those of the search. ``left_out`` are the rules that the
    search does not know.
    """

    verdict: str
    placed: int
    nodes: int
    best_placed: int | None = None
    best_nodes: int | None = None
    seconds: float = 0.0
    left_out: tuple[str, ...] = ()
    why: str = ""


def distance_of(simulation: Stepper, seconds: float, watch: Watch = unwatched) -> Distance:
    """Return the distance of a run that has ended, searched for ``seconds`` at most; every pod may move."""
    standing = ClusterSnapshot(simulation, 0)
    pods = [pod for pod in standing.pods if not pod.terminal]
    ours = _worth(pod.node_name for pod in pods)
    size = len(standing.nodes) * len(pods)
    if not 0 < size <= MOST_SIZE:
        large = TOO_LARGE.format(len(standing.nodes), len(pods), MOST_SIZE)
        return Distance("", *ours, why=large if size else NOTHING_TO_PLACE)
    start = {pod.meta.key: pod.node_name for pod in pods if pod.node_name}
    found = find_optimum(problem_of(standing.nodes, pods, move=True), OBJECTIVES, seconds, watch, start)
    return _distance(ours, pods, found)


def _worth(nodes: Iterable[str]) -> tuple[int, int]:
    """Return how many pods have a node, and how many nodes they use."""
    taken = [node for node in nodes if node]
    return len(taken), len(set(taken))


def _distance(ours: tuple[int, int], pods: Iterable[Pod], found: Optimum) -> Distance:
    took = round(sum(one.seconds for one in found.proofs), 3)
    if not found.feasible:
        why = TOO_SHORT if found.unsearched else INFEASIBLE
        return Distance("", *ours, seconds=took, left_out=found.left_out, why=why)
    best = _worth(found.placements.get(pod.meta.key, "") for pod in pods)
    verdict = _verdict(ours, best, proven=found.is_proven)
    return Distance(verdict, *ours, *best, seconds=took, left_out=found.left_out)


def _verdict(ours: tuple[int, int], best: tuple[int, int], *, proven: bool) -> str:
    (placed, nodes), (most, fewest) = ours, best
    if (placed, -nodes) > (most, -fewest):
        return "other"
    return "improved" if (placed, -nodes) < (most, -fewest) else "optimal" if proven else "equal"
