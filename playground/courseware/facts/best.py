"""The best that any scheduler could have done, by a proof."""

from __future__ import annotations

from functools import lru_cache

from playground.courseware.expression import FactError
from playground.courseware.facts.moment import ShownMoment
from playground.courseware.playthrough import PlayedScenario
from scheduler_core.compare.optimum.optimum import find_optimum
from scheduler_core.compare.optimum.problem import problem_of
from scheduler_core.kubernetes.model import Node, Pod

SECONDS = 5.0  # of a search; those of lessons take milliseconds
KEPT = 32


def best_placed(moment: ShownMoment, of: str = "") -> int:
    """The most pods that can have a node at once under the same hard rules, proven by a search."""
    return _most(moment.ended(of))


@lru_cache(maxsize=KEPT)
def _most(play: PlayedScenario) -> int:
    objects = play.scenario.objects
    nodes = [one for one in objects if isinstance(one, Node)]
    pods = [one for one in objects if isinstance(one, Pod)]
    running = sum(bool(pod.node_name) and not pod.terminal for pod in pods)
    found = find_optimum(problem_of(nodes, pods), ("most-pods",), SECONDS)
    if not found.proofs or not found.proofs[0].optimal or found.left_out:
        raise FactError("the most pods were not proven: make the scenario smaller or plainer")
    return running + found.proofs[0].value


FACTS = (best_placed,)
