"""Convert an attempt of kube-scheduler v1.37 into the Cycle record that every view reads.

Nodes are in the order of their objects, as in every Cycle; the order in which v1.37 walked them is in its own
record (:mod:`scheduler_core.run.v1_37.record`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.record.choice import NO_CHOICE, LateChoice, NodeChoice
from scheduler_core.record.cycle import Cycle, Decision, KubernetesEvent, PredicateMatrix, QueueState
from scheduler_core.record.preemption import (
    CriterionRound,
    DryRun,
    NodeGroup,
    Preemption,
)
from scheduler_core.record.priority_row import PriorityRow
from scheduler_core.schedulers.v1_37.candidates import Candidate
from scheduler_core.schedulers.v1_37.disruption import DisruptionBudgets
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.node_list import NO_NODES, NodeList
from scheduler_core.schedulers.v1_37.nodes import NodeTable, Rows
from scheduler_core.schedulers.v1_37.preemption import NO_VICTIMS
from scheduler_core.schedulers.v1_37.run import Ran
from scheduler_core.schedulers.v1_37.score_arrays import ScoredNodes
from scheduler_core.schedulers.v1_37.status import ERROR, SKIP, UNRESOLVABLE, UNSCHEDULABLE, Status

PRE_FILTER = "PreFilter"
"""The matrix's first row where a plugin's PreFilter refused the pod, or left nodes out."""

Places = NDArray[np.int32]
"""The position of each row of v1.37's columns among the nodes of a Cycle; -1 for a node that is gone."""

_OFFSET = 2**31


def decision_of(ran: Ran) -> Decision:
    """Return the decision of a cycle: that of its pod or, of a group, of the first member it placed."""
    attempt = leading(ran)
    bound = dict(ran.bound)
    if attempt is None:  # a group was refused before any member was tried
        return Decision(ran.pod, "unschedulable", victims=tuple(ran.deleted))
    kept = attempt.result if attempt.result in ("waiting", "error") else "unschedulable"
    result = "scheduled" if bound else kept
    node = bound.pop(attempt.pod.key, attempt.node if kept == "waiting" else None)
    return Decision(
        attempt.pod.key,
        result,  # type: ignore[arg-type]
        node,
        nominated=attempt.nominated or None,
        victims=tuple(ran.deleted),
        cleared=tuple(pod.key for pod in attempt.lost_nominations),
        ranked=attempt.ranked,
        further=tuple(bound.items()),
    )


def leading(ran: Ran) -> PodAttempt | None:
    """Return the attempt that a cycle is shown by: the first that bound its pod, else that found no node.

    A group's cycle may try a member in several placements; one of these attempts is its outcome.
    """
    if len(ran.attempts) == 1:
        return ran.attempts[0]
    counted = [attempt for attempt in ran.attempts if attempt.result != "tried"]
    bound = (attempt for attempt in counted if attempt.result in ("scheduled", "waiting"))
    failed = (attempt for attempt in counted if attempt.walked and attempt.node is None)
    return next(chain(bound, failed, counted, ran.attempts), None)


def bare_cycle(decision: Decision, names: tuple[str, ...]) -> Cycle:
    """Return a cycle with its decision alone: what a trail keeps."""
    return Cycle(
        index=0,
        step="",
        time=0.0,
        decision=decision,
        message=None,
        nodes=names,
        matrix=None,
        choice=NO_CHOICE,
        priorities=[],
        last_node_index=0,
        preemption=None,
        queue=QueueState([], 0, [], 0),
        operations=(),
        events=[],
    )


def places_of(nodes: NodeTable, index: Mapping[str, int]) -> Places:
    """Return where each row's node is among the nodes of a Cycle; ``index`` has its names' positions."""
    found = (index.get(node.name, -1) for node in nodes.nodes)
    return np.fromiter(found, np.int32, len(nodes.nodes))


def filtered(attempt: PodAttempt) -> int:
    """Return on how many nodes Filter was run."""
    if len(attempt.walked) < 2:
        return sum(map(len, attempt.walked))
    return len(np.unique(_rows(attempt.walked)))


def fill(cycle: Cycle, ran: Ran, places: Places, *, whole: bool) -> None:
    """Add the result of a cycle's leading attempt, and if it is ``whole`` what only views need."""
    attempt = leading(ran)
    cycle.phases = ("queue",)
    if attempt is None:
        return
    cycle.message = attempt.message
    cycle.order = tuple(attempt.profile.points["filter"])
    if whole:
        cycle.matrix = matrix_of(attempt, places, len(cycle.nodes))
        cycle.preemption = preemption_of(attempt, cycle.nodes, places)
        cycle.events = list(_events(ran))
    cycle.asked = sum(map(len, attempt.walked)) * len(cycle.order)
    cycle.choice = _choice(cycle, attempt, places, whole=whole)
    cycle.phases = tuple(_phases(attempt, cycle))


def _choice(cycle: Cycle, attempt: PodAttempt, places: Places, *, whole: bool) -> NodeChoice | LateChoice:
    """Return among which nodes the attempt chose, and add its priorities to a cycle that is ``whole``."""
    scored = attempt.scored
    if scored is None:
        alone = attempt.node is not None and not attempt.reused
        found = [_row_of(attempt, str(attempt.node))] if alone else _rows(attempt.passed)
        # Asked for the values alone, NumPy imports numpy.ma, which takes 20 ms.
        return NodeChoice(np.unique(places[found], return_index=True)[0].astype(np.int32, copy=False))
    if not whole:
        return LateChoice(partial(_ranked, scored, places, len(cycle.nodes)), scored.counts)
    order = np.argsort(places[scored.nodes.rows], kind="stable")
    cycle.priorities = [
        PriorityRow(key, row.weight, "map/reduce", row.raw[order], row.normalized[order])
        for key, row in scored.plugins.items()
    ]
    return _ranked(scored, places, len(cycle.nodes))


def _ranked(scored: ScoredNodes, places: Places, size: int) -> NodeChoice:
    """Return the nodes of a ranking in the order of ``size`` objects; ties in the order of the walk."""
    at, totals = places[scored.nodes.rows], scored.totals
    by_place = np.empty(size, np.int64)
    by_place[at] = totals
    everywhere = len(at) == size
    feasible = np.arange(size, dtype=np.int32) if everywhere else np.sort(at)
    in_order = by_place if everywhere else by_place[feasible]
    return NodeChoice(feasible, in_order, at[totals == totals.max()])


def _rows(lists: Iterable[NodeList]) -> Rows:
    return np.concatenate([NO_NODES.rows, *(nodes.rows for nodes in lists)])


def _row_of(attempt: PodAttempt, node: str) -> int:
    row: int = attempt.context.nodes.rows[node]
    return row


def _phases(attempt: PodAttempt, cycle: Cycle) -> Iterable[str]:
    yield "queue"
    if cycle.matrix is not None:
        yield "predicates"
    if attempt.scored is not None:
        yield from ("priorities", "select")
    if cycle.preemption is not None:
        yield "preemption"
    if attempt.result == "waiting":
        yield from ("assume", "permit")
    elif attempt.node is not None and (cycle.decision.node is not None or attempt.error is not None):
        yield from ("assume", "bind")  # an error after a node was chosen is the binding's


def _events(ran: Ran) -> Iterable[KubernetesEvent]:
    """Yield the events that v1.37's recorder writes."""
    for one in ran.attempts:
        pod = f"pod/{one.pod.key}"
        node = ran.bound.get(one.pod.key)
        if node is not None:
            text = f"Successfully assigned {one.pod.key} to {node}"
            yield KubernetesEvent("Normal", "Scheduled", pod, text)
        elif one.message:
            yield KubernetesEvent("Warning", "FailedScheduling", pod, one.message)
    shown = leading(ran)
    nominated = None if shown is None else shown.nominated
    for victim in ran.deleted:
        text = f"Preempted by {ran.entity} on node {nominated}" if nominated else f"Preempted by {ran.entity}"
        yield KubernetesEvent("Normal", "Preempted", f"pod/{victim}", text)


# --- the matrix


def matrix_of(attempt: PodAttempt, places: Places, size: int) -> PredicateMatrix | None:
    """Return each filter plugin's verdict on each of ``size`` nodes; -1 where it was not reached.

    A plugin that PreFilter skipped passes every node, as the release's record shows. Nodes that the walk
    did not come to have no verdict at all.
    """
    order = tuple(attempt.profile.points["filter"])
    refused: tuple[NDArray[np.int32], Status] | None = None
    everywhere = np.arange(size, dtype=np.int32)
    if attempt.rejection is not None and attempt.total_nodes:
        refused = everywhere, attempt.rejection
    elif attempt.error is not None and not attempt.walked:
        refused = everywhere, Status(ERROR, (attempt.error,))
    elif len(attempt.absent):
        at = places[attempt.absent.nodes.rows]
        refused = at[at >= 0], attempt.absent.statuses[0]
    walked = places[_rows(attempt.walked)]
    if not len(walked) and refused is None:
        return None
    lead = 0 if refused is None else 1
    rows = {key: place + lead for place, key in enumerate(order)}
    codes = np.full((len(order) + lead, size), -1, np.int16)
    reasons = _Reasons()
    errors: dict[tuple[int, int], str] = {}
    codes[:, walked] = 0
    failed = attempt.by_plugins if attempt.asked else attempt.failed
    for status, nodes in failed.groups():
        row, at = rows.get(status.plugin, lead), places[nodes.rows]
        codes[row + 1 :, at] = -1
        if status.code == ERROR:
            codes[row, at] = 0
            errors.update(((row, place), status.text) for place in at.tolist())
        else:
            codes[row, at] = reasons.code(status.reasons)
    if refused is not None:
        at, status = refused
        codes[:, at] = -1
        codes[0, at] = reasons.code(status.reasons)
    extended = _extended(attempt, places, size, reasons)
    if extended:
        codes = np.vstack([codes, *extended.values()])
    head = (PRE_FILTER,) if lead else ()
    return PredicateMatrix((*head, *order, *extended), codes, reasons.texts, errors)


def _extended(
    attempt: PodAttempt, places: Places, size: int, reasons: _Reasons
) -> dict[str, NDArray[np.int16]]:
    """Return a row for each extender that filtered, by its label; -1 for nodes that it was not asked about.

    A node that it failed or dropped has the code of its message, which may be empty.
    """
    rows: dict[str, NDArray[np.int16]] = {}
    at = attempt.context.nodes.rows
    for label, asked, messages in attempt.asked:
        row = rows.setdefault(label, np.full(size, -1, np.int16))
        row[places[[at[name] for name in asked]]] = 0
        for name, message in messages.items():
            row[places[at[name]]] = reasons.code((message,) if message else ())
    return rows


class _Reasons:
    """Codes of reason texts; 0 is none."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, ...]] = [()]
        self._codes: dict[tuple[str, ...], int] = {}

    def code(self, texts: tuple[str, ...]) -> int:
        """Return the code of the texts."""
        found = self._codes.get(texts)
        if found is None:
            found = self._codes[texts] = len(self.texts)
            self.texts.append(texts)
        return found


def skipped_filters(attempt: PodAttempt) -> tuple[str, ...]:
    """Return the filter plugins whose PreFilter answered Skip."""
    skips = {key for key, status in attempt.pre_filter.items() if status.get("code") == SKIP}
    return tuple(key for key in attempt.profile.points["filter"] if key in skips)


def skipped_scores(attempt: PodAttempt) -> tuple[str, ...]:
    """Return the score plugins whose PreScore answered Skip."""
    return tuple(key for key, code in attempt.pre_score.items() if code == SKIP)


# --- preemption


def preemption_of(attempt: PodAttempt, names: tuple[str, ...], places: Places) -> Preemption | None:
    """Return what DefaultPreemption tried; None if it did not run."""
    status = attempt.post_filter.get("DefaultPreemption")
    if status is None:
        return None
    if attempt.preemption is None:
        return _ineligible(attempt, names)
    candidates: list[Candidate] = attempt.candidates
    index = {node: int(places[row]) for node, row in attempt.context.nodes.rows.items()}
    budgets = DisruptionBudgets(attempt.context.cluster)
    runs = {one.node: _dry_run(one, index[one.node], budgets) for one in candidates}
    tried = attempt.failed.with_code(UNSCHEDULABLE)
    rejected: Mapping[str, Mapping[str, object]] = attempt.preemption["rejected"]
    chosen = attempt.preemption["node"]
    rounds = list(_rounds(candidates, index))
    best = rounds[-1].nodes[rounds[-1].stay] if rounds else np.zeros(0, np.int64)
    return Preemption(
        names,
        potential=np.sort(places[tried.rows]).astype(np.int64),
        hopeless=[*_unresolvable(attempt, places), *_rejected(rejected, index)],
        candidates=sorted(runs.values(), key=lambda run: run.node),
        comparisons=rounds,
        chosen=runs.get(chosen) if chosen else None,
        ties=tuple(sorted(names[node] for node in best.tolist())),
        cleared=tuple(pod.key for pod in attempt.lost_nominations),
    )


def _ineligible(attempt: PodAttempt, names: tuple[str, ...]) -> Preemption:
    never = attempt.pod.spec.get("preemptionPolicy") == "Never"
    if never:
        return Preemption(names, eligible=False, never=True)
    node = attempt.pod.nominated_node
    row = attempt.context.nodes.row(node) if node else None
    leaving = () if row is None else attempt.context.nodes.nodes[row].pods
    keys = tuple(pod.key for pod in leaving if pod.terminating)
    return Preemption(names, eligible=False, leaving=keys, leaving_from=node or None)


def _dry_run(candidate: Candidate, place: int, budgets: DisruptionBudgets) -> DryRun:
    victims, removed = candidate.victims, candidate.removed
    violated = {pod.key: budgets.names(pod) for pod in removed if pod.key in candidate.violating}
    return DryRun(place, removed, removed, violated, victims, [()] * len(victims))


def _unresolvable(attempt: PodAttempt, places: Places) -> Iterable[NodeGroup]:
    """Yield the nodes on which deleting pods resolves nothing, by their reasons."""
    groups: dict[tuple[str, ...], list[Rows]] = {}
    for status, nodes in (*attempt.failed.groups(), *attempt.absent.groups()):
        if status.code == UNRESOLVABLE:
            groups.setdefault(status.reasons, []).append(nodes.rows)
    for reasons, rows in groups.items():
        yield NodeGroup("unresolvable", reasons, np.sort(places[np.concatenate(rows)]).astype(np.int64))


def _rejected(rejected: Mapping[str, Mapping[str, object]], places: Mapping[str, int]) -> Iterable[NodeGroup]:
    groups: dict[tuple[str, ...], list[int]] = {}
    for node, document in rejected.items():
        listed = document.get("reasons")
        groups.setdefault(tuple(listed) if isinstance(listed, list) else (), []).append(places[node])
    for reasons, nodes in groups.items():
        why = "nothing-lower" if reasons == (NO_VICTIMS,) else "still-unfit"
        found = np.array(sorted(nodes), np.int64)
        yield NodeGroup(why, () if why == "nothing-lower" else reasons, found)  # type: ignore[arg-type]


def _rounds(candidates: list[Candidate], places: Mapping[str, int]) -> Iterable[CriterionRound]:
    """Yield the criteria that were compared, until one node is left (pickOneNodeForPreemption)."""
    left = sorted(candidates, key=lambda one: places[one.node])
    rows = {
        "pdb-violations": [one.violations for one in left],
        "highest-priority": [one.units[0].priority for one in left],
        "priority-sum": [
            sum((unit.priority + _OFFSET) * len(unit.pods) for unit in one.units) for one in left
        ],
        "victim-count": [len(one.victims) for one in left],
        "start-time": [
            -min(unit.started for unit in one.units if unit.priority == one.units[0].priority) for one in left
        ],
    }
    places_left = np.array([places[one.node] for one in left], np.int64)
    alive = np.ones(len(left), np.bool_)
    for criterion, values in rows.items():
        if alive.sum() < 2:
            return
        here: IntVector = np.array(values, np.int64)[alive]
        exact = [value for value, kept in zip(values, alive.tolist()) if kept]
        stay = np.array([value == min(exact) for value in exact], np.bool_)
        yield CriterionRound(criterion, places_left[alive], here, stay)
        alive[np.flatnonzero(alive)[~stay]] = False
