"""The counters of a ClusterQueue's status, and when a write of them has consequences."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.cluster.kueue.amounts import add_usage
from scheduler_core.cluster.kueue.cache import Cache
from scheduler_core.cluster.kueue.candidates import Reserving
from scheduler_core.cluster.kueue.objects import Usage
from scheduler_core.cluster.kueue.shares import share_of
from scheduler_core.cluster.kueue.workload import ADMITTED

Counters = tuple[int, int, int, Usage, Usage, float]
"""How many Workloads are pending, reserving and admitted, what they use, and the share."""

NONE: Counters = (0, 0, 0, {}, {}, 0.0)


def counters_of(cache: Cache, queue: str, pending: int, *, is_fair: bool) -> Counters:
    """Return the counters of a queue as they are."""
    reserving = cache.reserving.get(queue, {}).values()
    in_use = [one for one in reserving if one.workload.has(ADMITTED)]
    return (
        pending,
        len(reserving),
        len(in_use),
        used_by(reserving),
        used_by(in_use),
        share_of(cache.tree.queues[queue])[0] if is_fair else 0.0,
    )


def used_by(reserving: Iterable[Reserving]) -> Usage:
    """Return the usage of workloads."""
    total: Usage = {}
    for one in reserving:
        add_usage(total, one.usage)
    return {pair: amount for pair, amount in total.items() if amount}
