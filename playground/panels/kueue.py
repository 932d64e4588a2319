"""Kueue until a step: quota tree, queues in order, the last cycles with their heads, topologies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.cluster.kueue.amounts import format_amount
from scheduler_core.cluster.kueue.assignment import PodSetResult
from scheduler_core.cluster.kueue.nomination import ASSUMED, CycleRecord, Inadmissible, Nomination
from scheduler_core.cluster.kueue.overview import (
    DomainRow,
    PendingRow,
    QueueRow,
    QuotaRow,
    TopologyRow,
    TreeRow,
)
from scheduler_core.explain.kueue.answer import KueueAnswer
from scheduler_core.explain.kueue.submission import Submission
from scheduler_core.explain.section import Section
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.run.several.kueue_record import QueueingRecord, queueing_of

HEADS = 40  # of a cycle
CANDIDATES = 40  # of a head
QUOTAS = 12  # of a row of the tree
DOMAINS = 20  # of a placement
TEXT = 2_000  # characters of a sentence

NONE = "Kueue does not run here: it needs a ClusterQueue, and Jobs or pods with the label of a LocalQueue."


def queueing(record: Cycle | FinalState) -> dict[str, Any]:
    """Return the protocol's ``kueue`` part of a cycle or of the end; ``{"why": text}`` without Kueue."""
    found = queueing_of(record)
    if found is None or found.overview is None:
        return {"why": NONE}
    overview = found.overview
    return {
        "fair": overview.is_fair,
        "tree": [_tree_row(row) for row in overview.tree],
        "treeCount": overview.tree_count,
        "queues": [_queue(row, found.epoch) for row in overview.queues],
        "queueCount": overview.queue_count,
        "topologies": [_topology(row) for row in overview.topologies],
        "localQueues": [[row.key, row.cluster_queue] for row in overview.local_queues],
        "cycles": _cycles(found),
        "cycleCount": found.count,
    }


def _tree_row(row: TreeRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "depth": row.depth,
        "queue": row.is_queue,
        "strategy": row.strategy,
        "why": row.why,
        "weight": row.weight,
        "share": row.share,
        "pending": row.pending,
        "waiting": row.waiting,
        "reserving": row.reserving,
        "quotas": [_quota(one) for one in row.quotas[:QUOTAS]],
    }


def _quota(one: QuotaRow) -> list[Any]:
    """Return flavor, resource, amounts in words, and the bar: own, borrowed and lent, in percent."""
    amounts = (one.quota, one.used, one.borrowed, one.lent, max(0, one.available))
    whole = max(one.quota, one.used, 1)
    own = min(one.used, one.quota)
    bar = [round(100 * part / whole, 1) for part in (own, one.borrowed, one.lent)]
    limits = [_limit(one, one.borrowing_limit), _limit(one, one.lending_limit)]
    return [one.flavor, one.resource, [format_amount(one.resource, part) for part in amounts], limits, bar]


def _limit(one: QuotaRow, limit: int | None) -> str:
    return "" if limit is None else format_amount(one.resource, limit)


def _queue(row: QueueRow, epoch: float) -> dict[str, Any]:
    return {
        "name": row.name,
        "sticky": row.sticky,
        "active": [_pending(one, epoch) for one in row.active],
        "activeCount": row.active_count,
        "inadmissible": [_pending(one, epoch) for one in row.inadmissible],
        "inadmissibleCount": row.inadmissible_count,
    }


def _pending(one: PendingRow, epoch: float) -> list[Any]:
    return [one.key, one.priority, round(one.since - epoch, 3), one.asks, one.message]


def _topology(row: TopologyRow) -> dict[str, Any]:
    return {
        "flavor": row.flavor,
        "topology": row.topology,
        "levels": list(row.levels),
        "domains": [_domain(one) for one in row.domains],
        "domainCount": row.domain_count,
    }


def _domain(one: DomainRow) -> list[Any]:
    return [one.depth, one.name, one.free, one.used, one.pods]


# --- cycles


def _cycles(found: QueueingRecord) -> list[dict[str, Any]]:
    last = found.recent
    first = found.count - len(last) + 1
    return [_cycle(first + at, one, found.epoch) for at, one in enumerate(last)]


def _cycle(number: int, one: CycleRecord, epoch: float) -> dict[str, Any]:
    return {
        "number": number,
        "time": round(one.time - epoch, 3),
        "heads": [_head(head) for head in one.decisions[:HEADS]],
        "headCount": len(one.decisions),
        "crashes": one.crashes,
    }


_OUTCOMES = {ASSUMED: "admitted", "skipped": "skipped", "evicted": "evicted"}


def _head(one: Nomination | Inadmissible) -> dict[str, Any]:
    entry = one.entry
    head: dict[str, Any] = {
        "workload": entry.key,
        "queue": entry.cluster_queue,
        "priority": entry.workload.rank,
        "message": one.message,
        "outcome": "inadmissible",
        "mode": "",
        "borrowing": 0,
        "flavors": [],
        "targets": [],
        "considered": [],
        "domains": [],
    }
    if isinstance(one, Inadmissible):
        return head
    waits = "preempts" if one.is_preempting else "waits"
    return {
        **head,
        "outcome": _OUTCOMES.get(one.status, waits),
        "mode": one.assignment.mode,
        "borrowing": one.assignment.borrowing,
        "flavors": _flavors(one.assignment.pod_sets),
        "targets": [[target.reserving.key, target.reason] for target in one.targets[:CANDIDATES]],
        "considered": [[it.key, it.queue, it.priority, it.verdict] for it in one.considered[:CANDIDATES]],
        "domains": [_placement(result) for result in one.assignment.pod_sets if result.topology],
    }


def _flavors(results: Sequence[PodSetResult]) -> list[list[Any]]:
    """Return the flavors that were tried: pod set, flavor, whether it was taken, and how it suits."""
    return [
        [result.name, one.flavor, one.flavor in {it.flavor for it in result.choices.values()}, one.text]
        for result in results
        for one in result.attempts
    ]


def _placement(result: PodSetResult) -> list[Any]:
    domains = result.topology.domains if result.topology else ()
    named = [f"{'/'.join(key)} {count}" for key, count in domains[:DOMAINS]]
    more = [f"and {len(domains) - DOMAINS:,} more"] if len(domains) > DOMAINS else []
    return [result.name, ", ".join([*named, *more])]


# --- answers


def answered(found: KueueAnswer | Submission) -> dict[str, Any]:
    """Return the protocol's answer about a Workload that waits or is submitted, of bounded size."""
    is_submitted = isinstance(found, Submission)
    preempted = found.preempted[:CANDIDATES] if isinstance(found, Submission) else ()
    displaced = found.displaced[:CANDIDATES] if isinstance(found, Submission) else ()
    return {
        "workload": found.workload,
        "state": found.state if isinstance(found, KueueAnswer) else found.answer.state,
        "submitted": is_submitted,
        "sentences": [text[:TEXT] for text in found.head],
        "preempted": [list(row) for row in preempted],
        "displaced": list(displaced),
        "sections": [_section(one) for one in found.sections],
    }


def _section(one: Section) -> dict[str, Any]:
    return {"title": one.title, "sentences": [text[:TEXT] for text in one.sentences[:CANDIDATES]]}
