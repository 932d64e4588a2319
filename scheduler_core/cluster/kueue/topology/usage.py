"""What placed workloads use of a topology, and whether a placement still fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from scheduler_core.cluster.kueue.objects import Amounts
from scheduler_core.cluster.kueue.topology.tree import LeafKey, TopologyTree, add, subtract

TopologyUsage = dict[LeafKey, Amounts]
"""Per leaf of one flavor: the requests of the pods that were placed there, and ``pods``."""


class DomainUsage(Struct, frozen=True):
    """Pods of one pod set in one leaf, and what one of them requests."""

    key: LeafKey
    requests: Mapping[str, int]
    count: int


def add_usage(used: TopologyUsage, rows: Iterable[DomainUsage]) -> None:
    """Count placed pods."""
    for row in rows:
        _change(used, row, row.count)


def remove_usage(used: TopologyUsage, rows: Iterable[DomainUsage]) -> None:
    """Count placed pods no more."""
    for row in rows:
        _change(used, row, -row.count)


def _change(used: TopologyUsage, row: DomainUsage, count: int) -> None:
    total = used.setdefault(row.key, {})
    add(total, row.requests, count)
    add(total, {"pods": count})


def remaining(tree: TopologyTree, key: LeafKey, *used: TopologyUsage) -> Amounts:
    """Return what is left of a leaf."""
    left = dict(tree.leaves[key].free)
    for usage in used:
        subtract(left, usage.get(key, {}))
    return left


def fits(tree: TopologyTree, used: TopologyUsage, rows: Iterable[DomainUsage]) -> bool:
    """Return whether each row fits by itself what is left of its leaf, apart from the number of pods."""
    return all(
        row.key in tree.leaves and count_in(row.requests, remaining(tree, row.key, used))[0] >= row.count
        for row in rows
    )


UNLIMITED = 2**31 - 1


def count_in(requests: Mapping[str, int], capacity: Mapping[str, int]) -> tuple[int, str]:
    """Return how often the requests fit, and the resource of which there is least, the first by name.

    Overused capacity counts negative. Nothing fits a capacity without one of the requested resources.
    """
    counts: list[tuple[int, str]] = []
    for resource, amount in sorted(requests.items()):
        if amount and resource not in capacity:
            return 0, resource
        counts.append((quotient(capacity[resource], amount) if amount else UNLIMITED, resource))
    return min(counts, default=(0, ""))


def quotient(amount: int, by: int) -> int:
    """Divide as Go does: towards zero."""
    return -(-amount // by) if amount < 0 else amount // by
