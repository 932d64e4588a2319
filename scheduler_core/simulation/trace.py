"""Serialize a Cycle as the documented JSON object, one per line (docs/trace.schema.json).

:func:`conformance_cycle` is the fixed format of the recorded decisions of kube-scheduler v1.11;
:func:`trace_cycle` is that format plus the fields that the trace adds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from scheduler_core.framework.plugins.observers import TRACE_FIELDS
from scheduler_core.objects.arrays import IntVector
from scheduler_core.objects.plain import plain
from scheduler_core.priorities.row import PriorityRow
from scheduler_core.scheduling.cycle import Cycle, PredicateMatrix, QueueEntry, TimedQueue
from scheduler_core.scheduling.preemption.record import Preemption
from scheduler_core.scheduling.timeline import TimelineEvent

NOTHING: list[str] = []  # one empty list shared by all pods of all dry runs, of which there are many


def conformance_cycle(cycle: Cycle) -> dict[str, Any]:
    """Return a cycle in the conformance format; ``order`` is complete even if nothing was evaluated."""
    matrix = cycle.unabridged if cycle.unabridged is not None else cycle.matrix
    return {
        "pod": cycle.pod,
        "result": cycle.result,
        "node": cycle.node,
        "message": cycle.message,
        "order": list(cycle.order),
        "predicates": _predicates(matrix, cycle.nodes) if matrix is not None else {},
        "failed": _failed(cycle),
        "feasible": [cycle.nodes[node] for node in cycle.feasible.tolist()],
        "priorities": {row.name: {"weight": row.weight, **_recorded(cycle, row)} for row in cycle.priorities},
        "totals": {} if cycle.totals is None else _by_node(cycle, cycle.totals),
        "lastNodeIndex": cycle.last_node_index,
        "preemption": conformance_preemption(cycle.preemption),
    }


def trace_cycle(cycle: Cycle) -> dict[str, Any]:
    """Return a cycle in the trace format; a predicate that was not reached on a node is omitted for it."""
    decision = cycle.decision
    return {
        "index": cycle.index,
        "step": cycle.step,
        "time": cycle.time,
        **conformance_cycle(cycle),
        "priorities": {row.name: _priority(cycle, row) for row in cycle.priorities},
        "preemptionDetail": preemption_detail(cycle.preemption),
        "quirks": plain(cycle.quirks),
        "nominatedPasses": [
            {"node": cycle.nodes[entry.node], "pods": list(entry.pods), "failed": entry.failed}
            for entry in cycle.nominated_passes
        ],
        "ties": [cycle.nodes[node] for node in cycle.ties.tolist()],
        "nominated": decision.nominated,
        **({"scheduler": cycle.scheduler} if cycle.scheduler else {}),
        **({"placements": [list(one) for one in decision.placements]} if decision.further else {}),
        **({"session": cycle.session.as_dict()} if cycle.session is not None else {}),
        "queue": {
            "active": [list(entry) for entry in cycle.queue.active],
            "activeCount": cycle.queue.active_count,
            "unschedulable": [list(entry) for entry in cycle.queue.unschedulable],
            "unschedulableCount": cycle.queue.unschedulable_count,
            **({} if cycle.queue.timed is None else {"timed": timed_queue(cycle.queue.timed)}),
        },
        "operations": list(cycle.operations),
        "restart": plain(cycle.restart),
        "cache": {"mode": "off"} if cycle.cache is None else cycle.cache.as_dict(),
        **TRACE_FIELDS,
        **{name: value for record in cycle.plugins for name, value in record.as_dict().items()},
        "phases": list(cycle.phases),
        "events": plain(cycle.events),
        **(
            {}
            if cycle.moves is None
            else {
                "happenings": happenings(cycle.happenings),
                "consequences": happenings(cycle.consequences),
                "moves": [list(move) for move in cycle.moves],
            }
        ),
    }


def happenings(told: Iterable[TimelineEvent]) -> list[dict[str, Any]]:
    """Return the timeline events as JSON objects, one per event."""
    return [{"time": h.time, "what": h.what, "about": h.about, "text": h.text} for h in told]


def timed_queue(queue: TimedQueue) -> dict[str, Any]:
    """Return the queues in virtual time: every pod with its sort key, its timers and why it is there."""
    return {
        "tried": _queued(queue.tried),
        "counts": queue.counts,
        "entries": [_queued(entry) for entry in queue.entries],
        "waiting": plain(queue.waiting),
        "flushes": [{"queue": name, "at": at} for name, at in queue.flushes],
    }


def _queued(entry: QueueEntry) -> dict[str, Any]:
    return {
        "pod": entry.pod,
        "place": entry.place,
        "sortKey": list(entry.sort_key),
        "sortBy": entry.sort_by,
        "queued": entry.queued,
        "since": entry.since,
        "attempts": entry.attempts,
        "backoffUntil": entry.backoff_until,
        "movedBy": entry.moved_by,
        "refusedBy": list(entry.refused_by),
        "nominated": entry.nominated or None,
    }


def conformance_preemption(tried: Preemption | None) -> dict[str, Any] | None:
    """Return the preemption object of the conformance format; ``None`` if preemption was not attempted."""
    if tried is None:
        return None
    return {
        "eligible": tried.eligible,
        "potentialNodes": _names(tried, tried.potential),
        "candidates": {
            tried.nodes[run.node]: {"victims": run.victims, "pdbViolations": run.violations}
            for run in tried.candidates
        },
        "node": tried.node,
        "ties": list(tried.ties),
        "victims": tried.victims,
        "clearedNominations": list(tried.cleared),
    }


def preemption_detail(tried: Preemption | None) -> dict[str, Any] | None:
    """Return the trace's further fields on preemption: dry runs, criteria, and nodes where it cannot help."""
    if tried is None:
        return None
    return {
        "leaving": {"node": tried.leaving_from, "pods": list(tried.leaving)},
        "hopeless": [
            {"why": group.why, "reasons": list(group.reasons), "nodes": _names(tried, group.nodes)}
            for group in tried.hopeless
        ],
        "dryRuns": {
            tried.nodes[run.node]: {
                "removed": [pod.key for pod in run.removed],
                "putBack": [
                    {
                        "pod": pod,
                        "priority": priority,
                        "violates": list(budgets) if budgets else NOTHING,
                        "result": "kept" if kept else "victim",
                        "reasons": list(reasons) if reasons else NOTHING,
                    }
                    for pod, priority, budgets, kept, reasons in run.steps()
                ],
            }
            for run in tried.candidates
        },
        "criteria": [
            {
                "criterion": row.criterion,
                "values": dict(zip(_names(tried, row.nodes), row.values.tolist())),
                "stay": _names(tried, row.nodes[row.stay]),
                "decided": row.decided,
            }
            for row in tried.comparisons
        ],
        "decidedBy": tried.decided_by,
    }


def _names(tried: Preemption, nodes: IntVector) -> list[str]:
    return [tried.nodes[node] for node in nodes.tolist()]


def trace_line(cycle: Cycle) -> str:
    """Return a cycle's line of the trace, without the line break."""
    return json.dumps(trace_cycle(cycle), ensure_ascii=False, separators=(",", ":"))


def _recorded(cycle: Cycle, row: PriorityRow) -> dict[str, Any]:
    """Return the conformance format's ``map`` and ``score`` of a priority."""
    return {
        "map": None if row.raw is None else _by_node(cycle, row.raw),
        "score": _by_node(cycle, row.score),
    }


def _priority(cycle: Cycle, row: PriorityRow) -> dict[str, Any]:
    """Return a priority in the trace format: with its kind and its contribution to each node's total."""
    return {
        "kind": row.kind,
        "weight": row.weight,
        **_recorded(cycle, row),
        "weighted": _by_node(cycle, row.weighted),
    }


def _by_node(cycle: Cycle, values: IntVector) -> dict[str, int]:
    return {cycle.nodes[node]: value for node, value in zip(cycle.feasible.tolist(), values.tolist())}


def _predicates(matrix: PredicateMatrix, nodes: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return each node's verdicts; equal verdicts share one object because most nodes are alike."""
    columns = np.ascontiguousarray(matrix.codes.T)
    data, width = columns.tobytes(), columns.itemsize * columns.shape[1]
    with_errors = {node for _, node in matrix.errors}
    shared: dict[bytes, dict[str, Any]] = {}
    result: dict[str, dict[str, Any]] = {}
    for node, name in enumerate(nodes):
        codes = data[node * width : (node + 1) * width]
        entry = shared.get(codes)
        if entry is None or node in with_errors:
            entry = _verdicts(matrix, node)
            if node not in with_errors:
                shared[codes] = entry
        result[name] = entry
    return result


def _verdicts(matrix: PredicateMatrix, node: int) -> dict[str, Any]:
    """Return the verdict of each predicate that was reached on a node."""
    entry: dict[str, Any] = {}
    for number, code in enumerate(matrix.codes[:, node].tolist()):
        if code < 0:
            continue
        error = matrix.errors.get((number, node))
        verdict: dict[str, Any] = {"fit": code == 0 and error is None, "reasons": list(matrix.reasons[code])}
        if error is not None:
            verdict["error"] = error
        entry[matrix.order[number]] = verdict
    return entry


def _failed(cycle: Cycle) -> dict[str, list[str]]:
    """Return each infeasible node's reasons as the scheduler collected them; empty after an error."""
    matrix = cycle.matrix
    if matrix is None or cycle.result == "error":
        return {}
    nodes = np.flatnonzero((matrix.codes > 0).any(axis=0)).tolist()
    return {cycle.nodes[node]: list(_reasons(matrix, node)) for node in nodes}


def _reasons(matrix: PredicateMatrix, node: int) -> Iterator[str]:
    for code in matrix.codes[:, node].tolist():
        if code > 0:
            yield from matrix.reasons[code]
