"""What became of the pods in the end, and the smallest change that would have helped one."""

from __future__ import annotations

from playground.courseware.expression import Record
from playground.courseware.facts.moment import ShownMoment, shorts


class PodEnd(Record, frozen=True):
    """What became of a pod: its ``node``, "" for none; ``state`` is placed, pending, finished or gone."""

    node: str
    state: str


def outcome(moment: ShownMoment, pod: str, of: str = "") -> PodEnd:
    """A pod's node and state in the end."""
    play = moment.ended(of)
    key = play.pod(pod)
    node = play.pods[key]
    if key in play.finished:
        return PodEnd(node, "finished")
    if key not in play.placement:
        return PodEnd("", "gone")
    return PodEnd(node, "placed" if node else "pending")


def pending(moment: ShownMoment, of: str = "") -> list[str]:
    """The pods that have no node in the end."""
    return shorts([pod for pod, node in moment.ended(of).placement.items() if not node])


def placed(moment: ShownMoment, node: str = "", of: str = "") -> list[str]:
    """The pods that have a node in the end, or that node."""
    play = moment.ended(of)
    if node:
        play.node(node)
    return shorts([pod for pod, there in play.placement.items() if (there == node if node else there)])


def placed_like(moment: ShownMoment, prefix: str, node: str = "", of: str = "") -> list[str]:
    """Those of :func:`placed` whose name begins with a prefix."""
    return [pod for pod in placed(moment, node, of) if pod.startswith(prefix)]


def placed_in(moment: ShownMoment, key: str, value: str, prefix: str = "", of: str = "") -> list[str]:
    """Those of `placed` on nodes with a label, such as a zone, whose name begins with a prefix."""
    play = moment.ended(of)
    labels = play.resources(len(play.cycles)).labels
    nodes = {node for node, its in labels.items() if its.get(key) == value}
    found = shorts([pod for pod, node in play.placement.items() if node in nodes])
    return [pod for pod in found if pod.startswith(prefix)]


def smallest_change(moment: ShownMoment, pod: str, node: str = "", at: str = "", of: str = "") -> str:
    """The smallest verified change with which a pod would fit, on a node or anywhere; "" if it fits."""
    play = moment.ended(of)
    index = play.cycle(at or moment.step).index if at or moment.step else len(play.cycles)
    changes = play.explain(pod, node or None, index).changes
    return "; ".join(changes[0].words) if changes else ""


FACTS = (
    outcome,
    pending,
    placed,
    placed_like,
    placed_in,
    smallest_change,
)
