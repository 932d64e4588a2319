"""One attempt to schedule a pod: filter, score, choose, or preempt. Decides; changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.reasons import Codes
from scheduler_core.cluster.state import Cluster
from scheduler_core.cycle import Cycle, Decision, PredicateMatrix, QueueState
from scheduler_core.equivalence.batching import Batching
from scheduler_core.equivalence.keeper import CacheKeeper
from scheduler_core.filtering import (
    Filtered,
    error_message,
    filter_node,
    filter_nodes,
    fit_error_message,
    missing_claim,
    predicate_matrix,
)
from scheduler_core.policy import Profile
from scheduler_core.preemption import preempt
from scheduler_core.preemption_record import Preemption
from scheduler_core.queue import SchedulingQueue
from scheduler_core.scoring import Ranking, Rows, rank_nodes
from scheduler_core.vectors import ClassVectors, VectorStore

NO_NODES = "no nodes available to schedule pods"
NO_INDICES = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Everything that a decision reads, and how much of it is recorded.

    ``vectors`` holds what pods of one class share, ``None`` to evaluate everything each time; ``cache`` is
    the equivalence cache and ``batching`` a ranking kept for the next pods, ``None`` where they are off.
    ``trace`` records the matrices; ``unabridged`` also what short-circuiting left out.
    """

    cluster: Cluster
    queue: SchedulingQueue
    profile: Profile
    vectors: VectorStore | None = None
    cache: CacheKeeper | None = None
    batching: Batching | None = None
    trace: bool = True
    unabridged: bool = False

    def schedule(self, pod: PodState, last_node_index: int) -> Cycle:
        """Try to schedule a pod (core.genericScheduler.Schedule, scheduler.scheduleOne).

        The record lacks what only the simulation knows: index, step, time, queue, events.
        """
        early = missing_claim(pod, self.cluster) or (None if self.cluster.columns.size else NO_NODES)
        if early is not None:
            if self.batching is not None:
                self.batching.failed()
            return self._record(Decision(pod.key, "error"), last_node_index, ("queue",), message=early)
        hinted = self._hinted(pod, self.batching, last_node_index) if self.batching is not None else None
        if hinted is not None:
            return hinted
        vectors = self.vectors.of(pod) if self.vectors is not None else None
        filtered = filter_nodes(
            pod,
            self.cluster,
            self.queue,
            self.profile,
            vectors,
            lookups=None if self.cache is None else self.cache.lookups(pod, vectors),
            matrix=self.trace,
            unabridged=self.unabridged,
        )
        if self.batching is not None:
            self.batching.evaluated(filtered.asked)
            self.batching.failed()
        if filtered.errors:
            return self._failed(pod, filtered, last_node_index)
        feasible = np.flatnonzero(filtered.failed == 0) if filtered.failed is not None else None
        if filtered.failed is not None and feasible is not None and feasible.size == 0:
            return self._preempt(pod, filtered, filtered.failed, last_node_index)
        return self._select(pod, filtered, feasible, vectors, last_node_index)

    def follow(self, pod: PodState, last_node_index: int) -> None:
        """Do to cache or ranking what :meth:`schedule` would; the decision is known."""
        if self.batching is not None:
            self.schedule(pod, last_node_index)
        if self.cache is None or not self.cluster.columns.size or missing_claim(pod, self.cluster):
            return
        vectors = self.vectors.of(pod) if self.vectors is not None else None
        lookups = self.cache.lookups(pod, vectors)
        filter_nodes(pod, self.cluster, self.queue, self.profile, vectors, lookups=lookups, matrix=False)

    def _hinted(self, pod: PodState, batching: Batching, counter: int) -> Cycle | None:
        """Try the node that batching offers alone; ``None`` if there is none or the pod does not fit."""
        offered = batching.candidate(pod)
        if offered is None:
            return None
        columns = self.cluster.columns
        node, last = (columns.index[name] for name in offered)
        full = filter_node(pod, last, self.cluster, self.queue, self.profile)
        batching.evaluated(full.asked)
        if full.failed is None:
            batching.still_fits()
            return None
        batching.offer()
        filtered = filter_node(pod, node, self.cluster, self.queue, self.profile)
        batching.evaluated(filtered.asked)
        if filtered.failed is not None:
            return None
        batching.took_offer(columns.names[node], len(self.profile.order) * (columns.size - 1))
        decision = Decision(pod.key, "scheduled", columns.names[node])
        phases = ("queue", "predicates", "assume", "bind")
        shown = np.array([node], np.int32)
        return self._record(decision, counter, phases, filtered=filtered, feasible=shown)

    def _failed(self, pod: PodState, filtered: Filtered, counter: int) -> Cycle:
        """End the attempt with the nodes' errors; of each node the first one counts."""
        first = {node: text for (_, node), text in sorted(filtered.errors.items(), reverse=True)}
        message = error_message(first.values())
        decision = Decision(pod.key, "error")
        return self._record(decision, counter, ("queue", "predicates"), message=message, filtered=filtered)

    def _preempt(self, pod: PodState, filtered: Filtered, failed: Codes, counter: int) -> Cycle:
        preempting = preempt(pod, failed, self.cluster, self.queue, self.profile, record=self.trace)
        chosen = preempting.chosen
        decision = Decision(
            pod.key,
            "unschedulable",
            nominated=chosen.node if chosen else None,
            victims=tuple(victim.key for victim in chosen.victims) if chosen else (),
            cleared=tuple(preempting.cleared),
        )
        message = fit_error_message(failed, self.cluster.reasons)
        phases = ("queue", "predicates", "preemption")
        return self._record(
            decision, counter, phases, message=message, filtered=filtered, preemption=preempting.record
        )

    def _select(
        self,
        pod: PodState,
        filtered: Filtered,
        feasible: Rows | None,
        vectors: ClassVectors | None,
        counter: int,
    ) -> Cycle:
        """Take the only node, or the best of several."""
        columns = self.cluster.columns
        shown = columns.everything if feasible is None else feasible.astype(np.int32)
        ranking = None
        if len(shown) > 1:
            ranking = rank_nodes(
                pod, self.cluster, filtered.failed, feasible, self.profile, vectors, trace=self.trace
            )
        node = ranking.choice(counter) if ranking is not None else int(shown[0])
        decision = Decision(pod.key, "scheduled", columns.names[node], ranked=ranking is not None)
        if self.batching is not None:
            totals = ranking.totals if ranking is not None else np.zeros(len(shown), np.int64)
            self.batching.ranked(pod, columns.names[node], shown.astype(np.int64), totals)
        ranked = ("priorities", "select") if ranking is not None else ()
        phases = ("queue", "predicates", *ranked, "assume", "bind")
        return self._record(decision, counter, phases, filtered=filtered, ranking=ranking, feasible=shown)

    def _record(
        self,
        decision: Decision,
        counter: int,
        phases: tuple[str, ...],
        *,
        message: str | None = None,
        filtered: Filtered | None = None,
        ranking: Ranking | None = None,
        feasible: npt.NDArray[np.int32] = NO_INDICES,
        preemption: Preemption | None = None,
    ) -> Cycle:
        return Cycle(
            index=0,
            step="",
            time=0.0,
            decision=decision,
            message=message,
            nodes=self.cluster.columns.names,
            matrix=self._matrix(filtered),
            feasible=feasible,
            priorities=ranking.rows if ranking is not None else [],
            totals=ranking.totals if ranking is not None else None,
            ties=NO_INDICES if ranking is None else ranking.ties.astype(np.int32),
            last_node_index=counter,
            preemption=preemption,
            queue=QueueState([], 0, [], 0),
            operations=(),
            events=[],
            phases=phases,
            order=self.profile.order,
            unabridged=self._unabridged(filtered),
            nominated_passes=filtered.nominated if filtered is not None else (),
            asked=filtered.asked if filtered is not None else 0,
        )

    def _matrix(self, filtered: Filtered | None) -> PredicateMatrix | None:
        if filtered is None or filtered.codes is None:
            return None
        return predicate_matrix(self.profile.order, filtered.codes, filtered.errors, self.cluster.reasons)

    def _unabridged(self, filtered: Filtered | None) -> PredicateMatrix | None:
        if filtered is None or filtered.unabridged is None:
            return None
        errors = filtered.unabridged_errors
        return predicate_matrix(self.profile.order, filtered.unabridged, errors, self.cluster.reasons)
