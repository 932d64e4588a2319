"""One scheduling attempt: filter, score and select a node, or preempt. It decides and changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.record.choice import NO_INDICES, NodeChoice
from scheduler_core.record.cycle import Cycle, Decision, QueueState
from scheduler_core.record.preemption import Preemption
from scheduler_core.record.priority_row import PriorityRow
from scheduler_core.schedulers.columns import alike
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.extenders.calls import ExtenderCalls, ExtenderError
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.alike import AlikeClass, FoundNode
from scheduler_core.schedulers.v1_11.extender_calls import (
    ExtendedFilter,
    Extension,
    filter_by_extenders,
    records,
    rows_of_scores,
)
from scheduler_core.schedulers.v1_11.filters import (
    Filtered,
    error_message,
    filter_node,
    filter_nodes,
    fit_error_message,
    missing_claim,
    predicate_matrix,
)
from scheduler_core.schedulers.v1_11.preemption.preempt import preempt
from scheduler_core.schedulers.v1_11.scores import Ranking, Rows, rank_nodes
from scheduler_core.schedulers.v1_11.strategy import EVALUATE_ALL, EvaluationStrategy
from scheduler_core.schedulers.v1_11.vectors import ClassVectors, VectorStore

NO_NODES = "no nodes available to schedule pods"
ALONE_PHASES = ("queue", "predicates", "assume", "bind")
RANKED_PHASES = ("queue", "predicates", "priorities", "select", "assume", "bind")


class GenericScheduler(Struct, frozen=True):
    """The inputs of a decision, and how much of the decision is recorded.

    ``vectors`` holds the results that pods of one class share; ``None`` evaluates everything each time.
    ``strategy`` saves further evaluations: the equivalence cache or batching. ``trace`` records the matrices,
    ``unabridged`` also the results that short-circuiting skips. ``extension`` asks the profile's extenders.
    """

    cluster: Cluster
    queue: Nominations
    profile: Profile
    vectors: VectorStore | None = None
    strategy: EvaluationStrategy = EVALUATE_ALL
    trace: bool = True
    unabridged: bool = False
    extension: Extension | None = None

    def schedule(self, pod: PodState, last_node_index: int) -> Cycle:
        """Try to schedule a pod (core.genericScheduler.Schedule, scheduler.scheduleOne).

        The record lacks the fields that only the simulation can fill: index, step, time, queue, events.
        """
        early = self._early(pod)
        if early is not None:
            self.strategy.failed()
            return self._record(Decision(pod.key, "error"), last_node_index, ("queue",), message=early)
        if self.strategy.ranks and (offered := self._offered(pod, last_node_index)) is not None:
            return offered
        vectors = self.vectors.of(pod) if self.vectors is not None else None
        if vectors is not None and (found := self._among_alike(pod, vectors, last_node_index)) is not None:
            return self._found(pod, found, last_node_index)
        filtered = filter_nodes(
            pod,
            self.cluster,
            self.queue,
            self.profile,
            self.strategy.answers(pod, vectors),
            matrix=self.trace,
            unabridged=self.unabridged,
        )
        self.strategy.asked(filtered.asked)
        if filtered.errors:
            self.strategy.failed()
            return self._failed(pod, filtered, last_node_index)
        feasible = np.flatnonzero(filtered.failed == 0) if filtered.failed is not None else None
        asking = self.extension.attempt(pod, trace=self.trace) if self.extension is not None else None
        if filtered.failed is not None and feasible is not None and feasible.size == 0:
            self.strategy.failed()
            return self._preempt(pod, filtered, filtered.failed, last_node_index, asking=asking)
        if asking is None:
            return self._select(pod, filtered, feasible, vectors, last_node_index)
        return self._extended(pod, filtered, feasible, vectors, last_node_index, asking)

    def _extended(
        self,
        pod: PodState,
        filtered: Filtered,
        feasible: Rows | None,
        vectors: ClassVectors | None,
        counter: int,
        asking: ExtenderCalls,
    ) -> Cycle:
        """Go on with what the extenders leave of the feasible nodes."""
        everything = self.cluster.columns.everything.astype(np.int64)
        try:
            found = filter_by_extenders(asking, self.cluster, everything if feasible is None else feasible)
        except ExtenderError as error:
            self.strategy.failed()
            decision, phases = Decision(pod.key, "error"), ("queue", "predicates")
            return self._record(
                decision, counter, phases, message=str(error), filtered=filtered, asking=asking
            )
        if not found.rows:
            return self._select(pod, filtered, feasible, vectors, counter, asking)
        if found.feasible.size:
            narrowed = replace(filtered, failed=found.failed(len(everything)))
            return self._select(pod, narrowed, found.feasible, vectors, counter, asking, found)
        self.strategy.failed()
        failed = np.zeros(len(everything), np.int16) if filtered.failed is None else filtered.failed
        return self._preempt(pod, filtered, failed, counter, asking=asking, extended=found)

    def _among_alike(self, pod: PodState, vectors: ClassVectors, counter: int) -> FoundNode | None:
        """Choose by one node of those that are alike, if nothing else is recorded and nothing else asked."""
        whole = self.trace or self.unabridged or self.extension is not None or self.queue.nominated
        if whole or self.strategy is not EVALUATE_ALL or vectors.choices < 0:
            return None
        if vectors.alike is None:
            vectors.choices += 1
            if vectors.base.size <= alike.SCORED_ALONE or vectors.choices <= alike.CHOSEN_ALONE:
                return None
            made = AlikeClass(vectors, pod)
            vectors.alike, vectors.choices = (made, 0) if made.are_few else (None, -1)
        if not isinstance(vectors.alike, AlikeClass):
            return None
        found = vectors.alike.choose(pod, counter)
        if vectors.alike.outdated:
            vectors.alike, vectors.choices = None, 0
        return found

    def _found(self, pod: PodState, found: FoundNode, counter: int) -> Cycle:
        """Record a node that was chosen among those that are alike."""
        ranked = found.choice.counts().best is not None
        decision = Decision(pod.key, "scheduled", self.cluster.columns.names[found.node], ranked=ranked)
        phases = RANKED_PHASES if ranked else ALONE_PHASES
        cycle = self._record(decision, counter, phases, filtered=Filtered(None, asked=found.asked))
        cycle.choice = found.choice
        return cycle

    def follow(self, pod: PodState, last_node_index: int) -> None:
        """Replay a known decision for the strategy, so that it sees the same calls as in :meth:`schedule`."""
        if self.strategy.ranks:
            self.schedule(pod, last_node_index)
        elif self._early(pod) is None:
            vectors = self.vectors.of(pod) if self.vectors is not None else None
            known = self.strategy.answers(pod, vectors)
            filter_nodes(pod, self.cluster, self.queue, self.profile, known, matrix=False)

    def _early(self, pod: PodState) -> str | None:
        """Return the error that ends the attempt before any predicate runs, or ``None``."""
        return missing_claim(pod, self.cluster) or (None if self.cluster.columns.size else NO_NODES)

    def _offered(self, pod: PodState, counter: int) -> Cycle | None:
        """Schedule to the node that the strategy offers, without evaluating the others, if it offers one."""
        columns = self.cluster.columns
        tried: dict[str, Filtered] = {}

        def fits(name: str) -> tuple[bool, int]:
            found = filter_node(pod, columns.index[name], self.cluster, self.queue, self.profile)
            tried[name] = found
            return found.failed is None, found.asked

        name = self.strategy.offer(pod, fits)
        if name is None:
            return None
        decision = Decision(pod.key, "scheduled", name)
        phases = ALONE_PHASES
        shown = np.array([columns.index[name]], np.int32)
        return self._record(decision, counter, phases, filtered=tried[name], feasible=shown)

    def _failed(self, pod: PodState, filtered: Filtered, counter: int) -> Cycle:
        """End the attempt with the nodes' errors; only the first error of each node counts."""
        first = {node: text for (_, node), text in sorted(filtered.errors.items(), reverse=True)}
        message = error_message(first.values())
        decision = Decision(pod.key, "error")
        return self._record(decision, counter, ("queue", "predicates"), message=message, filtered=filtered)

    def _preempt(
        self,
        pod: PodState,
        filtered: Filtered,
        failed: Codes,
        counter: int,
        *,
        asking: ExtenderCalls | None = None,
        extended: ExtendedFilter | None = None,
    ) -> Cycle:
        """Preempt; what extenders gave as reasons counts in the message, and is never unresolvable."""
        preempting = preempt(
            pod,
            failed,
            self.cluster,
            self.queue,
            self.profile,
            exact=self.strategy.exact and extended is None,
            record=self.trace,
            asking=asking,
        )
        chosen = preempting.chosen
        decision = Decision(
            pod.key,
            "unschedulable",
            nominated=chosen.node if chosen else None,
            victims=tuple(victim.key for victim in chosen.victims) if chosen else (),
            cleared=tuple(preempting.cleared),
        )
        messages = extended.messages if extended is not None else None
        message = fit_error_message(failed, self.cluster.reasons, messages)
        phases = ("queue", "predicates", *(("preemption",) if self.profile.preempts else ()))
        return self._record(
            decision,
            counter,
            phases,
            message=message,
            filtered=filtered,
            preemption=preempting.record,
            asking=asking,
            extended=extended,
        )

    def _select(
        self,
        pod: PodState,
        filtered: Filtered,
        feasible: Rows | None,
        vectors: ClassVectors | None,
        counter: int,
        asking: ExtenderCalls | None = None,
        extended: ExtendedFilter | None = None,
    ) -> Cycle:
        """Select the only feasible node, or the best-scoring of several, and let an extender bind."""
        columns = self.cluster.columns
        shown = columns.everything if feasible is None else feasible.astype(np.int32)
        ranking = None
        if len(shown) > 1:
            further: list[PriorityRow] = []
            if asking is not None:  # else no node is named: it would be most of a decision's time
                names = [columns.names[node] for node in shown.tolist()]
                scores = asking.prioritize(extended.names if extended else names)
                further = rows_of_scores(scores, names)
            ranking = rank_nodes(
                pod,
                self.cluster,
                filtered.failed,
                feasible,
                self.profile,
                vectors,
                trace=self.trace,
                further=further,
            )
        node = ranking.choice(counter) if ranking is not None else int(shown[0])
        decision = Decision(pod.key, "scheduled", columns.names[node], ranked=ranking is not None)
        rejected = "" if asking is None else asking.bind(columns.names[node])
        if rejected:
            decision = Decision(pod.key, "error", ranked=ranking is not None)
            self.strategy.failed()
        else:
            self.strategy.placed(pod, node, shown, ranking.totals if ranking is not None else None)
        phases = RANKED_PHASES if ranking is not None else ALONE_PHASES
        return self._record(
            decision,
            counter,
            phases,
            message=f"Binding rejected: {rejected}" if rejected else None,
            filtered=filtered,
            ranking=ranking,
            feasible=shown,
            asking=asking,
            extended=extended,
        )

    def _record(
        self,
        decision: Decision,
        counter: int,
        phases: tuple[str, ...],
        *,
        filtered: Filtered | None = None,
        asking: ExtenderCalls | None = None,
        extended: ExtendedFilter | None = None,
        **parts: Any,
    ) -> Cycle:
        rows = self.profile.order
        if filtered is not None and extended is not None:
            codes, more = (extended.below(one) for one in (filtered.codes, filtered.unabridged))
            filtered = replace(filtered, codes=codes, unabridged=more)
            rows = (*rows, *extended.rows)
        cycle = record_of_attempt(self.cluster, rows, decision, counter, phases, filtered, **parts)
        cycle.order = self.profile.order
        if filtered is not None and filtered.unabridged is not None:
            codes, errors = filtered.unabridged, filtered.unabridged_errors
            cycle.unabridged = predicate_matrix(rows, codes, errors, self.cluster.reasons)
        cycle.plugins = records(asking)
        return cycle


def record_of_attempt(
    cluster: Cluster,
    order: tuple[str, ...],
    decision: Decision,
    counter: int,
    phases: tuple[str, ...],
    filtered: Filtered | None,
    *,
    time: float = 0.0,
    message: str | None = None,
    ranking: Ranking | None = None,
    feasible: npt.NDArray[np.int32] = NO_INDICES,
    preemption: Preemption | None = None,
) -> Cycle:
    """Return the record of an attempt, without the fields that only the run knows."""
    matrix = None
    if filtered is not None and filtered.codes is not None:
        matrix = predicate_matrix(order, filtered.codes, filtered.errors, cluster.reasons)
    return Cycle(
        index=0,
        step="",
        time=time,
        decision=decision,
        message=message,
        nodes=cluster.columns.names,
        matrix=matrix,
        choice=choice_of(feasible, ranking),
        priorities=ranking.rows if ranking is not None else [],
        last_node_index=counter,
        preemption=preemption,
        queue=QueueState([], 0, [], 0),
        operations=(),
        events=[],
        phases=phases,
        order=order,
        nominated_passes=filtered.nominated if filtered is not None else (),
        asked=filtered.asked if filtered is not None else 0,
    )


def choice_of(feasible: npt.NDArray[np.int32], ranking: Ranking | None) -> NodeChoice:
    """Return among which nodes an attempt chose; without a ranking it had no choice."""
    if ranking is None:
        return NodeChoice(feasible)
    return NodeChoice(feasible, ranking.totals, ranking.ties.astype(np.int32))
