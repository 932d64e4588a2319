"""One scheduling cycle: nominate the heads, order them, and decide one after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.cluster.kueue.assignment import (
    NO_CANDIDATES,
    PREEMPT,
    RECLAIM,
    Assignment,
    Suitability,
)
from scheduler_core.cluster.kueue.cache import Cache
from scheduler_core.cluster.kueue.candidates import (
    UNWATCHED,
    CandidateWatch,
    Considered,
    Market,
    Places,
    PreemptionDemand,
    PreemptionTarget,
    Reserving,
)
from scheduler_core.cluster.kueue.configuration import KueueConfiguration
from scheduler_core.cluster.kueue.entry import Entry, PodSetRequest
from scheduler_core.cluster.kueue.fair_preemption import CrashError, fair_targets
from scheduler_core.cluster.kueue.flavors import FlavorSearch, assign
from scheduler_core.cluster.kueue.nomination import (
    ASSUMED,
    EVICTED,
    NOT_NOMINATED,
    SKIPPED,
    CycleRecord,
    Inadmissible,
    Nomination,
)
from scheduler_core.cluster.kueue.objects import FlavorResource, Usage
from scheduler_core.cluster.kueue.order import Tournament, classical_order
from scheduler_core.cluster.kueue.partial import is_reducible, reduce
from scheduler_core.cluster.kueue.preemption import targets_of
from scheduler_core.cluster.kueue.queues import NAMESPACE_MISMATCH, PENDING_PREEMPTION
from scheduler_core.cluster.kueue.quota import QuotaNode
from scheduler_core.cluster.kueue.requests import refusal
from scheduler_core.cluster.kueue.second_pass import second_pass
from scheduler_core.cluster.kueue.topology.attempt import (
    Placing,
    holds,
    placed,
    reserved,
    usage_of_assignment,
)
from scheduler_core.cluster.kueue.topology.flavors import flavor_mismatch, is_topology_only
from scheduler_core.cluster.kueue.topology.snapshot import topology_usage_of
from scheduler_core.cluster.v1_37.objects import selects


class _Answer(Struct, frozen=True):
    assignment: Assignment
    targets: list[PreemptionTarget]
    considered: tuple[Considered, ...] = ()


class AdmissionCycle:
    """Decides about heads on a state that it leaves as it was; who runs it carries the decisions out."""

    def __init__(self, cache: Cache, configuration: KueueConfiguration, now: float) -> None:
        self._cache, self._configuration = cache, configuration
        gates = configuration.gates
        self._market = Market(
            tree=cache.tree,
            queues=cache.queues,
            reserving=cache.reserving,
            now=now,
            has_buffer=gates["SchedulerTimestampPreemptionBuffer"],
            strategies=configuration.strategies,
            preempts_within_nominal=gates["FairSharingPreemptWithinNominal"],
        )
        self._topologies = cache.topology_snapshot(gates)
        self._crashes: list[str] = []
        self._taken: dict[str, Reserving] = {}  # the targets of the entries so far
        self._gone: dict[str, Usage] = {}  # what they used, by queue, where the tree is without it

    def run(self, heads: Sequence[Entry]) -> CycleRecord:
        """Decide about the heads."""
        record = CycleRecord(self._market.now, [one.key for one in heads], [], [], self._crashes)
        nominated: list[Nomination] = []
        for head in heads:
            one = self._nominate(head)
            if isinstance(one, Nomination):
                nominated.append(one)
            elif one is not None:
                record.inadmissible.append(one)
        mark = self._cache.tree.mark()
        try:
            self._process(self._ordered(nominated), record.entries)
        finally:
            self._cache.tree.revert(mark)
        return record

    def _ordered(self, nominated: Sequence[Nomination]) -> Iterable[Nomination]:
        again = [one for one in nominated if one.is_second_pass]
        return chain(again, self._by_share([one for one in nominated if not one.is_second_pass]))

    def _by_share(self, nominated: Sequence[Nomination]) -> Iterable[Nomination]:
        gates = self._configuration.gates
        by_priority = gates["PrioritySortingWithinCohort"]
        if not self._configuration.is_fair:
            return classical_order(nominated, by_priority=by_priority)
        spares = gates["FairSharingPrioritizeNonBorrowing"]
        return Tournament(self._cache.tree, nominated, by_priority=by_priority, spares_borrowers=spares)

    # --- nomination

    def _nominate(self, head: Entry) -> Nomination | Inadmissible | None:
        if head.key in self._cache.holders:
            return second_pass(head, self._topologies) if head.workload.unhealthy else None
        failed = self._failed_check(head)
        if failed is not None:
            return failed
        answer = self._answer(head)
        placing = self._placing(head)
        targets = [topology_usage_of(one.reserving.workload) for one in answer.targets]
        assignment = reserved(answer.assignment, placing, targets)
        domains = usage_of_assignment(assignment, placing)
        return Nomination(
            head,
            assignment,
            answer.targets,
            assignment.message,
            domains=domains,
            considered=answer.considered,
        )

    def _placing(self, head: Entry) -> Placing:
        cache = self._cache
        return Placing(
            snapshot=self._topologies,
            pod_sets={one.name: one for one in head.workload.pod_sets},
            flavors={name: cache.flavors[name] for name in self._topologies.trees},
            is_implied=is_topology_only(cache.queues[head.cluster_queue], cache.flavors),
        )

    def _failed_check(self, head: Entry) -> Inadmissible | None:
        cache, workload = self._cache, head.workload
        if any(one.state in ("Retry", "Rejected") for one in workload.checks.values()):
            return Inadmissible(head, "The workload has failed admission checks")
        if not cache.is_active(head.cluster_queue):
            return Inadmissible(head, f"ClusterQueue {head.cluster_queue} is inactive")
        labels = cache.labels_of_namespace(workload.namespace)
        if not selects(cache.queues[head.cluster_queue].namespace_selector, labels):
            message = "Workload namespace doesn't match ClusterQueue selector"
            return Inadmissible(head, message, NAMESPACE_MISMATCH)
        message = refusal(workload.pod_sets, workload.namespace, cache.surroundings)
        return Inadmissible(head, message) if message else None

    def _answer(self, head: Entry) -> _Answer:
        full = self._try(head, head.requests)
        if full.assignment.mode == "Fit" or full.targets:
            return full
        pod_sets = head.workload.pod_sets
        if self._configuration.gates["PartialAdmission"] and is_reducible(pod_sets):
            found = reduce(pod_sets, lambda counts: self._try_reduced(head, counts))
            return found or full
        return full

    def _try_reduced(self, head: Entry, counts: Sequence[int]) -> _Answer | None:
        requests = [replace(one, count=count) for one, count in zip(head.requests, counts)]
        found = self._try(head, requests)
        return found if found.assignment.mode == "Fit" or found.targets else None

    def _try(self, head: Entry, requests: Sequence[PodSetRequest]) -> _Answer:
        placing = self._placing(head)
        assignment = placed(assign(self._search(head), head, requests), placing)
        if assignment.mode != "Preempt":
            return _Answer(assignment, [])

        def places(removed: Collection[Reserving]) -> bool:
            return holds(assignment, placing, (topology_usage_of(one.workload) for one in removed))

        watch = CandidateWatch()
        targets = self._targets(head, assignment.usage, assignment.to_preempt(), places, watch)
        watch.end(targets)
        return _Answer(assignment, targets, watch.rows)

    def _search(self, head: Entry) -> FlavorSearch:
        cache, name = self._cache, head.cluster_queue
        queue, node = cache.queues[name], cache.tree.queues[name]
        preemption = queue.preemption
        return FlavorSearch(
            queue=queue,
            node=node,
            flavors=cache.flavors,
            generation=cache.generations.get(name, 0),
            preempts_while_borrowing=preemption.borrow_within_cohort != "Never"
            or (self._configuration.is_fair and preemption.reclaim_within_cohort != "Never"),
            is_fungible=self._configuration.gates["FlavorFungibility"],
            oracle=lambda pair, amount: self._foresee(head, node, pair, amount),
            mismatch=lambda request, flavor, group: flavor_mismatch(
                request.pod_set,
                flavor,
                group,
                cache.topologies,
                topology_only=is_topology_only(queue, cache.flavors),
            ),
        )

    def _foresee(self, head: Entry, node: QuotaNode, pair: FlavorResource, amount: int) -> Suitability:
        """Return what preemption could do for one flavor's resource (the preemption oracle)."""
        targets = self._targets(head, {pair: amount}, frozenset((pair,)))
        if not targets:
            return Suitability(NO_CANDIDATES, node.lowest_fit(pair, amount)[0])
        tree = self._cache.tree
        mark = tree.mark()
        self._remove(one.reserving for one in targets)
        height, _ = node.lowest_fit(pair, amount)
        tree.revert(mark)
        is_own = any(one.reserving.queue == node.name for one in targets)
        return Suitability(PREEMPT if is_own else RECLAIM, height)

    def _targets(
        self,
        head: Entry,
        usage: Usage,
        pairs: frozenset[FlavorResource],
        places: Places = lambda _: True,
        watch: CandidateWatch = UNWATCHED,
    ) -> list[PreemptionTarget]:
        name = head.cluster_queue
        node, queue = self._cache.tree.queues[name], self._cache.queues[name]
        demand = PreemptionDemand(head.workload, node, queue, usage, pairs, places, watch)
        if not self._configuration.is_fair:
            return targets_of(self._market, demand)
        try:
            return fair_targets(self._market, demand)
        except CrashError as crash:
            self._crashes.append(str(crash))
            return []

    def _remove(self, reserving: Iterable[Reserving]) -> None:
        tree = self._cache.tree
        for one in reserving:
            tree.remove(tree.queues[one.queue], one.usage)

    # --- processing

    def _process(self, ordered: Iterable[Nomination], entries: list[Nomination]) -> None:
        for one in ordered:
            entries.append(one)
            mode = one.assignment.mode
            if mode == "Preempt" and not one.targets:
                self._hold_back(one)
            elif mode != "NoFit" and one.status != EVICTED:
                self._decide(one)

    def _hold_back(self, one: Nomination) -> None:
        """Reserve capacity for an entry that may not be able to take it back later."""
        name = one.entry.cluster_queue
        node, queue = self._cache.tree.queues[name], self._cache.queues[name]
        if queue.preemption.reclaim_within_cohort != "Any":
            self._cache.tree.add(node, _held_back(node, one.assignment, self._gone.get(name, {})))
            self._topologies.add(one.domains)

    def _decide(self, one: Nomination) -> None:
        if any(target.reserving.key in self._taken for target in one.targets):
            _skip(one, "Workload has overlapping preemption targets with another workload")
            return
        wanted = {target.reserving.key: target.reserving for target in one.targets}
        if not self._takes(one, wanted.values()):
            _skip(one, "Workload no longer fits after processing another workload")
            return
        self._taken.update(wanted)
        self._cache.tree.add(self._cache.tree.queues[one.entry.cluster_queue], one.usage)
        self._topologies.add(one.domains)
        if one.targets:
            one.message += f". Pending the preemption of {len(one.targets)} workload(s)"
            one.reason, one.status, one.forgets = PENDING_PREEMPTION, NOT_NOMINATED, True
        else:
            one.status = ASSUMED

    def _takes(self, one: Nomination, wanted: Collection[Reserving]) -> bool:
        """Return whether an entry fits without its targets and those of the entries before it.

        They are gone from the tree then, but with fair sharing, where shares count them until they are.
        """
        tree, is_fair = self._cache.tree, self._configuration.is_fair
        node = tree.queues[one.entry.cluster_queue]
        mark = tree.mark()
        before = self._taken_below(node.root) if is_fair else ()
        self._remove(chain(before, wanted))
        fits = all(amount <= max(0, node.available(pair)) for pair, amount in one.usage.items())
        if one.domains:
            gone = (topology_usage_of(each.workload) for each in chain(self._taken.values(), wanted))
            with self._topologies.without(gone):
                fits = fits and self._topologies.fits(one.domains)
        if is_fair or not fits:
            tree.revert(mark)
        else:
            self._note_gone(wanted)
        return fits

    def _taken_below(self, root: QuotaNode) -> list[Reserving]:
        queues = self._cache.tree.queues
        return [one for one in self._taken.values() if queues[one.queue].root is root]

    def _note_gone(self, wanted: Iterable[Reserving]) -> None:
        for one in wanted:
            gone = self._gone.setdefault(one.queue, {})
            for pair, amount in one.usage.items():
                gone[pair] = gone.get(pair, 0) + amount


def _held_back(node: QuotaNode, assignment: Assignment, gone: Usage) -> Usage:
    """Return what an entry keeps others from; what is ``gone`` from its queue counts until it has stopped."""
    out: Usage = {}
    for pair, amount in assignment.usage.items():
        used, nominal = node.usage.get(pair, 0) + gone.get(pair, 0), node.nominal(pair)
        limit = node.borrowing_limit(pair)
        if not assignment.borrowing:
            out[pair] = max(0, min(amount, nominal - used))
        else:
            out[pair] = amount if limit is None else min(amount, nominal + limit - used)
    return out


def _skip(one: Nomination, message: str) -> None:
    one.status, one.message, one.forgets = SKIPPED, message, True
