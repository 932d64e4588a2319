"""Preemption targets with fair sharing (preemption.fairPreemptions)."""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.cluster.kueue.candidates import (
    FAIR_SHARING,
    IN_QUEUE,
    PASSED_OVER,
    PREEMPTED,
    RECLAMATION,
    Market,
    Order,
    PreemptionDemand,
    PreemptionTarget,
    Reserving,
    allowed,
    filled_back,
    fits,
    order_of,
    own_candidates,
    place_of,
    within_nominal,
)
from scheduler_core.cluster.kueue.configuration import FINAL_SHARE, INITIAL_SHARE
from scheduler_core.cluster.kueue.quota import QuotaNode, queues_below
from scheduler_core.cluster.kueue.shares import Share, is_borrowing, share_of, sides

Waiting = dict[str, list[Reserving]]
"""Candidates by queue, in order."""

_HINDRANCES = {
    FINAL_SHARE: "its queue's share would fall below the preemptor's",
    INITIAL_SHARE: "its queue's share is not above the preemptor's",
}
"""Why a candidate is passed over, by the strategy."""


class CrashError(Exception):
    """Kueue v0.17 would crash here: kueue#10891."""


def fair_targets(market: Market, demand: PreemptionDemand) -> list[PreemptionTarget]:
    """Return what to preempt so that a demand fits, [] if nothing helps; the tree stays as it is.

    Raises:
        CrashError: A queue without cohort has no candidates left (kueue#10891).
    """
    waiting = _candidates(market, demand)
    if not waiting:
        return []
    tree = market.tree
    mark = tree.mark()
    try:
        tree.add(demand.node, demand.usage)
        search = _Search(market, demand)
        if not search.first_pass(waiting) and not search.second_pass():
            return []
        tree.remove(demand.node, demand.usage)
        return filled_back(market, search.targets, lambda targets: _is_enough(demand, targets))
    finally:
        tree.revert(mark)


def _is_enough(demand: PreemptionDemand, targets: list[PreemptionTarget]) -> bool:
    return fits(demand, allow_borrowing=True) and demand.places([one.reserving for one in targets])


def _candidates(market: Market, demand: PreemptionDemand) -> Waiting:
    waiting: Waiting = {}
    policy = demand.queue.preemption.reclaim_within_cohort
    root = demand.node.root
    if demand.node.parent is not None and policy != "Never":
        others = (one for one in queues_below(root) if one is not demand.node)
        borrowing = {one.name for one in others if not within_nominal(one, demand.pairs)}
        listed = (one for one in market.in_order(root) if one.queue in borrowing) if borrowing else ()
        for one in allowed(market, demand, policy, listed):
            waiting.setdefault(one.queue, []).append(one)
    own = sorted(own_candidates(market, demand), key=place_of)
    return {**waiting, demand.node.name: own} if own else waiting


class _Search:
    """The two passes over the candidates, with the targets so far."""

    def __init__(self, market: Market, demand: PreemptionDemand) -> None:
        self._market, self._demand, self._tree = market, demand, market.tree
        self.watch = demand.watch
        self.targets: list[PreemptionTarget] = []
        self._kept: Waiting = {}

    def first_pass(self, waiting: Waiting) -> bool:
        """Take candidates by the first strategy; return whether the demand fits."""
        ordering = _Ordering(self._market, self._demand, waiting)
        while (queue := ordering.next_queue()) is not None:
            candidates = waiting[queue.name]
            if queue is self._demand.node:
                if self._take(candidates.pop(0), IN_QUEUE):
                    return True
            elif self._is_within_nominal():
                if self._take(candidates.pop(0), RECLAMATION):
                    return True
            elif self._take_by_strategy(queue, candidates):
                return True
        return False

    def _is_within_nominal(self) -> bool:
        gate = self._market.preempts_within_nominal
        return gate and within_nominal(self._demand.node, self._demand.pairs)

    def _take_by_strategy(self, queue: QuotaNode, candidates: list[Reserving]) -> bool:
        mine, theirs = sides(self._demand.node, queue)
        wanted, before = share_of(mine), share_of(theirs)
        strategies = self._market.strategies or ()
        is_final = strategies[0] == FINAL_SHARE
        while candidates:
            one = candidates.pop(0)
            if wanted <= self._share_without(theirs, queue, one) if is_final else wanted < before:
                return self._take(one, FAIR_SHARING)
            self._kept.setdefault(queue.name, []).append(one)
            self.watch.note(one, PASSED_OVER, f"{_HINDRANCES[strategies[0]]} ({strategies[0]})")
        return False

    def _share_without(self, theirs: QuotaNode, queue: QuotaNode, one: Reserving) -> Share:
        mark = self._tree.mark()
        self._tree.remove(queue, one.usage)
        share = share_of(theirs)
        self._tree.revert(mark)
        return share

    def second_pass(self) -> bool:
        """Take one more candidate of each queue by the second strategy; return whether the demand fits."""
        if len(self._market.strategies or ()) < 2:
            return False
        ordering = _Ordering(self._market, self._demand, self._kept)
        while (queue := ordering.next_queue()) is not None:
            mine, theirs = sides(self._demand.node, queue)
            is_unfair = share_of(mine) < share_of(theirs)
            if is_unfair and self._take(self._kept[queue.name].pop(0), FAIR_SHARING):
                return True
            self._kept[queue.name].clear()
        return False

    def _take(self, one: Reserving, reason: str) -> bool:
        """Remove a candidate; return whether the demand fits now."""
        tree, demand = self._tree, self._demand
        self.watch.note(one, PREEMPTED)
        tree.remove(tree.queues[one.queue], one.usage)
        self.targets.append(PreemptionTarget(one, reason))
        mark = tree.mark()
        tree.remove(demand.node, demand.usage)
        is_enough = _is_enough(demand, self.targets)
        tree.revert(mark)
        return is_enough


class _Ordering:
    """Which queue is asked next: down from the root by the highest share (TargetClusterQueueOrdering)."""

    def __init__(self, market: Market, demand: PreemptionDemand, waiting: Waiting) -> None:
        self._market, self._demand, self._waiting = market, demand, waiting
        self._pruned: set[int] = set()
        self._ancestors = {id(one) for one in demand.node.above}

    def next_queue(self) -> QuotaNode | None:
        """Return the queue whose candidates are next, ``None`` if there are no more."""
        root = self._demand.node.root
        if root is self._demand.node:
            return self._lone(root)
        while id(root) not in self._pruned:
            found = self._descend(root)
            if found is not None:
                return found
        return None

    def _lone(self, node: QuotaNode) -> QuotaNode:
        if self._waiting.get(node.name):
            return node
        raise CrashError(
            f"ClusterQueue {node.name} has no cohort and its candidates do not suffice: with fair sharing "
            "Kueue v0.17 crashes here (kueue#10891)"
        )

    def _descend(self, cohort: QuotaNode) -> QuotaNode | None:
        queue = self._highest(cohort.queues, self._is_spent_queue, self._queue_key)
        below = self._highest(cohort.cohorts, self._is_spent_cohort, _cohort_key)
        if queue is None and below is None:
            self._pruned.add(id(cohort))
            return None
        if queue is None or (below is not None and share_of(below) >= share_of(queue)):
            return self._descend(below) if below is not None else None
        return queue

    def _highest(
        self, nodes: list[QuotaNode], is_spent: Callable[[QuotaNode], bool], key: Callable[[QuotaNode], _Key]
    ) -> QuotaNode | None:
        best, best_key = None, None
        for node in nodes:
            if id(node) in self._pruned:
                continue
            if is_spent(node):
                self._pruned.add(id(node))
                continue
            mine = key(node)
            if best_key is None or _is_ahead(mine, best_key):
                best, best_key = node, mine
        return best

    def _is_spent_queue(self, node: QuotaNode) -> bool:
        if not self._waiting.get(node.name):
            return True
        return node is not self._demand.node and not is_borrowing(node)

    def _is_spent_cohort(self, node: QuotaNode) -> bool:
        return id(node) not in self._ancestors and not is_borrowing(node)

    def _queue_key(self, node: QuotaNode) -> _Key:
        first = self._waiting[node.name][0]
        return share_of(node), order_of(first, self._demand.node.name)


_Key = tuple[Share, "Order | None"]


def _cohort_key(node: QuotaNode) -> _Key:
    return share_of(node), None


def _is_ahead(one: _Key, best: _Key) -> bool:
    """Return whether a node comes before the best so far: a higher share, or its candidate is earlier.

    Of cohorts with equal shares the last by name comes first.
    """
    if one[0] != best[0]:
        return one[0] > best[0]
    return one[1] is None or best[1] is None or one[1] < best[1]
