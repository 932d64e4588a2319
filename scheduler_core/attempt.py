"""One attempt to schedule a pod: filter, score, choose, or preempt. Decides; changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.state import Cluster
from scheduler_core.cycle import Cycle, Decision, PredicateMatrix, QueueState
from scheduler_core.filtering import (
    Filtered,
    error_message,
    filter_nodes,
    fit_error_message,
    missing_claim,
    predicate_matrix,
)
from scheduler_core.policy import Profile
from scheduler_core.preemption import preempt
from scheduler_core.queue import SchedulingQueue
from scheduler_core.scoring import Ranking, rank_nodes

NO_NODES = "no nodes available to schedule pods"


@dataclass(slots=True)
class Attempt:
    """A decision and its record."""

    decision: Decision
    cycle: Cycle


def schedule(
    pod: PodState,
    cluster: Cluster,
    queue: SchedulingQueue,
    profile: Profile,
    last_node_index: int,
    *,
    trace: bool,
    unabridged: bool = False,
) -> Attempt:
    """Try to schedule a pod (core.genericScheduler.Schedule, scheduler.scheduleOne)."""
    early = missing_claim(pod, cluster) or (None if cluster.columns.size else NO_NODES)
    if early is not None:
        decision = Decision(pod.key, "error")
        return Attempt(
            decision, _cycle(decision, cluster, profile, last_node_index, message=early, phases=("queue",))
        )
    filtered = filter_nodes(pod, cluster, queue, profile, matrix=trace, unabridged=unabridged)
    matrices = _matrices(filtered, cluster, profile)
    if filtered.errors:
        decision = Decision(pod.key, "error")
        texts = {node: text for (_, node), text in sorted(filtered.errors.items(), reverse=True)}
        cycle = _cycle(
            decision, cluster, profile, last_node_index, message=error_message(texts.values()),
            phases=("queue", "predicates"), **matrices,
        )  # fmt: skip
        return Attempt(decision, cycle)
    feasible = np.flatnonzero(filtered.failed == 0)
    if feasible.size == 0:
        return _unschedulable(pod, filtered, cluster, queue, profile, last_node_index, matrices, trace=trace)
    ranking = rank_nodes(pod, cluster, feasible, profile) if feasible.size > 1 else None
    node = ranking.choice(last_node_index) if ranking is not None else int(feasible[0])
    decision = Decision(pod.key, "scheduled", cluster.columns.names[node], ranked=ranking is not None)
    cycle = _cycle(
        decision, cluster, profile, last_node_index, ranking=ranking, feasible=feasible,
        phases=("queue", "predicates", *(("priorities", "select") if ranking else ()), "assume", "bind"), **matrices,
    )  # fmt: skip
    return Attempt(decision, cycle)


def _unschedulable(
    pod: PodState,
    filtered: Filtered,
    cluster: Cluster,
    queue: SchedulingQueue,
    profile: Profile,
    last_node_index: int,
    matrices: dict[str, PredicateMatrix | None],
    *,
    trace: bool,
) -> Attempt:
    preemption = preempt(pod, filtered.failed, cluster, queue, profile)
    chosen = preemption.chosen
    decision = Decision(
        pod.key,
        "unschedulable",
        nominated=chosen.node if chosen else None,
        victims=tuple(victim.key for victim in chosen.victims) if chosen else (),
        cleared=tuple(preemption.cleared),
    )
    cycle = _cycle(
        decision, cluster, profile, last_node_index, message=fit_error_message(filtered.failed, cluster.reasons),
        preemption=preemption.as_dict() if trace else None,
        phases=("queue", "predicates", "preemption"), **matrices,
    )  # fmt: skip
    return Attempt(decision, cycle)


def _matrices(filtered: Filtered, cluster: Cluster, profile: Profile) -> dict[str, PredicateMatrix | None]:
    table, order = cluster.reasons, profile.order
    found: dict[str, PredicateMatrix | None] = {"matrix": None, "unabridged": None}
    if filtered.codes is not None:
        found["matrix"] = predicate_matrix(order, filtered.codes, filtered.errors, table)
    if filtered.unabridged is not None:
        found["unabridged"] = predicate_matrix(order, filtered.unabridged, filtered.unabridged_errors, table)
    return found


def _cycle(
    decision: Decision,
    cluster: Cluster,
    profile: Profile,
    last_node_index: int,
    *,
    message: str | None = None,
    ranking: Ranking | None = None,
    feasible: np.ndarray[tuple[int], np.dtype[np.int64]] | None = None,
    matrix: PredicateMatrix | None = None,
    unabridged: PredicateMatrix | None = None,
    preemption: dict[str, Any] | None = None,
    phases: tuple[str, ...],
) -> Cycle:
    """Fill in a record; the simulation adds index, step, time, queue and events."""
    none = np.zeros(0, np.int32)
    return Cycle(
        index=0,
        step="",
        time=0.0,
        decision=decision,
        message=message,
        nodes=cluster.columns.names,
        matrix=matrix,
        feasible=none if feasible is None else feasible.astype(np.int32),
        priorities=ranking.rows if ranking is not None else [],
        totals=ranking.totals if ranking is not None else None,
        ties=ranking.ties.astype(np.int32) if ranking is not None else none,
        last_node_index=last_node_index,
        preemption=preemption,
        queue=QueueState([], 0, [], 0),
        operations=(),
        events=[],
        phases=phases,
        order=profile.order,
        unabridged=unabridged,
    )
