"""Dominant resource shares: how much more than its own quota a queue or cohort uses, by its weight."""

from __future__ import annotations

from math import inf

from scheduler_core.cluster.kueue.quota import QuotaNode

Share = tuple[float, float]
"""A share, ordered: the ratio by the weight; with weight 0 infinity, and then the ratio."""

NOTHING: Share = (0.0, 0.0)


def _share(ratio: float, weight: float) -> Share:
    if weight:
        return ratio / weight, 0.0
    return (inf, ratio) if ratio > 0 else NOTHING


def share_of(node: QuotaNode) -> Share:
    """Return the dominant resource share of a node; a root's is 0."""
    parent = node.parent
    if parent is None:
        return NOTHING
    borrowed = _borrowed(node)
    if not borrowed:
        return NOTHING
    lendable = _lendable(parent)
    ratios = [
        amount * 1000.0 / lendable[resource]
        for resource, amount in borrowed.items()
        if lendable.get(resource, 0) > 0
    ]
    return _share(max(ratios, default=0.0), node.weight)


def is_borrowing(node: QuotaNode) -> bool:
    """Return whether a node uses more than its quota of anything."""
    subtree = node.subtree
    return any(used > subtree.get(pair, 0) for pair, used in node.usage.items())


def _borrowed(node: QuotaNode) -> dict[str, int]:
    out: dict[str, int] = {}
    subtree = node.subtree
    for pair, used in node.usage.items():
        more = used - subtree.get(pair, 0)
        if more > 0:
            out[pair[1]] = out.get(pair[1], 0) + more
    return out


def _lendable(parent: QuotaNode) -> dict[str, int]:
    """Return what the children of a cohort could borrow at most, by resource."""
    found = parent.lendable
    if found is None:
        found = parent.lendable = {}
        for pair in parent.root.subtree:
            found[pair[1]] = found.get(pair[1], 0) + parent.potential_available(pair)
    return found


def sides(one: QuotaNode, other: QuotaNode) -> tuple[QuotaNode, QuotaNode]:
    """Return the children of the lowest common ancestor of two queues on the paths to them."""
    path = [one, *one.above]
    seen = {id(node): index for index, node in enumerate(path)}
    below = other
    for node in other.above:
        if id(node) in seen:
            return path[seen[id(node)] - 1], below
        below = node
    raise ValueError(f"{one.name} and {other.name} have no cohort in common")
