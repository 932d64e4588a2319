"""The node × predicate matrix, as the pairs that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playground.panels.lookups import invalidated, sources
from playground.protocol.matrices import SpreadCountsWire
from scheduler_core.record.cycle import Cycle, PredicateMatrix
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.schedulers.v1_37.spread_counts import SpreadCounts


def predicates(cycle: Cycle, node_at: Sequence[int], always_check_all: bool, table: int) -> dict[str, Any]:
    """Return the protocol's ``predicates`` part.

    ``node_at`` maps a node's position in the cycle to its index on the wire, ``(nodes,)``; the wire's table
    has ``table`` nodes.
    """
    matrix = cycle.matrix
    skipped = "none" if always_check_all else "after-first-failure"
    if matrix is None:
        return {
            "order": [],
            "fails": [[], [], []],
            "reasons": [[]],
            "skipped": skipped,
            "errors": [],
            "sources": None,
            "invalidated": [],
        }
    rows, columns = np.nonzero(matrix.codes > 0)
    codes = matrix.codes[rows, columns]
    wire_nodes = np.asarray(node_at, dtype=np.int64)[columns] if len(columns) else columns
    return {
        "order": list(matrix.order),
        "fails": [wire_nodes.tolist(), rows.tolist(), codes.tolist()],
        "reasons": [list(texts) for texts in matrix.reasons],
        "skipped": skipped,
        "errors": [
            [node_at[node], predicate, text] for (predicate, node), text in sorted(matrix.errors.items())
        ],
        "sources": sources(cycle.cache, node_at, table),
        "invalidated": invalidated(cycle.cache, node_at),
        **_of_release(cycle, matrix, node_at),
    }


def _of_release(cycle: Cycle, matrix: PredicateMatrix, node_at: Sequence[int]) -> dict[str, Any]:
    """Return what v1.37 adds: nodes not walked to, plugins that PreFilter skipped, and counts by domain."""
    record = release_record(cycle)
    if record is None:
        return {}
    unreached = np.flatnonzero((matrix.codes < 0).all(axis=0))
    return {
        "outside": [node_at[node] for node in unreached.tolist()],
        "unneeded": [matrix.order.index(name) for name in record.skipped if name in matrix.order],
        "spread": [_spread(counts) for counts in record.spread],
    }


def _spread(counts: SpreadCounts) -> SpreadCountsWire:
    return {
        "key": counts.key,
        "maxSkew": counts.max_skew,
        "minDomains": counts.min_domains,
        "least": counts.least,
        "itself": counts.counts_itself,
        "policies": list(counts.policies),
        "domains": [[domain.value, domain.pods, domain.refused] for domain in counts.domains],
        "number": counts.number,
        "refused": counts.refused,
    }


def failed_nodes(cycle: Cycle) -> dict[str, list[str]]:
    """Return every infeasible node's reasons, in the order in which the predicates returned them."""
    matrix = cycle.matrix
    if matrix is None:
        return {}
    failed: dict[str, list[str]] = {}
    columns, rows = np.nonzero(matrix.codes.T > 0)
    for node, row in zip(columns.tolist(), rows.tolist(), strict=True):
        failed.setdefault(cycle.nodes[node], []).extend(matrix.reasons[int(matrix.codes[row, node])])
    return failed
