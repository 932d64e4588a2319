"""The node × priority matrix of the feasible nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.cycle import Cycle


def priorities(cycle: Cycle, node_at: Sequence[int]) -> dict[str, Any]:
    """Return the protocol's ``priorities`` part; ``{"why": text}`` if nothing was ranked."""
    if cycle.totals is None:
        return {"why": why_unranked(cycle)}
    winner = node_at[cycle.nodes.index(cycle.node)] if cycle.node else None
    return {
        "nodes": [node_at[node] for node in cycle.feasible.tolist()],
        "rows": [
            {
                "name": row.name,
                "weight": row.weight,
                "raw": None if row.raw is None else row.raw.tolist(),
                "score": row.score.tolist(),
            }
            for row in cycle.priorities
        ],
        "totals": cycle.totals.tolist(),
        "ties": [node_at[node] for node in cycle.ties.tolist()],
        "counter": cycle.last_node_index,
        "winner": winner,
    }


def why_unranked(cycle: Cycle) -> str:
    """Return why no node was ranked in this cycle, as a sentence."""
    if cycle.result == "error":
        return "The attempt ended in an error before any node was ranked."
    if cycle.result == "unschedulable":
        return "No node passed all predicates, so there was nothing to rank."
    return f"Only {cycle.node} passed all predicates, so it was taken without ranking."
