"""Preemption targets without fair sharing (preemption.classicalPreemptions)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from scheduler_core.cluster.kueue.candidates import (
    IN_QUEUE,
    MOST_CONSIDERED,
    NOT_REACHED,
    PASSED_OVER,
    PREEMPTED,
    RECLAMATION,
    WHILE_BORROWING,
    Market,
    PreemptionDemand,
    PreemptionTarget,
    Reserving,
    allowed,
    filled_back,
    fits,
    own_candidates,
    place_of,
    within_nominal,
)
from scheduler_core.cluster.kueue.quota import QuotaNode


class _Candidate(Struct, frozen=True):
    """A candidate with what its preemption would be called.

    ``found`` is the cohort in whose subtree it was found; ``while_borrowing`` whether it may be preempted by
    a Workload that borrows.
    """

    reserving: Reserving
    reason: str
    while_borrowing: bool = True
    found: QuotaNode | None = None


def targets_of(market: Market, demand: PreemptionDemand) -> list[PreemptionTarget]:
    """Return what to preempt so that a demand fits, [] if nothing helps; the tree stays as it is."""
    hierarchy, priority = _other_candidates(market, demand)
    own = [_Candidate(one, IN_QUEUE) for one in sorted(own_candidates(market, demand), key=place_of)]
    listed = _joined(hierarchy, priority, own)
    for allow_borrowing in _attempts(demand, bool(hierarchy), bool(hierarchy or priority)):
        found = _attempt(market, demand, listed, allow_borrowing)
        if found:
            return found
    return []


def _attempts(demand: PreemptionDemand, has_hierarchy: bool, has_others: bool) -> tuple[bool, ...]:
    borrows = demand.queue.preemption.borrow_within_cohort != "Never"
    is_over = any(demand.node.usage.get(pair, 0) >= demand.node.nominal(pair) for pair in demand.pairs)
    if not has_others or (not borrows and is_over):
        return (True,)
    return (False, True) if not borrows and not has_hierarchy else (True, False)


def _attempt(
    market: Market, demand: PreemptionDemand, listed: Sequence[_Candidate], allow_borrowing: bool
) -> list[PreemptionTarget]:
    tree = market.tree
    mark = tree.mark()
    watch = demand.watch
    watch.begin()

    def is_enough(targets: list[PreemptionTarget]) -> bool:
        return fits(demand, allow_borrowing=allow_borrowing) and demand.places(
            [one.reserving for one in targets]
        )

    try:
        targets: list[PreemptionTarget] = []
        for at, one in enumerate(listed):
            hindrance = _hindrance(market, demand, one, allow_borrowing)
            if hindrance:
                watch.note(one.reserving, PASSED_OVER, hindrance)
                continue
            tree.remove(tree.queues[one.reserving.queue], one.reserving.usage)
            targets.append(PreemptionTarget(one.reserving, one.reason))
            watch.note(one.reserving, PREEMPTED)
            if is_enough(targets):
                for other in listed[at + 1 : at + MOST_CONSIDERED]:
                    watch.note(other.reserving, NOT_REACHED, "enough is free without it")
                return filled_back(market, targets, is_enough)
        return []
    finally:
        tree.revert(mark)


def _hindrance(market: Market, demand: PreemptionDemand, one: _Candidate, allow_borrowing: bool) -> str:
    """Return why a candidate of another queue may not be preempted now: all above it have to borrow."""
    if one.found is None:
        return ""
    if allow_borrowing and not one.while_borrowing:
        return "only a Workload that does not borrow may preempt it"
    node: QuotaNode | None = market.tree.queues[one.reserving.queue]
    while node is not None and node is not one.found:
        if within_nominal(node, demand.pairs):
            return f"{node.name} does not borrow any more"
        node = node.parent
    return ""


# --- candidates of other queues


def _other_candidates(market: Market, demand: PreemptionDemand) -> tuple[list[_Candidate], list[_Candidate]]:
    """Return candidates that the Workload has an advantage over by the tree, and those by priority."""
    hierarchy: list[_Candidate] = []
    priority: list[_Candidate] = []
    origins = _origins(demand)
    if origins:
        listed = [one for one in market.in_order(demand.node.root) if one.queue in origins]
        policy = demand.queue.preemption.reclaim_within_cohort
        for one in allowed(market, demand, policy, listed):
            cohort, has_advantage = origins[one.queue]
            if has_advantage:
                hierarchy.append(_Candidate(one, RECLAMATION, True, cohort))
            else:
                priority.append(_by_priority(demand, one, cohort))
    return hierarchy, priority


def _origins(demand: PreemptionDemand) -> dict[str, tuple[QuotaNode, bool]]:
    """Return the queues with candidates: the cohort in which each was found, and who has the advantage."""
    origins: dict[str, tuple[QuotaNode, bool]] = {}
    node = demand.node
    if demand.queue.preemption.reclaim_within_cohort == "Never" or node.parent is None:
        return origins
    has_advantage = not any(node.borrows(pair, amount) for pair, amount in demand.usage.items())
    rest = {pair: max(0, amount - node.local_available(pair)) for pair, amount in demand.usage.items()}
    done = node
    for cohort in node.above:
        origins |= {queue.name: (cohort, has_advantage) for queue in _below(demand, cohort, done)}
        has_advantage = has_advantage or not any(cohort.borrows(pair, some) for pair, some in rest.items())
        rest = {pair: max(0, some - cohort.local_available(pair)) for pair, some in rest.items()}
        done = cohort
    return origins


def _below(demand: PreemptionDemand, cohort: QuotaNode, done: QuotaNode) -> Iterator[QuotaNode]:
    """Yield the queues that borrow below a cohort, without what has been looked at."""
    for child in cohort.cohorts:
        if child is not done and not within_nominal(child, demand.pairs):
            yield from _below(demand, child, done)
    for queue in cohort.queues:
        if queue is not demand.node and not within_nominal(queue, demand.pairs):
            yield queue


def _by_priority(demand: PreemptionDemand, one: Reserving, cohort: QuotaNode) -> _Candidate:
    preemption = demand.queue.preemption
    threshold = preemption.max_priority_threshold
    rank = one.workload.rank
    borrows = (
        preemption.borrow_within_cohort != "Never"
        and rank < demand.workload.rank
        and (threshold is None or rank <= threshold)
    )
    return _Candidate(one, WHILE_BORROWING if borrows else RECLAMATION, borrows, cohort)


def _joined(*lists: list[_Candidate]) -> list[_Candidate]:
    """Join lists that are in order: what is evicted comes first."""
    everything = [
        [one for part in lists for one in part if one.reserving.place[0] is remains]
        for remains in (False, True)
    ]
    return everything[0] + everything[1]
