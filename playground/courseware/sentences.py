"""What the engine says of an answer: its own explanation of a pod on a node, or on none."""

from __future__ import annotations

import re

from playground.courseware.playthrough import PlayedScenario
from scheduler_core.explain import Explanation
from scheduler_core.explain.explanation import FailureFacts

_DEFAULT = re.compile(r"\bdefault/")


def about_node(play: PlayedScenario, pod: str, node: str, index: int) -> str:
    """Return why a cycle took a node, or refused it, or preferred another."""
    answer = play.explain(pod, node, index)
    return _refused(answer) or _plain(_spoken(answer))


def not_chosen(play: PlayedScenario, pod: str, node: str, index: int) -> str:
    """Return why a node is the wrong answer, without the right one; "" stands for no node.

    Of a refused node it is the refusal, of a feasible one its total if it was scored.
    """
    cycle = play.cycles[index - 1]
    feasible = [cycle.nodes[row] for row in cycle.feasible.tolist()]
    if not node:
        return f"{len(feasible)} of {len(cycle.nodes)} nodes are feasible, so the pod gets one."
    if refused := refusal(play, pod, node, index):
        return refused
    if cycle.totals is None or node not in feasible:
        return f"{node} is not the node that the scheduler chose."
    total = int(cycle.totals[feasible.index(node)])
    return f"{node} is feasible with a total of {total:,}, and the scheduler chose another node."


def refusal(play: PlayedScenario, pod: str, node: str, index: int) -> str:
    """Return why a cycle refused a node, "" if it was feasible."""
    return _refused(play.explain(pod, node, index))


def standing(play: PlayedScenario, pod: str, node: str, index: int) -> str:
    """Return why a cycle refused a node, or that it was feasible."""
    return refusal(play, pod, node, index) or f"{node} is feasible."


def _refused(answer: Explanation) -> str:
    verdict = answer.nodes[0] if answer.nodes else None
    if verdict is None or verdict.fits:
        return ""
    first = [_refusal(facts) for facts in verdict.facts if not facts.failure.further]
    further = [_refusal(facts) for facts in verdict.facts if facts.failure.further]
    also = f" Further refusals, which are not reported: {'; '.join(further)}." if further else ""
    return _plain(f"{verdict.node} is refused by {'; '.join(first) or verdict.because}.{also}")


def _refusal(facts: FailureFacts) -> str:
    failure = facts.failure
    said = ", ".join(facts.details) or failure.error or ", ".join(failure.reasons)
    return f"{failure.predicate}: {said}"


def about_pod(play: PlayedScenario, pod: str, index: int) -> str:
    """Return where a pod is and why, or why it is pending."""
    return _plain(_spoken(play.explain(pod, None, index)))


def _spoken(answer: Explanation) -> str:
    if answer.story is None:
        return answer.summary
    return " ".join((f"{answer.pod} is placed on {answer.node}.", *answer.story.sentences))


def _plain(text: str) -> str:
    """Return a sentence with pods named as lessons do."""
    return _DEFAULT.sub("", text)
