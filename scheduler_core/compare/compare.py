"""Compare two configurations of one scenario: the first difference, the final placements, and the metrics.

Both runs proceed in parallel, cycle by cycle, and only the two current cycles are kept. Up to the first
different decision both have the same cluster, so a cycle's verdicts and scores can be compared too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from scheduler_core.compare.configuration import differences
from scheduler_core.compare.in_step import InStep, PartedEarlierError
from scheduler_core.compare.plane import on_one_plane
from scheduler_core.compare.results.metrics import Metrics, Work, measure
from scheduler_core.compare.upgrade import Messages, UpgradeCheck, checked, concerns, with_rules
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.cycle import Cycle
from scheduler_core.run import Stepper
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.rule_history import history_of

PLACEMENTS_SHOWN = 1000
NODES_SHOWN = 10


class FirstDifference(Struct, frozen=True):
    """The first cycle in which something differs.

    ``what`` is in the order of a cycle's phases: pod, predicate (a node is feasible for only one), score (a
    total differs), choice, counter (the tie-break counter, which advances when nodes are scored).
    """

    index: int
    what: tuple[str, ...]
    a: dict[str, Any] | None  # None: this run had ended
    b: dict[str, Any] | None
    details: tuple[str, ...] = ()
    rule: str | None = None  # see deciding_rule()
    history: tuple[str, ...] = ()  # sentences on what became of the rule between releases


class PolicyComparison(Struct, frozen=True):
    """The results of one scenario under two policies.

    ``configuration`` lists the differences of the policies themselves; ``first`` is the first cycle with any
    difference, ``decision`` the first with a different outcome. ``placements`` maps a pod to its node under
    each policy ("" for none, the last one for a pod that the scenario deleted), for at most
    :data:`PLACEMENTS_SHOWN` of the ``differing`` pods.
    """

    configuration: tuple[str, ...]
    first: FirstDifference | None
    decision: FirstDifference | None
    differing: int
    placements: dict[str, tuple[str, str]]
    a: Metrics
    b: Metrics
    runs: tuple[Stepper, Stepper]  # as they ended
    upgrade: UpgradeCheck | None = None  # of two releases that are one set of plugins

    @property
    def same(self) -> bool:
        """Whether all decisions are equal."""
        return self.decision is None

    def as_dict(self) -> dict[str, Any]:
        """Return this as a JSON object."""
        return {
            "configuration": list(self.configuration),
            "same": self.same,
            "firstDifference": plain(self.first),
            "firstDecision": plain(self.decision),
            "placementsDiffering": self.differing,
            "placements": {pod: list(nodes) for pod, nodes in self.placements.items()},
            "metrics": {"a": self.a.as_dict(), "b": self.b.as_dict()},
            **({} if self.upgrade is None else {"upgrade": plain(self.upgrade)}),
        }


def compare(
    scenario_a: Scenario, scenario_b: Scenario, watch: Callable[[int], None] = lambda _cycles: None
) -> PolicyComparison:
    """Run two scenarios, of one cluster under two policies or of two clusters, and compare the runs.

    Nodes and pods are compared by their names. Both have controllers if one has them: see
    :mod:`scheduler_core.compare.plane`. ``watch`` is called after each cycle with their number, and ends the
    comparison by raising.

    Raises:
        PolicyError: One of the policies cannot be used.
    """
    scenarios = on_one_plane((scenario_a, scenario_b))
    try:
        return _compared(InStep(*scenarios), watch)
    except PartedEarlierError:
        return _compared(InStep(*scenarios, shared=False), watch)


def _compared(runs: InStep, watch: Callable[[int], None]) -> PolicyComparison:
    work_a, work_b = Work(), Work()
    first: FirstDifference | None = None
    decision: FirstDifference | None = None
    messages = Messages() if concerns(runs.a.scenario, runs.b.scenario) else None
    parted: tuple[int, Cycle | None, Cycle | None] | None = None
    for index, (left, right) in enumerate(runs, 1):
        a, b = runs.a, runs.b
        for cycle, work, simulation in ((left, work_a, a), (right, work_b, b)):
            if cycle is not None:
                work.add(cycle, simulation.cluster)
        watch(index)
        if messages is not None:
            messages.add(index, left, right)
        if decision is None and a is not b:
            found = _difference(index, left, right)
            if found is not None:
                decides = bool({"pod", "choice"} & set(found.what))
                if first is None or decides:
                    found = _difference(index, _recorded(a, left), _recorded(b, right)) or found
                first = first or found
                decision = found if decides else None
                parted = (index, left, right) if decides else None
    a, b = runs.a, runs.b
    upgrade = None
    if messages is not None:
        upgrade = checked((a.scenario, b.scenario), (a, b), messages, parted)
        ruled = with_rules(decision, upgrade.rules)
        first, decision = (ruled if first is decision else first), ruled
    differing, placements = _placements(a, b)
    return PolicyComparison(
        tuple(differences(a.scenario, b.scenario)),
        first,
        decision,
        differing,
        placements,
        measure(a, work_a),
        measure(b, work_b),
        (a, b),
        upgrade,
    )


def _recorded(simulation: Stepper, cycle: Cycle | None) -> Cycle | None:
    return None if cycle is None else simulation.with_matrices(cycle)


def _difference(index: int, a: Cycle | None, b: Cycle | None) -> FirstDifference | None:
    if a is None or b is None:
        what = ("pod",)
        details = [f"{'A' if a is None else 'B'} has ended, the other continues"]
        return FirstDifference(index, what, side_of(a), side_of(b), tuple(details))
    if a.pod != b.pod:
        return FirstDifference(
            index, ("pod",), side_of(a), side_of(b), (f"the next pod is {a.pod} under A and {b.pod} under B",)
        )
    checks = {
        "predicate": _verdicts(a, b),
        "score": _scores(a, b),
        "choice": _choice(a, b),
        "counter": _counter(a, b),
    }
    found = {what: texts for what, texts in checks.items() if texts}
    if not found:
        return None
    rule = deciding_rule(a, b)
    return FirstDifference(
        index,
        tuple(found),
        side_of(a),
        side_of(b),
        tuple(t for texts in found.values() for t in texts),
        rule,
        history_of(rule),
    )


def side_of(cycle: Cycle | None) -> dict[str, Any] | None:
    """Return the fields of one side's cycle that are shown, ``None`` if its run had ended."""
    if cycle is None:
        return None
    totals = [] if cycle.totals is None else cycle.totals.tolist()
    best = sorted(zip(totals, cycle.feasible.tolist()), key=lambda pair: (-pair[0], pair[1]))[:NODES_SHOWN]
    return {
        "step": cycle.step,
        "pod": cycle.pod,
        "result": cycle.result,
        "node": cycle.node,
        "message": cycle.message,
        "feasible": len(cycle.feasible),
        "totals": {cycle.nodes[node]: total for total, node in best},
        "nominated": cycle.decision.nominated,
        "victims": list(cycle.decision.victims),
    }


def _verdicts(a: Cycle, b: Cycle) -> list[str]:
    """Describe the nodes that are feasible under only one policy, with the other one's reason."""
    return [*_only(a, b, "A", "B"), *_only(b, a, "B", "A")]


def _only(cycle: Cycle, other: Cycle, name: str, other_name: str) -> Iterator[str]:
    fits = set(_names(other))
    nodes = [node for node in _names(cycle) if node not in fits]
    for node in nodes[:NODES_SHOWN]:
        yield f"{node} fits under {name}; under {other_name}: {_failure(other, node)}"
    if len(nodes) > NODES_SHOWN:
        yield f"and {len(nodes) - NODES_SHOWN:,} more nodes fit under {name} alone"


def _names(cycle: Cycle) -> list[str]:
    """Return the names of the feasible nodes: two scenarios may have different nodes."""
    return [cycle.nodes[node] for node in cycle.feasible.tolist()]


def _failure(cycle: Cycle, node: str) -> str:
    """Describe why a node is not feasible in a cycle."""
    if node not in cycle.nodes:
        return "there is no such node"
    failed = _failed(cycle, node)
    if failed is None or cycle.matrix is None:
        return cycle.message or "not evaluated"
    number, place = failed
    matrix = cycle.matrix
    error = matrix.errors.get((number, place))
    reasons = ", ".join(matrix.reasons[matrix.codes[number, place]])
    return f"{matrix.order[number]}: {error or reasons}"


def _failed(cycle: Cycle, node: str) -> tuple[int, int] | None:
    """Return the first predicate that failed on a node and the node's index, ``None`` if none did."""
    if cycle.matrix is None or node not in cycle.nodes:
        return None
    place = cycle.nodes.index(node)
    failed = np.flatnonzero(cycle.matrix.codes[:, place] > 0)
    return (int(failed[0]), place) if failed.size else None


def _scores(a: Cycle, b: Cycle) -> list[str]:
    """Describe the nodes that are feasible under both and whose total differs."""
    if a.totals is None or b.totals is None:
        return []
    totals = dict(zip(_names(b), b.totals.tolist()))
    pairs = [
        (node, total, totals[node])
        for node, total in zip(_names(a), a.totals.tolist())
        if node in totals and totals[node] != total
    ]
    shown = [
        f"{node}: total {left:,} under A, {right:,} under B" for node, left, right in pairs[:NODES_SHOWN]
    ]
    more = len(pairs) - len(shown)
    return [*shown, f"and {more:,} more nodes with different totals"] if more else shown


def deciding_rule(a: Cycle | None, b: Cycle | None) -> str | None:
    """Return the predicate or priority to which two cycles of one pod owe their different nodes.

    It is the predicate that stopped the node of the one in the other; if both could choose either node, the
    priority whose weighted score favors one's node over the other's by the most that it does not in the
    other cycle. ``None`` if it is neither, such as the order of the queue, a tie, another cluster, or nodes
    that only one of them evaluated.
    """
    if a is None or b is None or a.pod != b.pod:
        return None
    for cycle, other in ((a, b), (b, a)):
        if cycle.node is not None and (failed := _failed(other, cycle.node)) is not None:
            assert other.matrix is not None
            return other.matrix.order[failed[0]]
    if a.node is None or b.node is None or a.node == b.node:
        return None
    leads = [_leads(cycle, a.node, b.node) for cycle in (a, b)]
    if not all(leads):  # one of them did not score both nodes, as where it evaluates only some
        return None
    gaps = {
        key: abs(leads[0].get(key, 0) - leads[1].get(key, 0)) for key in dict.fromkeys([*leads[0], *leads[1]])
    }
    best = max(gaps, key=lambda key: gaps[key], default=None)
    return best if best is not None and gaps[best] else None


def _leads(cycle: Cycle, node: str, other: str) -> dict[str, int]:
    """Return by how much each priority favors a node over another, weighted."""
    names = _names(cycle)
    if node not in names or other not in names:
        return {}
    one, two = names.index(node), names.index(other)
    return {row.name: row.weight * (int(row.score[one]) - int(row.score[two])) for row in cycle.priorities}


def _choice(a: Cycle, b: Cycle) -> list[str]:
    one, two = a.decision, b.decision
    differences = []
    if (one.result, one.node) != (two.result, two.node):
        differences.append(f"{a.pod}: {_outcome(a)} under A, {_outcome(b)} under B")
    if (one.nominated, one.victims, one.cleared) != (two.nominated, two.victims, two.cleared):
        differences.append(f"preemption: {_preempting(a)} under A, {_preempting(b)} under B")
    return [*differences, *_further(dict(one.further), dict(two.further))]


def _further(a: dict[str, str], b: dict[str, str]) -> Iterator[str]:
    """Describe the pods that decisions place with the cycle's own on different nodes."""
    pods = [pod for pod in dict.fromkeys([*a, *b]) if a.get(pod) != b.get(pod)]
    for pod in pods[:NODES_SHOWN]:
        left, right = (f"to {nodes[pod]}" if pod in nodes else "not placed" for nodes in (a, b))
        yield f"{pod}: {left} under A, {right} under B"
    if len(pods) > NODES_SHOWN:
        yield f"and {len(pods) - NODES_SHOWN:,} more pods of the same decision"


def _counter(a: Cycle, b: Cycle) -> list[str]:
    """Describe that only one side scored the nodes of a cycle with the same result on both."""
    if a.decision.ranked == b.decision.ranked or a.result != b.result:
        return []
    ranking, other = ("A", "B") if a.decision.ranked else ("B", "A")
    return [f"{ranking} ranked the nodes and advanced the tie-break counter, {other} did not"]


def _outcome(cycle: Cycle) -> str:
    return f"to {cycle.node}" if cycle.node else cycle.result


def _preempting(cycle: Cycle) -> str:
    decision = cycle.decision
    victims = ", ".join(decision.victims)
    if decision.nominated is None:
        return victims or "none"
    return f"{victims or 'no pod'} on {decision.nominated}"


def _placements(a: Stepper, b: Stepper) -> tuple[int, dict[str, tuple[str, str]]]:
    """Return how many pods have different final nodes, and the first of them."""
    left, right = last_nodes(a), last_nodes(b)
    differing = 0
    shown: dict[str, tuple[str, str]] = {}
    for pod in dict.fromkeys([*left, *right]):
        nodes = left.get(pod, ""), right.get(pod, "")
        if nodes[0] != nodes[1]:
            differing += 1
            if len(shown) < PLACEMENTS_SHOWN:
                shown[pod] = nodes
    return differing, shown


def last_nodes(simulation: Stepper) -> dict[str, str]:
    """Return each pod's node: the last one for a pod the scenario deleted, "" for a preemption victim."""
    scheduled = (d for d in simulation.decisions if d.result == "scheduled")
    nodes = {pod: node for d in scheduled for pod, node in d.placements}
    nodes |= dict.fromkeys((victim for d in simulation.decisions for victim in d.victims), "")
    return nodes | simulation.placement()
