"""A cycle: its pod, what was evaluated, who refused, and what it decided."""

from __future__ import annotations

from playground.courseware.expression import (
    NOT_SHOWN,
    FactError,
    NotShown,
    NotYetKnownError,
    Record,
)
from playground.courseware.facts.moment import ShownMoment, row_of, short, shorts


class CycleFacts(Record, frozen=True):
    """A cycle; a field that the moment does not show yet is :data:`NOT_SHOWN`."""

    pod: str
    nodes: list[str]
    time: float
    feasible: list[str] | NotShown
    refused: list[str] | NotShown
    evaluations: int | NotShown
    ties: list[str] | NotShown  # the nodes with the best total
    node: str | NotShown  # "" if it found none
    result: str | NotShown
    message: str | NotShown
    victims: list[str] | NotShown
    nominated: str | NotShown
    decided_by: str | NotShown  # preemption's criterion


def cycle(moment: ShownMoment, step: str, of: str = "") -> CycleFacts:
    """A cycle; its fields are its pod, all nodes, time, and what it decided."""
    found = moment.cycle(step, of)
    names = found.nodes
    filtered, over = found.matrix is not None, found.result != "undecided"
    filtered, chosen = filtered or over, bool(len(found.ties)) or over
    feasible = [names[row] for row in found.feasible.tolist()]
    preemption, decision = found.preemption, found.decision
    return CycleFacts(
        pod=short(found.pod),
        nodes=list(names),
        time=found.time,
        feasible=feasible if filtered else NOT_SHOWN,
        refused=[name for name in names if name not in set(feasible)] if filtered else NOT_SHOWN,
        evaluations=found.evaluations if filtered else NOT_SHOWN,
        ties=[names[row] for row in found.ties.tolist()] if chosen else NOT_SHOWN,
        node=found.node or "" if over else NOT_SHOWN,
        result=found.result if over else NOT_SHOWN,
        message=found.message or "" if over else NOT_SHOWN,
        victims=shorts(decision.victims) if over else NOT_SHOWN,
        nominated=decision.nominated or "" if over else NOT_SHOWN,
        decided_by=((preemption and preemption.decided_by) or "") if over else NOT_SHOWN,
    )


def reasons(moment: ShownMoment, node: str, at: str = "", of: str = "") -> list[str]:
    """Why a node is refused, in the scheduler's words; none if it is feasible."""
    return [text for _, texts in _failures(moment, node, at, of) for text in texts]


def refusals(moment: ShownMoment, at: str = "", of: str = "") -> list[str]:
    """All reasons of all nodes, those that several nodes give as often."""
    names = moment.cycle(at, of).nodes
    return [text for node in names for text in reasons(moment, node, at, of)]


def refused_with(moment: ShownMoment, number: int, at: str = "", of: str = "") -> list[str]:
    """The nodes that are refused for so many reasons."""
    names = moment.cycle(at, of).nodes
    return [node for node in names if len(reasons(moment, node, at, of)) == number]


def refused_by(moment: ShownMoment, node: str, at: str = "", of: str = "") -> str:
    """The predicate or filter plugin that refuses a node first, "" if none does."""
    return next((rule for rule, _ in _failures(moment, node, at, of)), "")


def _failures(moment: ShownMoment, node: str, at: str, of: str) -> list[tuple[str, tuple[str, ...]]]:
    found = moment.cycle(at, of)
    row = row_of(found, node)
    if found.matrix is None:
        if found.result == "undecided":
            raise NotYetKnownError("no node is filtered yet at this stop")
        return []
    codes = found.matrix.codes[:, row].tolist()
    return [(rule, found.matrix.reasons[code]) for rule, code in zip(found.matrix.order, codes) if code > 0]


def cell(moment: ShownMoment, node: str, rule: str, at: str = "", of: str = "") -> str:
    """The cell of a rule that refuses a node, ``n1/NodeAffinity``; an error if it does not."""
    if rule not in [one for one, _ in _failures(moment, node, at, of)]:
        refused = refused_by(moment, node, at, of)
        raise FactError(f"{rule} does not refuse {node}: {refused or 'no rule'} does")
    return f"{node}/{rule}"


def events_of(moment: ShownMoment, pod: str, of: str = "") -> list[str]:
    """The reasons of all Kubernetes events of the run about a pod, in order."""
    listed = (event for cycle in moment.ended(of).cycles for event in cycle.events)
    return [event.reason for event in listed if event.object.rpartition("/")[2] == pod]


def event(moment: ShownMoment, reason: str, pod: str, at: str = "", of: str = "") -> str:
    """An event of a cycle, ``FailedScheduling web``; an error if the cycle has none."""
    about = events(moment, reason, at, of)
    if pod not in about:
        known = dict.fromkeys(one.reason for one in moment.decided(at, of).events)
        raise FactError(f"there is no event {reason} of {pod}: there are {', '.join(known) or 'none'}")
    return f"{reason} {pod}"


def blamed(moment: ShownMoment, node: str, at: str = "", of: str = "") -> list[str]:
    """The pods that the engine names where it explains why a node refuses the cycle's pod."""
    found = moment.decided(at, of)
    play = moment.play(of)
    verdicts = play.explain(found.pod, node, found.index).nodes
    words = {
        word.strip(".,;:()") for verdict in verdicts for text in verdict.details for word in text.split()
    }
    return [short(pod) for pod in play.pods if pod in words]


def evaluations(moment: ShownMoment, at: str = "", of: str = "") -> int:
    """How many predicates or filters were evaluated on a node in a cycle; in the whole run without ``at``."""
    if at:
        found = moment.cycle(at, of)
        if found.matrix is None and found.result == "undecided":
            raise NotYetKnownError("no node is filtered yet at this stop")
        return found.evaluations
    return sum(one.evaluations for one in moment.ended(of).cycles)


def cycles(moment: ShownMoment, of: str = "") -> int:
    """How many cycles the run has."""
    return len(moment.ended(of).cycles)


def events(moment: ShownMoment, reason: str, at: str = "", of: str = "") -> list[str]:
    """The objects of a cycle's Kubernetes events of a reason."""
    return [
        event.object.rpartition("/")[2] for event in moment.decided(at, of).events if event.reason == reason
    ]


FACTS = (
    cycle,
    reasons,
    refusals,
    refused_with,
    refused_by,
    cell,
    events_of,
    event,
    blamed,
    evaluations,
    cycles,
    events,
)
