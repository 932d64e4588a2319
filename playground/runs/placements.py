"""Where a recorded cluster placed pods and where a run did, as it is stored with the run."""

from __future__ import annotations

from typing import Any

from playground.models import Run
from playground.playback.trail import Trail
from scheduler_core.kubernetes.recorded_decisions import (
    NOT_PLACED,
    OTHER,
    SAME,
    PlacementPair,
    RecordedPlacement,
    agreement,
)
from scheduler_core.scenario.scenario import Scenario

KEY = "recorded"  # of the run's samples
PODS_SHOWN = 300  # those that differ first


def stored(scenario: Scenario, trail: Trail) -> dict[str, Any]:
    """Return ``{"counts": {verdict: pods}, "pods": [[pod, recorded, simulated, cycle]…]}`` of a recording.

    ``simulated`` and ``cycle`` are None of a pod that was not placed. Nothing where nothing is recorded.
    """
    known = scenario.recorded()
    if not known:
        return {}
    cycles: dict[str, int] = {}
    placements = []
    for index, decision in enumerate(trail.decisions, 1):
        for pod, node in decision.placements if decision.result == "scheduled" else ():
            step = trail.step(index)
            cycles[f"{pod} {step}"] = index
            placements.append(RecordedPlacement(pod, node, trail.time(index), step))
    found = agreement(known, placements)
    if found is None:
        return {}

    def row(pair: PlacementPair) -> list[Any]:
        ours = pair.placement
        at = None if ours is None else cycles[f"{ours.pod} {ours.step}"]
        return [pair.recorded.pod, pair.recorded.node, ours.node if ours else None, at]

    pairs = sorted(found.pairs, key=lambda pair: pair.verdict == SAME)
    counts = {verdict: found.count(verdict) for verdict in (SAME, OTHER, NOT_PLACED)}
    return {KEY: {"counts": counts, "pods": [row(pair) for pair in pairs[:PODS_SHOWN]]}}


def of(run: Run) -> dict[str, Any] | None:
    """Return what :func:`stored` stored; None of a run that is no recording's."""
    found: dict[str, Any] | None = run.samples.get(KEY)
    return found
