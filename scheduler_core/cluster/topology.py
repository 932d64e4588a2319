"""Sums over topology domains."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.columns import NodeColumns
from scheduler_core.cluster.view import View
from scheduler_core.cycle import IntVector


def domain_sums(columns: NodeColumns, keys: tuple[str, ...], per_node: IntVector) -> IntVector:
    """Give every node the sum of ``per_node`` over its domain of ``keys``: ``(N,) int64``.

    A node that lacks one of the labels is in no domain and gets 0.
    """
    domains, count = columns.topology(keys)
    sums = np.zeros(count + 1, np.int64)  # the last entry is for -1
    held = np.flatnonzero(per_node)
    np.add.at(sums, domains[held], per_node[held])
    sums[count] = 0
    return sums[domains]


def row_sums(view: View, keys: tuple[str, ...], per_node: IntVector, own: IntVector | None) -> IntVector:
    """Do the same for a view's rows, where ``own`` ``(R,)`` is what each row's own node has more."""
    sums = view.take(domain_sums(view.columns, keys, per_node))
    if own is None:
        return sums
    inside = view.take(view.columns.topology(keys)[0]) >= 0
    return sums + np.where(inside, own, 0)
