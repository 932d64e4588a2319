"""Names of drafts by what they hold, where nobody has given one: "gke, 5 nodes, 29 pods"."""

from __future__ import annotations

from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.scenario.scenario import Scenario

SHORTEST, LONGEST = 3, 24  # characters of what the nodes' names share


def named(scenario: Scenario) -> str:
    """Return a title from the nodes' common name and how much there is; "" without nodes and pods."""
    nodes = [one.meta.name for one in scenario.objects if isinstance(one, Node)]
    pods = sum(isinstance(one, Pod) and not one.terminal for one in scenario.objects)
    if not nodes and not pods:
        return ""
    firsts = {name.partition("-")[0] for name in nodes}
    shared = firsts.pop() if len(nodes) > 1 and len(firsts) == 1 else ""
    head = [shared] if SHORTEST <= len(shared) <= LONGEST else []
    return ", ".join([*head, counted(len(nodes), "node"), counted(pods, "pod")])


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1,200 pods"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
