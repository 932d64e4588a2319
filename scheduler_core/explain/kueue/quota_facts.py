"""What a queue has of a flavor's resource at one moment, what is missing, and who uses it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec import Struct

from scheduler_core.cluster.kueue.amounts import format_amount
from scheduler_core.cluster.kueue.cache import Cache
from scheduler_core.cluster.kueue.objects import FlavorResource
from scheduler_core.cluster.kueue.quota import QuotaNode, queues_below

USERS_NAMED = 6


class QuotaUser(Struct, frozen=True):
    """A workload that uses the resource, and in which queue."""

    workload: str
    queue: str
    amount: int


class QuotaFacts(Struct, frozen=True):
    """A queue's quota of one flavor's resource against what is wanted of it.

    ``available`` is what it could take now, ``most`` what it could take if nobody used anything; ``lent`` is
    the part of its own free quota that others use. ``users`` are the workloads of its tree, those of queues
    that borrow first; ``others`` is how many more there are.
    """

    flavor: str
    resource: str
    wanted: int
    nominal: int
    used: int
    available: int
    most: int
    borrowing_limit: int | None
    users: tuple[QuotaUser, ...]
    others: int

    @property
    def missing(self) -> int:
        """How much more it needs than it could take now."""
        return max(0, self.wanted - self.available)

    @property
    def borrowed(self) -> int:
        """How much it uses beyond its own quota."""
        return max(0, self.used - self.nominal)

    @property
    def lent(self) -> int:
        """How much of its own free quota others use."""
        return max(0, self.nominal - self.used - self.available)

    @property
    def borrowable(self) -> int:
        """How much it could borrow now beyond its own free quota."""
        return max(0, self.available - max(0, self.nominal - self.used))

    @property
    def sentence(self) -> str:
        """The facts in one sentence."""
        amount = partial(format_amount, self.resource)
        parts = [f"nominal {amount(self.nominal)}", f"{amount(self.used)} used"]
        parts += [f"{amount(self.borrowed)} of it borrowed"] if self.borrowed else []
        parts += [f"{amount(self.lent)} lent to others"] if self.lent else []
        limit = "" if self.borrowing_limit is None else f" (limit {amount(self.borrowing_limit)})"
        parts += [f"{amount(self.borrowable)} to borrow{limit}"] if self.borrowable or limit else []
        verdict = f"{amount(self.missing)} missing" if self.missing else "enough"
        if self.wanted > self.most:
            verdict += f"; more than {amount(self.most)} is never possible"
        head = f"{self.resource} in {self.flavor}: {amount(self.wanted)} wanted"
        return f"{head}, {amount(self.available)} available ({', '.join(parts)}): {verdict}"

    @property
    def users_sentence(self) -> str:
        """Who uses it, "" if nobody does."""
        if not self.users:
            return ""
        named = [
            f"{one.workload} {format_amount(self.resource, one.amount)} ({one.queue})" for one in self.users
        ]
        more = [f"{self.others:,} more"] if self.others else []
        return f"used by {', '.join([*named, *more])}"


def quota_facts(cache: Cache, queue: str, pair: FlavorResource, wanted: int) -> QuotaFacts:
    """Return the facts on one flavor's resource for a queue."""
    node = cache.tree.queues[queue]
    users = sorted(_users(cache, node, pair), key=lambda row: (not row[0], -row[1].amount, row[1].workload))
    return QuotaFacts(
        flavor=pair[0],
        resource=pair[1],
        wanted=wanted,
        nominal=node.nominal(pair),
        used=node.usage.get(pair, 0),
        available=max(0, node.available(pair)),
        most=node.potential_available(pair),
        borrowing_limit=node.borrowing_limit(pair),
        users=tuple(one for _, one in users[:USERS_NAMED]),
        others=max(0, len(users) - USERS_NAMED),
    )


def _users(cache: Cache, node: QuotaNode, pair: FlavorResource) -> Iterator[tuple[bool, QuotaUser]]:
    """Yield the workloads of a tree that use a pair, each with whether its queue borrows."""
    for queue in queues_below(node.root):
        borrows = queue is not node and queue.borrows(pair)
        for key, one in cache.reserving.get(queue.name, {}).items():
            if one.usage.get(pair):
                yield borrows, QuotaUser(key, queue.name, one.usage[pair])
