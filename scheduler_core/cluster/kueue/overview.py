"""Kueue's state at a moment, bounded: the quota tree, the queues in order, and the topologies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from scheduler_core.cluster.kueue.amounts import format_amount
from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.entry import Entry
from scheduler_core.cluster.kueue.objects import Amounts, FlavorResource, LocalQueue
from scheduler_core.cluster.kueue.queues import PendingQueue
from scheduler_core.cluster.kueue.quota import QuotaNode
from scheduler_core.cluster.kueue.shares import share_of
from scheduler_core.cluster.kueue.topology.snapshot import TopologySnapshot
from scheduler_core.cluster.kueue.topology.tree import Domain, TopologyTree, add
from scheduler_core.cluster.kueue.topology.usage import TopologyUsage
from scheduler_core.cluster.kueue.workload import QUOTA_RESERVED

TREE_ROWS = 200
QUEUES = 50
PENDING = 40  # of each queue, and as many inadmissible ones
DOMAINS = 150  # of each flavor
LOCAL_QUEUES = 100


class QuotaRow(Struct, frozen=True):
    """One flavor's resource at a node: a queue's own quota, or all that a cohort has with those below."""

    flavor: str
    resource: str
    quota: int
    used: int
    available: int
    borrowing_limit: int | None
    lending_limit: int | None

    @property
    def borrowed(self) -> int:
        """What is used beyond the quota."""
        return max(0, self.used - self.quota)

    @property
    def lent(self) -> int:
        """What others use of the quota."""
        return max(0, self.quota - self.used - max(0, self.available))


class TreeRow(Struct, frozen=True):
    """A cohort or a queue with its depth in the tree. ``share`` is its dominant share, -1 for infinity.

    ``why`` says why a queue admits nothing; ``waiting`` counts the inadmissible Workloads beside ``pending``.
    """

    name: str
    depth: int
    is_queue: bool
    weight: float
    share: float
    quotas: tuple[QuotaRow, ...]
    strategy: str = ""
    why: str = ""
    pending: int = 0
    waiting: int = 0
    reserving: int = 0


class PendingRow(Struct, frozen=True):
    """A Workload in a queue: what it asks for, and what its condition says."""

    key: str
    priority: int
    since: float
    asks: str
    message: str


class QueueRow(Struct, frozen=True):
    """A queue in order: the heap, then those that wait for an event; the first of each, and how many."""

    name: str
    sticky: str
    active: tuple[PendingRow, ...]
    active_count: int
    inadmissible: tuple[PendingRow, ...]
    inadmissible_count: int


class DomainRow(Struct, frozen=True):
    """A domain with what is free in it and what placed workloads use, pods among it."""

    depth: int
    name: str
    free: str
    used: str
    pods: int


class TopologyRow(Struct, frozen=True):
    """A flavor's topology, its domains from the top down."""

    flavor: str
    topology: str
    levels: tuple[str, ...]
    domains: tuple[DomainRow, ...]
    domain_count: int


class Overview(Struct, frozen=True):
    """Kueue's state; the counts are of all rows there are."""

    is_fair: bool
    tree: tuple[TreeRow, ...]
    tree_count: int
    queues: tuple[QueueRow, ...]
    queue_count: int
    topologies: tuple[TopologyRow, ...]
    local_queues: tuple[LocalQueue, ...] = ()


def overview_of(control: Control) -> Overview:
    """Return Kueue's state as it is now."""
    rows = list(_tree(control))
    busy = [name for name, queue in sorted(control.queues.items()) if len(queue)]
    snapshot = control.cache.topology_snapshot(control.configuration.gates)
    return Overview(
        control.configuration.is_fair,
        tuple(rows[:TREE_ROWS]),
        len(rows),
        tuple(_queue(name, control.queues[name]) for name in busy[:QUEUES]),
        len(busy),
        tuple(_topology(name, tree, snapshot) for name, tree in sorted(snapshot.trees.items())),
        tuple(one for _, one in sorted(control.cache.local_queues.items())[:LOCAL_QUEUES]),
    )


# --- the quota tree


def _tree(control: Control) -> Iterator[TreeRow]:
    tree = control.cache.tree
    roots = [node for node in (*tree.cohorts.values(), *tree.queues.values()) if node.parent is None]
    for root in sorted(roots, key=lambda node: (node.is_queue, node.name)):
        yield from _below(control, root, 0)


def _below(control: Control, node: QuotaNode, depth: int) -> Iterator[TreeRow]:
    yield _row(control, node, depth)
    for child in sorted((*node.cohorts, *node.queues), key=lambda one: (one.is_queue, one.name)):
        yield from _below(control, child, depth + 1)


def _row(control: Control, node: QuotaNode, depth: int) -> TreeRow:
    share, beyond = share_of(node)
    row = TreeRow(
        node.name,
        depth,
        node.is_queue,
        node.weight,
        -1.0 if beyond else round(share, 1),
        tuple(_quota(node, pair) for pair in sorted(node.subtree)),
    )
    return _of_queue(control, row) if node.is_queue else row


def _of_queue(control: Control, row: TreeRow) -> TreeRow:
    cache, queue = control.cache, control.queues[row.name]
    activity = cache.activity(row.name)
    return TreeRow(
        row.name,
        row.depth,
        True,
        row.weight,
        row.share,
        row.quotas,
        strategy=cache.queues[row.name].strategy,
        why="" if activity.is_active else activity.message,
        pending=len(queue.active),
        waiting=len(queue.inadmissible),
        reserving=len(cache.reserving.get(row.name, {})),
    )


def _quota(node: QuotaNode, pair: FlavorResource) -> QuotaRow:
    quota = node.quotas.get(pair)
    return QuotaRow(
        *pair,
        quota=node.nominal(pair) if node.is_queue else node.subtree.get(pair, 0),
        used=node.usage.get(pair, 0),
        available=node.available(pair),
        borrowing_limit=quota.borrowing_limit if quota else None,
        lending_limit=quota.lending_limit if quota else None,
    )


# --- queues


def _queue(name: str, queue: PendingQueue) -> QueueRow:
    active, waiting = queue.listed(), queue.waiting()
    return QueueRow(
        name,
        queue.sticky,
        tuple(map(_pending, active[:PENDING])),
        len(active),
        tuple(map(_pending, waiting[:PENDING])),
        len(waiting),
    )


def _pending(entry: Entry) -> PendingRow:
    workload = entry.workload
    total: Amounts = {}
    for request in entry.requests:
        add(total, request.total)
    condition = workload.conditions.get(QUOTA_RESERVED)
    return PendingRow(
        workload.key,
        workload.rank,
        workload.queued_since,
        amounts_text(total),
        condition.message if condition and not condition.status else "",
    )


def amounts_text(amounts: Amounts) -> str:
    """Return amounts as they are written, by resource."""
    return ", ".join(f"{name} {format_amount(name, amount)}" for name, amount in sorted(amounts.items()))


# --- topologies


def _topology(flavor: str, tree: TopologyTree, snapshot: TopologySnapshot) -> TopologyRow:
    rows = list(_domains(tree.roots, 0, snapshot.used.get(flavor, {})))
    return TopologyRow(flavor, tree.name, tree.levels, tuple(rows[:DOMAINS]), len(rows))


def _domains(domains: Iterable[Domain], depth: int, used: TopologyUsage) -> Iterator[DomainRow]:
    for domain in domains:
        free, taken = _sums(domain, used)
        left = {name: amount - taken.get(name, 0) for name, amount in free.items()}
        held = {name: amount for name, amount in taken.items() if name != "pods" and amount}
        shown = {name: amount for name, amount in left.items() if name in ("cpu", "memory") or "/" in name}
        yield DomainRow(
            depth, domain.values[-1], amounts_text(shown), amounts_text(held), taken.get("pods", 0)
        )
        yield from _domains(domain.children, depth + 1, used)


def _sums(domain: Domain, used: TopologyUsage) -> tuple[Amounts, Amounts]:
    """Return what the leaves of a domain have beside other pods, and what workloads use of that."""
    free: Amounts = {}
    taken: Amounts = {}
    if not domain.children:
        return dict(domain.free), dict(used.get(domain.key, {}))
    for child in domain.children:
        part, held = _sums(child, used)
        add(free, part)
        add(taken, held)
    return free, taken
