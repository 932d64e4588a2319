"""The quota tree: ClusterQueues under Cohorts, what each has, uses, lends and may still take.

A node's amounts are columns by (flavor, resource). ``subtree`` is what the node has with all below it,
``local`` the part of that which its lending limit keeps back, ``usage`` what counts against it. Changes can
be taken back: ``mark`` before them and ``revert`` after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from scheduler_core.cluster.kueue.objects import (
    ClusterQueue,
    Cohort,
    FlavorResource,
    QuotaLimits,
    ResourceGroup,
    Usage,
)

Journal = list[tuple[Usage, FlavorResource, int]]


class QuotaNode:
    """A ClusterQueue or Cohort of the tree."""

    __slots__ = (
        "cohorts", "height", "is_queue", "lendable", "local", "name", "parent", "potential", "queues",
        "quotas", "root", "subtree", "usage", "weight",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        *,
        is_queue: bool,
        quotas: Mapping[FlavorResource, QuotaLimits],
        weight: float,
    ) -> None:
        self.name, self.is_queue, self.quotas, self.weight = name, is_queue, quotas, weight
        self.parent: QuotaNode | None = None
        self.root: QuotaNode = self
        self.cohorts: list[QuotaNode] = []
        self.queues: list[QuotaNode] = []
        self.subtree: Usage = {}
        self.local: Usage = {}
        self.usage: Usage = {}
        self.potential: Usage = {}
        self.lendable: dict[str, int] | None = None
        self.height = 0

    def nominal(self, pair: FlavorResource) -> int:
        """Return the node's own quota."""
        found = self.quotas.get(pair)
        return found.nominal if found else 0

    def borrowing_limit(self, pair: FlavorResource) -> int | None:
        """Return how much it may borrow, ``None`` for as much as there is."""
        found = self.quotas.get(pair)
        return found.borrowing_limit if found else None

    def local_available(self, pair: FlavorResource) -> int:
        """Return what is free of the part that is not lent."""
        return max(0, self.local.get(pair, 0) - self.usage.get(pair, 0))

    def available(self, pair: FlavorResource) -> int:
        """Return what may still be used here; it is negative where more is used than there is."""
        if self.parent is None:
            return self.subtree.get(pair, 0) - self.usage.get(pair, 0)
        above = self.parent.available(pair)
        limit = self.borrowing_limit(pair)
        if limit is not None:
            local = self.local.get(pair, 0)
            stored = self.subtree.get(pair, 0) - local
            above = min(above, stored - max(0, self.usage.get(pair, 0) - local) + limit)
        return self.local_available(pair) + above

    def potential_available(self, pair: FlavorResource) -> int:
        """Return what could be used here if nothing else were."""
        found = self.potential.get(pair)
        if found is None:
            found = self.potential[pair] = self._potential(pair)
        return found

    def _potential(self, pair: FlavorResource) -> int:
        if self.parent is None:
            return self.subtree.get(pair, 0)
        whole = self.local.get(pair, 0) + self.parent.potential_available(pair)
        limit = self.borrowing_limit(pair)
        return whole if limit is None else min(whole, self.subtree.get(pair, 0) + limit)

    def borrows(self, pair: FlavorResource, amount: int = 0) -> bool:
        """Return whether it borrows when it uses an amount more."""
        return self.usage.get(pair, 0) + amount > self.subtree.get(pair, 0)

    def borrows_any(self, pairs: Iterable[FlavorResource]) -> bool:
        """Return whether it borrows in one of the pairs."""
        usage, subtree = self.usage, self.subtree
        for pair in pairs:  # noqa: SIM110 (a generator takes half of a search for targets)
            if usage.get(pair, 0) > subtree.get(pair, 0):
                return True
        return False

    @property
    def above(self) -> Iterator[QuotaNode]:
        """The cohorts above it, the nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def path(self) -> str:
        """The names from the root down, as preemption messages have them."""
        return "/" + "/".join(reversed([self.name, *(one.name for one in self.above)]))

    def lowest_fit(self, pair: FlavorResource, amount: int) -> tuple[int, bool]:
        """Return the height of the lowest cohort an amount fits in, and whether there is one above it."""
        if self.parent is None or not self.borrows(pair, amount):
            return 0, self.parent is not None
        rest = amount - self.local_available(pair)
        for cohort in self.above:
            if not cohort.borrows(pair, rest):
                return cohort.height, cohort.parent is not None
            rest -= cohort.local_available(pair)
        return self.root.height, False

    def set_height(self) -> int:
        """Set the height of a cohort and of those below it."""
        below = [one.set_height() for one in self.cohorts]
        self.height = 1 + max(below, default=0) if below or self.queues else 0
        return self.height

    def settle(self) -> None:
        """Compute the columns of a node from those of its children."""
        for child in (*self.cohorts, *self.queues):
            child.settle()
        self.potential, self.lendable = {}, None
        self.subtree = {pair: quota.nominal for pair, quota in self.quotas.items()}
        if not self.is_queue:
            self.usage = {}
        for child in (*self.cohorts, *self.queues):
            _rise(child, self)
        lending = ((pair, quota.lending_limit) for pair, quota in self.quotas.items())
        self.local = {
            pair: max(0, self.subtree[pair] - limit) for pair, limit in lending if limit is not None
        }


def _rise(child: QuotaNode, parent: QuotaNode) -> None:
    for pair, whole in child.subtree.items():
        lent = whole - child.local.get(pair, 0)
        parent.subtree[pair] = parent.subtree.get(pair, 0) + lent
    for pair, used in child.usage.items():
        stored = max(0, used - child.local.get(pair, 0))
        parent.usage[pair] = parent.usage.get(pair, 0) + stored


class QuotaTree:
    """All ClusterQueues and Cohorts, with the usage of the queues' reserving workloads."""

    def __init__(self) -> None:
        self.queues: dict[str, QuotaNode] = {}
        self.cohorts: dict[str, QuotaNode] = {}
        self.cyclic: frozenset[str] = frozenset()
        self._journal: Journal = []

    def build(
        self,
        queues: Mapping[str, ClusterQueue],
        cohorts: Mapping[str, Cohort],
        usage_of: Callable[[str], Usage],
    ) -> None:
        """Build the tree; a queue keeps the usage that it has, a new one gets ``usage_of`` it."""
        used = {name: node.usage for name, node in self.queues.items()}
        self.cohorts = {name: _cohort_node(one) for name, one in cohorts.items()}
        self.queues = {
            name: QuotaNode(name, is_queue=True, quotas=_quotas(one.groups), weight=one.weight)
            for name, one in sorted(queues.items())
        }
        for name, one in sorted(cohorts.items()):
            self._hang(self.cohorts[name], one.parent)
        for name, queue in sorted(queues.items()):
            self._hang(self.queues[name], queue.cohort)
            self.queues[name].usage = used[name] if name in used else usage_of(name)
        self._finish()

    def _hang(self, node: QuotaNode, parent: str) -> None:
        if not parent:
            return
        above = self.cohorts.get(parent)
        if above is None:
            above = self.cohorts[parent] = QuotaNode(parent, is_queue=False, quotas={}, weight=1.0)
        node.parent = above
        (above.queues if node.is_queue else above.cohorts).append(node)

    def _finish(self) -> None:
        self.cyclic = frozenset(name for name, node in self.cohorts.items() if _is_cyclic(node))
        for name in self.cyclic:
            self.cohorts[name].parent, self.cohorts[name].cohorts = None, []
        nodes = [*self.cohorts.values(), *self.queues.values()]
        for node in nodes:
            if node.parent is None:
                node.set_height()
                node.settle()
        for node in nodes:
            node.root = _root(node)

    def mark(self) -> int:
        """Return a point that ``revert`` goes back to."""
        return len(self._journal)

    def revert(self, mark: int) -> None:
        """Take back all changes since a mark."""
        journal = self._journal
        while len(journal) > mark:
            column, pair, old = journal.pop()
            column[pair] = old

    def commit(self) -> None:
        """Forget what could be taken back."""
        self._journal.clear()

    def add(self, node: QuotaNode, usage: Mapping[FlavorResource, int]) -> None:
        """Use more in a queue."""
        for pair, amount in usage.items():
            self._add(node, pair, amount)

    def _add(self, node: QuotaNode, pair: FlavorResource, amount: int) -> None:
        above: QuotaNode | None = node
        while above is not None:
            part = above.local_available(pair)
            self._set(above, pair, above.usage.get(pair, 0) + amount)
            if amount <= part:
                return
            amount -= part
            above = above.parent

    def remove(self, node: QuotaNode, usage: Mapping[FlavorResource, int]) -> None:
        """Use less in a queue."""
        for pair, amount in usage.items():
            self._remove(node, pair, amount)

    def _remove(self, node: QuotaNode, pair: FlavorResource, amount: int) -> None:
        above: QuotaNode | None = node
        while above is not None:
            used = above.usage.get(pair, 0)
            stored = used - above.local.get(pair, 0)
            self._set(above, pair, used - amount)
            if stored <= 0:
                return
            amount = min(amount, stored)
            above = above.parent

    def _set(self, node: QuotaNode, pair: FlavorResource, amount: int) -> None:
        self._journal.append((node.usage, pair, node.usage.get(pair, 0)))
        node.usage[pair] = amount


def _cohort_node(cohort: Cohort) -> QuotaNode:
    return QuotaNode(cohort.name, is_queue=False, quotas=_quotas(cohort.groups), weight=cohort.weight)


def _quotas(groups: Iterable[ResourceGroup]) -> dict[FlavorResource, QuotaLimits]:
    return {
        (flavor.name, resource): quota
        for group in groups
        for flavor in group.flavors
        for resource, quota in flavor.resources.items()
    }


def _is_cyclic(node: QuotaNode) -> bool:
    seen = {node.name}
    for one in node.above:
        if one.name in seen:
            return True
        seen.add(one.name)
    return False


def _root(node: QuotaNode) -> QuotaNode:
    while node.parent is not None:
        node = node.parent
    return node


def queues_below(node: QuotaNode) -> Iterator[QuotaNode]:
    """Yield the queues of a subtree."""
    if node.is_queue:
        yield node
    yield from node.queues
    for cohort in node.cohorts:
        yield from queues_below(cohort)
