"""Serialize a Cycle as the documented JSON object, one per line (docs/trace.schema.json).

:func:`conformance_cycle` is the fixed format of the recorded decisions of kube-scheduler v1.11;
:func:`trace_cycle` is that format plus the fields that the trace adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypeAlias, TypeVar, cast

import numpy as np
from msgspec import UNSET, Meta, UnsetType, defstruct, json
from msgspec.structs import asdict

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.conversion import converted
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.cache_record import CacheRecord
from scheduler_core.record.cycle import Cycle, PredicateMatrix, QueueEntry, QueueState, TimedQueue
from scheduler_core.record.preemption import Preemption
from scheduler_core.record.priority_row import PriorityRow
from scheduler_core.record.several import ViewRecord
from scheduler_core.run.several.descheduler_record import FIELDS as DESCHEDULER_FIELDS
from scheduler_core.run.several.kueue_record import FIELDS as QUEUEING_FIELDS
from scheduler_core.run.trace_line import (
    CacheLine,
    CacheOff,
    CacheTotals,
    CandidateLine,
    CriterionLine,
    CycleLine,
    DryRunLine,
    FlushLine,
    LeavingLine,
    NodeGroupLine,
    NominatedPassLine,
    PredicateVerdict,
    PreemptionDetail,
    PreemptionLine,
    PriorityLine,
    PutBackLine,
    QueueEntryLine,
    QueueLine,
    TimedQueueLine,
    TimelineLine,
)
from scheduler_core.run.v1_37.record import FIELDS
from scheduler_core.schedulers.extenders.record import FIELDS as EXTENDER_FIELDS
from scheduler_core.schedulers.firmament.record import RoundRecord
from scheduler_core.schedulers.kube_batch.record import SessionRecord
from scheduler_core.schedulers.v1_22.plugins.observers import TRACE_FIELDS

T = TypeVar("T")
Verdicts: TypeAlias = dict[str, PredicateVerdict]  # of one node, by predicate
SESSION = Annotated[
    SessionRecord | UnsetType,
    Meta(description="Only for an attempt of kube-batch, which is a session: what happened in it, in order."),
]
ROUND = Annotated[
    RoundRecord | UnsetType,
    Meta(description="Only for an attempt of Firmament, which is a round: its flow networks in order."),
]
VIEW = Annotated[
    ViewRecord | UnsetType,
    Meta(description="Only if schedulers have views of their own: what this one believed, and of when."),
]
LINE = cast(
    "type[CycleLine]",
    defstruct(
        "Cycle",
        [
            *((name, kind, None) for name, kind in TRACE_FIELDS.items()),
            ("session", SESSION, UNSET),
            ("round", ROUND, UNSET),
            *((name, kind | UnsetType, UNSET) for name, kind in EXTENDER_FIELDS.items()),
            ("view", VIEW, UNSET),
            *((name, kind | UnsetType, UNSET) for name, kind in DESCHEDULER_FIELDS.items()),
            *((name, kind | UnsetType, UNSET) for name, kind in QUEUEING_FIELDS.items()),
            *((name, kind, UNSET) for name, kind in FIELDS.items()),
        ],
        bases=(CycleLine,),
        frozen=True,
        kw_only=True,
    ),
)
"""The type of a line: with the fields of the plugins' records, null where there is no record."""


def conformance_cycle(cycle: Cycle) -> dict[str, Any]:
    """Return a cycle in the conformance format; ``order`` is complete even if nothing was evaluated."""
    return {
        "pod": cycle.pod,
        "result": cycle.result,
        "node": cycle.node,
        "message": cycle.message,
        "order": list(cycle.order),
        "predicates": _predicates(cycle, lambda matrix, node: plain(_verdicts(matrix, node))),
        "failed": _failed(cycle),
        "feasible": [cycle.nodes[node] for node in cycle.feasible.tolist()],
        "priorities": {row.name: {"weight": row.weight, **_recorded(cycle, row)} for row in cycle.priorities},
        "totals": _totals(cycle),
        "lastNodeIndex": cycle.last_node_index,
        "preemption": plain(preemption_line(cycle.preemption)),
    }


def trace_line(cycle: Cycle) -> str:
    """Return a cycle's line of the trace, without the line break."""
    return json.encode(trace_cycle(cycle)).decode()


def trace_cycle(cycle: Cycle) -> CycleLine:
    """Return a cycle in the trace format; a predicate that was not reached on a node is omitted for it."""
    decision = cycle.decision
    virtual = cycle.moves is not None
    return LINE(
        index=cycle.index,
        step=cycle.step,
        time=cycle.time,
        pod=cycle.pod,
        result=cycle.result,
        node=cycle.node,
        message=cycle.message,
        order=cycle.order,
        predicates=_predicates(cycle, _verdicts),
        failed=_failed(cycle),
        feasible=[cycle.nodes[node] for node in cycle.feasible.tolist()],
        priorities={row.name: _priority(cycle, row) for row in cycle.priorities},
        totals=_totals(cycle),
        last_node_index=cycle.last_node_index,
        preemption=preemption_line(cycle.preemption),
        preemption_detail=preemption_detail(cycle.preemption),
        quirks=cycle.quirks,
        nominated_passes=[
            NominatedPassLine(cycle.nodes[entry.node], entry.pods, entry.failed)
            for entry in cycle.nominated_passes
        ],
        ties=[cycle.nodes[node] for node in cycle.ties.tolist()],
        nominated=decision.nominated,
        scheduler=cycle.scheduler or UNSET,
        placements=decision.placements if decision.further else UNSET,
        queue=_queue(cycle.queue),
        operations=cycle.operations,
        restart=cycle.restart,
        cache=CacheOff() if cycle.cache is None else _cache(cycle.cache),
        phases=cycle.phases,
        events=cycle.events,
        happenings=converted(cycle.happenings, list[TimelineLine]) if virtual else UNSET,
        consequences=converted(cycle.consequences, list[TimelineLine]) if virtual else UNSET,
        moves=UNSET if cycle.moves is None else cycle.moves,
        **({} if cycle.session is None else {cycle.session.field: cycle.session}),
        **({} if cycle.view is None else {"view": cycle.view}),
        **{name: value for record in cycle.plugins for name, value in record.fields().items()},
    )


def _queue(queue: QueueState) -> QueueLine:
    return QueueLine(
        active=queue.active,
        active_count=queue.active_count,
        unschedulable=queue.unschedulable,
        unschedulable_count=queue.unschedulable_count,
        timed=UNSET if queue.timed is None else _timed_queue(queue.timed),
    )


def _timed_queue(queue: TimedQueue) -> TimedQueueLine:
    return TimedQueueLine(
        tried=_queued(queue.tried),
        counts=queue.counts,
        entries=[_queued(entry) for entry in queue.entries],
        waiting=queue.waiting,
        flushes=[FlushLine(name, at) for name, at in queue.flushes],
    )


def _queued(entry: QueueEntry) -> QueueEntryLine:
    return QueueEntryLine(
        pod=entry.pod,
        place=entry.place,
        sort_key=entry.sort_key,
        sort_by=entry.sort_by,
        queued=entry.queued,
        since=entry.since,
        attempts=entry.attempts,
        backoff_until=entry.backoff_until,
        moved_by=entry.moved_by,
        refused_by=entry.refused_by,
        nominated=entry.nominated or None,
    )


def _cache(record: CacheRecord) -> CacheLine:
    stats = record.stats
    return CacheLine(
        **asdict(record.counts),
        evaluations=record.counts.evaluations,
        mode=record.mode,
        equivalence_class=record.definition,
        hash=None if record.hash is None else f"{record.hash:016x}",
        class_=record.name,
        members=record.members,
        bypass=record.bypass,
        hint=record.hint,
        totals=CacheTotals(**asdict(record.totals), evaluations=record.totals.evaluations),
        by_rule=dict(record.by_rule),
        invalidations=record.invalidations,
        invalidations_count=record.invalidations_count,
        audit=record.audited,
        stale_hits=record.stale,
        causes=dict(record.causes),
        **(
            {}
            if stats is None
            else {name: value for name, value in asdict(stats).items() if name != "predicates"}
        ),
    )


def preemption_line(tried: Preemption | None) -> PreemptionLine | None:
    """Return the preemption object of the conformance format; ``None`` if preemption was not attempted."""
    if tried is None:
        return None
    return PreemptionLine(
        eligible=tried.eligible,
        potential_nodes=_names(tried, tried.potential),
        candidates={
            tried.nodes[run.node]: CandidateLine(run.victims, run.violations) for run in tried.candidates
        },
        node=tried.node,
        ties=tried.ties,
        victims=tried.victims,
        cleared_nominations=tried.cleared,
    )


def preemption_detail(tried: Preemption | None) -> PreemptionDetail | None:
    """Return the trace's further fields on preemption: dry runs, criteria, and nodes where it cannot help."""
    if tried is None:
        return None
    return PreemptionDetail(
        leaving=LeavingLine(tried.leaving_from, tried.leaving),
        hopeless=[
            NodeGroupLine(group.why, group.reasons, _names(tried, group.nodes)) for group in tried.hopeless
        ],
        dry_runs={
            tried.nodes[run.node]: DryRunLine(
                [pod.key for pod in run.removed],
                [
                    PutBackLine(pod, priority, budgets, "kept" if kept else "victim", reasons)
                    for pod, priority, budgets, kept, reasons in run.steps()
                ],
            )
            for run in tried.candidates
        },
        criteria=[
            CriterionLine(
                row.criterion,
                dict(zip(_names(tried, row.nodes), row.values.tolist())),
                _names(tried, row.nodes[row.stay]),
                row.decided,
            )
            for row in tried.comparisons
        ],
        decided_by=tried.decided_by,
    )


def _names(tried: Preemption, nodes: IntVector) -> list[str]:
    return [tried.nodes[node] for node in nodes.tolist()]


def _recorded(cycle: Cycle, row: PriorityRow) -> dict[str, Any]:
    """Return the conformance format's ``map`` and ``score`` of a priority."""
    return {
        "map": None if row.raw is None else _by_node(cycle, row.raw),
        "score": _by_node(cycle, row.score),
    }


def _priority(cycle: Cycle, row: PriorityRow) -> PriorityLine:
    """Return a priority in the trace format: with its kind and its contribution to each node's total."""
    return PriorityLine(
        kind=row.kind, weight=row.weight, **_recorded(cycle, row), weighted=_by_node(cycle, row.weighted)
    )


def _totals(cycle: Cycle) -> dict[str, int]:
    return {} if cycle.totals is None else _by_node(cycle, cycle.totals)


def _by_node(cycle: Cycle, values: IntVector) -> dict[str, int]:
    return {cycle.nodes[node]: value for node, value in zip(cycle.feasible.tolist(), values.tolist())}


def _predicates(cycle: Cycle, entry_of: Callable[[PredicateMatrix, int], T]) -> dict[str, T]:
    """Return each node's verdicts; equal verdicts share one object because most nodes are alike."""
    matrix = cycle.unabridged if cycle.unabridged is not None else cycle.matrix
    if matrix is None:
        return {}
    columns = np.ascontiguousarray(matrix.codes.T)
    data, width = columns.tobytes(), columns.itemsize * columns.shape[1]
    with_errors = {node for _, node in matrix.errors}
    shared: dict[bytes, T] = {}
    result: dict[str, T] = {}
    for node, name in enumerate(cycle.nodes):
        codes = data[node * width : (node + 1) * width]
        entry = shared.get(codes)
        if entry is None or node in with_errors:
            entry = entry_of(matrix, node)
            if node not in with_errors:
                shared[codes] = entry
        result[name] = entry
    return result


def _verdicts(matrix: PredicateMatrix, node: int) -> Verdicts:
    """Return the verdict of each predicate that was reached on a node."""
    entry: Verdicts = {}
    for number, code in enumerate(matrix.codes[:, node].tolist()):
        if code < 0:
            continue
        error = matrix.errors.get((number, node))
        fit = code == 0 and error is None
        entry[matrix.order[number]] = PredicateVerdict(
            fit, matrix.reasons[code], UNSET if error is None else error
        )
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
