"""What can be answered to a question about a cycle: the same for everybody, wherever their page stands."""

from __future__ import annotations

from playground.playback.changes import Placement, PlacementChanges
from playground.playback.playback import Playback
from playground.playback.tables import PENDING
from scheduler_core.record.cycle import Cycle

ROWS = 1_000  # of a ballot; beyond, a page offers what it knows of the cluster


def ballot(kind: str, playback: Playback, cycle: Cycle) -> list[list[str]] | None:
    """Return the rows of a ballot, ``None`` for a kind that has none, or for too many.

    Of the question for the node each is ``[node]``; of that for the victims ``[pod, node]``: the pods of
    lower priority on their nodes, as the attempt finds them.
    """
    rows: list[list[str]] | None = None
    if kind == "node":
        rows = [[name] for name in cycle.nodes]
    elif kind == "victims":
        pods, nodes = playback.tables.pods, playback.tables.nodes
        priority = pods[playback.tables.pod_index[cycle.pod]].priority
        found = enumerate(placement_at(playback, cycle).tolist())
        lower = [(pod, node) for pod, node in found if node > PENDING and pods[pod].priority < priority]
        rows = [[pods[pod].meta.key, nodes[node].meta.name] for pod, node in lower[: ROWS + 1]]
    return None if rows is None or len(rows) > ROWS else rows


def placement_at(playback: Playback, cycle: Cycle) -> Placement:
    """Return every pod's node as the attempt of a cycle finds it, after what happened since the last."""
    placement = playback.trail.placement_before(cycle.index)
    for pod, node in early_changes(playback, cycle):
        placement[pod] = node
    return placement


def early_changes(playback: Playback, cycle: Cycle) -> PlacementChanges:
    """Return what moved before the attempt of a cycle, since the last one."""
    trail = playback.trail
    if cycle.moves is None:
        own = len(cycle.decision.victims) + (cycle.result == "scheduled")
        changes = trail.changes[cycle.index - 1]
        return changes[: len(changes) - own]
    moves = [move for happening in cycle.happenings for move in happening.moves]
    return [[playback.tables.pod_index[key], trail.place_of(node)] for key, node in moves]
