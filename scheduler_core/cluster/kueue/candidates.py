"""Which workloads a Workload may preempt, and in which order they are considered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import inf

from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.cluster.kueue.objects import ClusterQueue, FlavorResource, Usage
from scheduler_core.cluster.kueue.quota import QuotaNode, QuotaTree, queues_below
from scheduler_core.cluster.kueue.workload import EVICTED, QUOTA_RESERVED, Workload

IN_QUEUE = "InClusterQueue"
RECLAMATION = "InCohortReclamation"
FAIR_SHARING = "InCohortFairSharing"
WHILE_BORROWING = "InCohortReclaimWhileBorrowing"

BUFFER_SECONDS = 300
"""How much later an equal workload must have queued (gate SchedulerTimestampPreemptionBuffer)."""

Place = tuple[bool, int, float, bytes]
Order = tuple[bool, bool, int, float, bytes]


class Reserving(Struct, frozen=True):
    """A workload that holds quota in a queue; ``place`` orders it among candidates, but for its queue."""

    workload: Workload
    queue: str
    usage: Usage
    place: Place

    @property
    def key(self) -> str:
        """The Workload's key."""
        return self.workload.key


def reserving(workload: Workload, queue: str, usage: Usage) -> Reserving:
    """Return a workload that holds quota, with its place: evicted, low priority, late reservation, uid."""
    reserved = workload.conditions.get(QUOTA_RESERVED)
    at = reserved.at if reserved and reserved.status else inf
    place = not workload.has(EVICTED), workload.rank, -at, workload.uid.encode()
    return Reserving(workload, queue, usage, place)


class PreemptionTarget(Struct, frozen=True):
    """A workload to be preempted, and for what reason."""

    reserving: Reserving
    reason: str


class Market(Struct, frozen=True):
    """What a search for targets looks at, all as of one moment."""

    tree: QuotaTree
    queues: Mapping[str, ClusterQueue]
    reserving: Mapping[str, Mapping[str, Reserving]]  # by queue and key
    now: float
    has_buffer: bool
    strategies: tuple[str, ...] | None
    preempts_within_nominal: bool
    ordered: dict[int, list[Reserving]] = field(default_factory=dict)

    def in_order(self, root: QuotaNode) -> list[Reserving]:
        """Return the reserving workloads of a tree by their place; they are sorted once."""
        found = self.ordered.get(id(root))
        if found is None:
            queues = queues_below(root)
            listed = (one for queue in queues for one in self.reserving.get(queue.name, {}).values())
            found = self.ordered[id(root)] = sorted(listed, key=place_of)
        return found


class Considered(Struct, frozen=True):
    """A candidate for preemption that a search came by: what became of it, and by which rule."""

    key: str
    queue: str
    priority: int
    verdict: str


PREEMPTED, PUT_BACK, PASSED_OVER = "preempted", "put back", "passed over"
NOT_REACHED = "not reached"
MOST_CONSIDERED = 100
"""Candidates of a search that are kept, the first ones."""


class CandidateWatch:
    """What became of the candidates of the last search, in order; the rule follows the verdict."""

    def __init__(self, most: int = MOST_CONSIDERED) -> None:
        self._most, self._rows = most, dict[str, Considered]()

    def begin(self) -> None:
        """Forget what an earlier attempt of the search did."""
        self._rows.clear()

    def note(self, one: Reserving, verdict: str, rule: str = "") -> None:
        """Note what became of a candidate."""
        if len(self._rows) >= self._most and one.key not in self._rows:
            return
        text = f"{verdict}: {rule}" if rule else verdict
        self._rows[one.key] = Considered(one.key, one.queue, one.workload.rank, text)

    def end(self, targets: Sequence[PreemptionTarget]) -> None:
        """Note which of those that were taken are needed: none if the search found nothing that suffices."""
        spared = "the others suffice" if targets else "all of them would not suffice"
        needed = {target.reserving.key: target.reason for target in targets}
        for key, row in self._rows.items():
            if key in needed:
                self._rows[key] = replace(row, verdict=f"{PREEMPTED}: {needed[key]}")
            elif row.verdict.startswith(PREEMPTED):
                self._rows[key] = replace(row, verdict=f"{PUT_BACK}: {spared}")

    @property
    def rows(self) -> tuple[Considered, ...]:
        """The candidates, the first ones."""
        return tuple(self._rows.values())


UNWATCHED = CandidateWatch(0)


Places = Callable[[Collection[Reserving]], bool]
"""Says whether the pods of a Workload can be placed without these workloads."""


class PreemptionDemand(Struct, frozen=True):
    """What a Workload asks of preemption: its usage, and the pairs that are short of quota."""

    workload: Workload
    node: QuotaNode
    queue: ClusterQueue
    usage: Usage
    pairs: frozenset[FlavorResource]
    places: Places = lambda _: True
    watch: CandidateWatch = UNWATCHED


def place_of(one: Reserving) -> Place:
    """Return the place of a candidate among those of its kind."""
    return one.place


def order_of(one: Reserving, own_queue: str) -> Order:
    """Return a candidate's place: evicted ones, other queues, low priority, late reservation, uid."""
    evicted, rank, at, uid = one.place
    return evicted, one.queue == own_queue, rank, at, uid


def allowed(
    market: Market, demand: PreemptionDemand, policy: str, others: Iterable[Reserving]
) -> Iterator[Reserving]:
    """Yield the workloads that a policy allows to preempt and that use what is short."""
    mine, since = demand.workload.rank, demand.workload.queued_since
    buffer = BUFFER_SECONDS if market.has_buffer else 0
    for one in others:
        if policy != "Any":
            rank = one.workload.rank
            is_newer = policy == "LowerOrNewerEqualPriority" and one.workload.queued_since - since > buffer
            if rank > mine or (rank == mine and not is_newer):
                continue
        if not demand.pairs.isdisjoint(one.usage):
            yield one


def own_candidates(market: Market, demand: PreemptionDemand) -> list[Reserving]:
    """Return the candidates of the Workload's own queue, in no order."""
    policy = demand.queue.preemption.within_cluster_queue
    if policy == "Never":
        return []
    return list(allowed(market, demand, policy, market.reserving.get(demand.node.name, {}).values()))


def within_nominal(node: QuotaNode, pairs: Iterable[FlavorResource]) -> bool:
    """Return whether a node uses no more than its quota of any of the pairs."""
    return not node.borrows_any(pairs)


def fits(demand: PreemptionDemand, *, allow_borrowing: bool) -> bool:
    """Return whether the quota suffices for the demand as things are in the tree."""
    node = demand.node
    for pair, amount in demand.usage.items():
        if not allow_borrowing and node.borrows(pair, amount):
            return False
        if amount > max(0, node.available(pair)):
            return False
    return True


def filled_back(
    market: Market, targets: list[PreemptionTarget], is_enough: Callable[[list[PreemptionTarget]], bool]
) -> list[PreemptionTarget]:
    """Put targets back that turned out not to be needed, the last but one first."""
    kept = list(targets)
    tree, queues = market.tree, market.tree.queues
    for index in range(len(kept) - 2, -1, -1):
        one = kept[index].reserving
        tree.add(queues[one.queue], one.usage)
        fewer = list(kept)
        fewer[index] = fewer[-1]
        fewer.pop()
        if is_enough(fewer):
            kept = fewer
        else:
            tree.remove(queues[one.queue], one.usage)
    return kept
