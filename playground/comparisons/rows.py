"""The parts of a comparison that its page steps through and lists: paired cycles, differences, workloads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from playground.playback.playback import Playback
from scheduler_core.compare.alignment import aligned, differences
from scheduler_core.compare.by_workload import Ends, by_workload, counted, workload_of
from scheduler_core.record.cycle import Decision
from scheduler_core.run import Stepper

RUNS_SHOWN = 5_000  # of pairs of consecutive cycles
DIFFERENCES_SHOWN = 2_000
WORKLOADS_SHOWN = 300


def paired(left: Sequence[Decision], right: Sequence[Decision]) -> dict[str, Any]:
    """Return how cycles are paired, and the pairs with different outcomes.

    ``alignment`` is ``None`` if the runs have so little in common that more than :data:`RUNS_SHOWN` rows were
    needed; cycles of the same number are compared then.
    """
    runs = aligned(left, right)
    found = list(islice(differences(left, right, runs), DIFFERENCES_SHOWN + 1))
    return {
        "alignment": [[run.left, run.right, run.count] for run in runs] if len(runs) <= RUNS_SHOWN else None,
        "differences": [_difference(left, right, *pair) for pair in found[:DIFFERENCES_SHOWN]],
        "moreDifferences": len(found) > DIFFERENCES_SHOWN,
    }


def _difference(left: Sequence[Decision], right: Sequence[Decision], one: int, two: int) -> list[Any]:
    sides = left[one - 1] if one else None, right[two - 1] if two else None
    pod = next(filter(None, sides)).pod
    return [one, two, pod, *(_outcome(side) for side in sides)]


def _outcome(decision: Decision | None) -> str:
    """Return a decision in a few words, "" where the run has no such cycle."""
    if decision is None:
        return ""
    if decision.node is not None:
        more = len(decision.further)
        return f"{decision.node} and {more:,} more" if more else decision.node
    if decision.nominated is not None:
        return f"preempts on {decision.nominated}"
    return decision.result


def workloads(left: Ends, right: Ends) -> dict[str, Any]:
    """Return the table by workload; at most the first :data:`WORKLOADS_SHOWN`, those that differ first."""
    rows = counted(by_workload(left, right))
    return {"workloads": rows[:WORKLOADS_SHOWN], "workloadCount": len(rows)}


def ends_of_run(run: Stepper) -> Ends:
    """Return the pods at the end of a run."""
    return {key: (workload_of(state.pod.meta), state.node_name) for key, state in run.cluster.pods.items()}


def ends_of_playback(playback: Playback) -> Ends:
    """Return the pods at the end of stored decisions, without those that are gone."""
    tables, places = playback.tables, playback.trail.placement.tolist()
    return {
        pod.meta.key: (workload_of(pod.meta), tables.nodes[place].meta.name if place >= 0 else "")
        for pod, place in zip(tables.pods, places)
        if place >= -1
    }
