"""The node × priority matrix of the feasible nodes, and how one of its cells was computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playground.panels.surprises import of_scores
from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.cycle import Cycle
from scheduler_core.record.priority_row import PriorityRow
from scheduler_core.run import Stepper
from scheduler_core.run.v1_37.record import ReleaseRecord, release_record
from scheduler_core.schedulers.extenders.configuration import is_extender
from scheduler_core.schedulers.extenders.rules import MAX_EXTENDER_PRIORITY
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES, describe
from scheduler_core.schedulers.v1_11.priorities.line import FormulaLine, LineQuestion, as_dict
from scheduler_core.schedulers.v1_11.scores import combine
from scheduler_core.schedulers.v1_37.node_choice import turns
from scheduler_core.schedulers.v1_37.plugins.base import MAX_SCORE
from scheduler_core.schedulers.v1_37.plugins.table import declared


def priorities(cycle: Cycle, node_at: Sequence[int], *, in_turn: bool = True) -> dict[str, Any]:
    """Return the protocol's ``priorities`` part; ``{"why": text}`` if nothing was ranked.

    ``in_turn`` is whether ties are broken round-robin or by taking the first node.
    """
    if cycle.totals is None:
        return {"why": why_unranked(cycle)}
    record = release_record(cycle)
    winner = node_at[cycle.nodes.index(cycle.node)] if cycle.node else None
    return {
        "nodes": [node_at[node] for node in cycle.feasible.tolist()],
        "rows": [
            {
                "name": row.name,
                "kind": kind_of(row, record),
                "weight": row.weight,
                "raw": None if row.raw is None else _compact(row.raw),
                "score": _compact(row.score),
            }
            for row in cycle.priorities
        ],
        "totals": cycle.totals.tolist(),
        "ties": [node_at[node] for node in cycle.ties.tolist()],
        "counter": cycle.last_node_index,
        "inTurn": in_turn and record is None,
        "winner": winner,
        **({} if record is None else _of_release(record, cycle)),
    }


def _of_release(record: ReleaseRecord, cycle: Cycle) -> dict[str, Any]:
    """Return what only v1.37 has: ``turns`` is, by feasible node, its place in the order of equal totals."""
    known = {
        "release": record.release,
        "unscored": list(record.unscored),
        "profile": record.profile,
        "said": of_scores(cycle),
    }
    if record.scored is None:
        return known
    order = turns(len(cycle.feasible), record.scored.at_random)
    place = dict(zip(record.scored.nodes.tolist(), order.tolist(), strict=True))
    found = {**known, "turns": [place[cycle.nodes[node]] for node in cycle.feasible.tolist()]}
    return {**found, "atRandom": True} if record.scored.drawn else found


def kind_of(row: PriorityRow, record: ReleaseRecord | None) -> str:
    """Return how a row is scored; under v1.37, which has no Map and Reduce, by a plugin or an extender."""
    if record is None:
        return row.kind
    return "extender" if is_extender(row.name) else "plugin"


def _compact(values: IntVector) -> int | list[int]:
    """Return a single number if all values are equal, as they usually are for most priorities."""
    first = int(values[0])
    return first if bool((values == first).all()) else values.tolist()


def explained(
    cycle: Cycle, before: Stepper, node_at: Sequence[int], node: int, priority: int
) -> dict[str, Any] | None:
    """Return how a priority, by its row in the matrix, scored a node; ``None`` for a node not ranked.

    ``before`` is the simulation at the start of the cycle.
    """
    feasible = cycle.feasible.astype(np.int64)
    place = next((n for n, one in enumerate(feasible.tolist()) if node_at[one] == node), None)
    if place is None:
        return None
    row = cycle.priorities[priority]
    if release_record(cycle) is not None:
        return (_extender_score if is_extender(row.name) else _plugin_score)(cycle, place, row)
    pod = before.cluster.pods[cycle.pod]
    if priority >= len(before.profile_of(pod.pod).priorities):
        return _extender_score(cycle, place, row)
    asked = LineQuestion(before.cluster, pod, feasible, place, row)
    zero = np.zeros(1, np.int64)
    total = combine(((row.weight, row.score[place : place + 1]) for row in cycle.priorities), zero)
    breakdown = as_dict(asked, describe(before.profile_of(pod.pod).priorities[priority].run, asked))
    name = breakdown["name"]
    return {**breakdown, "total": int(total[0]), "reference": name if name in PRIORITIES else None}


def _extender_score(cycle: Cycle, place: int, row: PriorityRow) -> dict[str, Any]:
    """Return how an extender counts for a node: its answer, under v1.37 scaled, times its weight."""
    assert cycle.totals is not None
    score = int(row.score[place])
    raw = score if row.raw is None else int(row.raw[place])
    value = [FormulaLine("Prioritize", "Score of the node in the answer", f"{raw:,}", f"{raw:,}")]
    scale = f"× {MAX_SCORE} / {MAX_EXTENDER_PRIORITY}"
    scaled = [] if row.raw is None else [FormulaLine("MaxNodeScore", scale, f"{raw:,}", f"{score:,}")]
    return {
        "name": row.name,
        "kind": kind_of(row, release_record(cycle)),
        "weight": row.weight,
        "prefers": "what the extender scores higher",
        "map": None if row.raw is None else raw,
        "score": score,
        "weighted": row.weight * score,
        "range": [int(row.score.min()), int(row.score.max())],
        "value": plain(value),
        "scale": plain(scaled),
        "total": int(cycle.totals[place]),
        "reference": None,
    }


def _plugin_score(cycle: Cycle, place: int, row: PriorityRow) -> dict[str, Any]:
    """Return how a score plugin of v1.37 counts for a node: its score, normalized, times its weight."""
    assert cycle.totals is not None
    assert row.raw is not None
    raw, score = int(row.raw[place]), int(row.score[place])
    plugin = declared(row.name)
    formula, _, normalized = plugin.formula.partition("; ")
    value = [FormulaLine("Score", formula or "score of the node", f"{raw:,}", f"{raw:,}")]
    scaled = [FormulaLine("NormalizeScore", normalized or "unchanged", f"{raw:,}", f"{score:,}")]
    return {
        "name": row.name,
        "kind": "plugin",
        "weight": row.weight,
        "prefers": plugin.text,
        "map": raw,
        "score": score,
        "weighted": row.weight * score,
        "range": [int(row.score.min()), int(row.score.max())],
        "value": plain(value),
        "scale": plain(scaled),
        "total": int(cycle.totals[place]),
        "reference": row.name,
    }


def why_unranked(cycle: Cycle) -> str:
    """Return why no node was ranked in this cycle, as a sentence."""
    if cycle.result == "undecided":
        return "No node is ranked at this moment."
    if cycle.scheduler:
        return f"The scheduler {cycle.scheduler} has no priorities."
    if cycle.result == "error":
        return "The attempt ended in an error before any node was ranked."
    record = release_record(cycle)
    rules = "predicates" if record is None else "filters"
    if cycle.result == "unschedulable":
        return f"No node passed all {rules}, so there was nothing to rank."
    if record is not None and record.hint == cycle.node:
        return f"Batching named {cycle.node}, so it was taken without ranking."
    return f"Only {cycle.node} passed all {rules}, so it was taken without ranking."
