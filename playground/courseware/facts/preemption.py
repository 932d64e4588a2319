"""What preemption tried: dry runs, the criteria, and where it cannot help."""

from __future__ import annotations

from playground.courseware.expression import FactError
from playground.courseware.facts.moment import ShownMoment, row_of, short, shorts
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.record.cycle import Cycle
from scheduler_core.record.preemption import DryRun


def victims(moment: ShownMoment, node: str = "", at: str = "", of: str = "") -> list[str]:
    """The pods that preemption deletes; with a node, those that its dry run would delete."""
    found = moment.decided(at, of)
    if not node:
        return shorts(found.decision.victims)
    return shorts(_dry_run(found, node).victims)


def spared(moment: ShownMoment, node: str, at: str = "", of: str = "") -> list[str]:
    """The pods of lower priority that the dry run of a node puts back."""
    run = _dry_run(moment.decided(at, of), node)
    return [short(pod.key) for pod in run.order if pod.key not in run.victims]


def candidates(moment: ShownMoment, at: str = "", of: str = "") -> list[str]:
    """The nodes on which preemption would help."""
    found = moment.decided(at, of)
    return [] if found.preemption is None else [found.nodes[run.node] for run in found.preemption.candidates]


def hopeless(moment: ShownMoment, why: str = "", at: str = "", of: str = "") -> list[str]:
    """The nodes on which preemption cannot help; ``why`` is unresolvable, nothing-lower or still-unfit."""
    found = moment.decided(at, of)
    groups = [] if found.preemption is None else found.preemption.hopeless
    return [found.nodes[row] for group in groups if why in ("", group.why) for row in group.nodes.tolist()]


def _dry_run(found: Cycle, node: str) -> DryRun:
    row = row_of(found, node)
    runs = [] if found.preemption is None else found.preemption.candidates
    run = next((one for one in runs if one.node == row), None)
    if run is None:
        raise FactError(f"{node} has no dry run of preemption in this cycle")
    return run


def compared(moment: ShownMoment, node: str, criterion: str, at: str = "", of: str = "") -> int:
    """A candidate's value by a criterion of the choice, such as ``violations``; the lowest stays."""
    found = moment.decided(at, of)
    row = row_of(found, node)
    rounds = {} if found.preemption is None else {one.criterion: one for one in found.preemption.comparisons}
    if criterion not in rounds:
        meant = did_you_mean(criterion, rounds) or f": they are {', '.join(rounds)}"
        raise FactError(f"{criterion!r} is no criterion of this choice{meant}")
    nodes = rounds[criterion].nodes.tolist()
    if row not in nodes:
        raise FactError(f"{node} is not compared by {criterion}")
    return int(rounds[criterion].values[nodes.index(row)])


FACTS = (
    victims,
    spared,
    candidates,
    hopeless,
    compared,
)
