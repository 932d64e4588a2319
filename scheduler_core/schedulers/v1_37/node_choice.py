"""The choice among feasible nodes: the root of a heap on the totals, as Go's container/heap makes it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from scheduler_core.schedulers.v1_37.nodes import Ints, Mask


@lru_cache(maxsize=8)
def _preorder_keys(bits: int) -> Ints:
    """Return a number for each index below ``2**bits - 1``: the order root, left, right of a heap."""
    index = np.arange(1, 2**bits, dtype=np.int64)
    depth = np.floor(np.log2(index)).astype(np.int64)
    return ((index << (bits - depth)) << 6) | depth


@lru_cache(maxsize=8)
def _preorder(bits: int) -> Ints:
    """Return the indices below ``2**bits - 1`` in the order root, left, right."""
    return np.argsort(_preorder_keys(bits))


def in_order(size: int) -> Ints:
    """Return the positions among ``size`` nodes in the order in which equal ones are taken."""
    found = _preorder(max(size.bit_length(), 6))
    return found[found < size]


def turns(size: int, at_random: Mask | None = None) -> Ints:
    """Return for each position among ``size`` nodes its place in the order of equal totals: 0 is taken."""
    keys = _preorder_keys(max(size.bit_length(), 6))[:size]
    order = np.argsort(keys) if at_random is None else np.lexsort((keys, ~at_random))
    places = np.empty(size, np.int64)
    places[order] = np.arange(size)
    return places


def select(totals: Ints, at_random: Mask | None = None) -> int:
    """Return the position of the chosen node.

    heap.Init sifts down with a right child only if strictly greater and swaps only with a strictly greater
    child. So of equal elements the first one in the order root, left subtree, right subtree becomes the root.

    Nodes ``at_random`` come before equal ones, in a random order upstream: here in the same order.
    """
    (ties,) = (totals == totals.max()).nonzero()
    if at_random is not None and at_random[ties].any():
        ties = ties[at_random[ties]]
    if len(ties) == 1:
        return int(ties[0])
    keys = _preorder_keys(max(len(totals).bit_length(), 6))
    return int(ties[np.argmin(keys[ties])])
