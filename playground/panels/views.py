"""The views of several schedulers: a lane for each, and what became of decisions on an old view."""

from __future__ import annotations

from typing import Any

from playground.protocol.settings import SchedulersWire
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.record.several import ViewRecord
from scheduler_core.settings.settings import Settings

NODES = 8  # of a lane
PODS = 5  # of each kind on a node, and of what is in flight
OUTCOMES = 30
WINDOWS = 50

ONE_VIEW = "All schedulers see what the API server has, or the decision is still to come at this moment."
OVER = "No scheduler decides here: the run is over."


def several(settings: Settings) -> SchedulersWire:
    """Return the protocol's ``Schedulers``: the list of the settings, and what stands between them."""
    return {
        "design": settings.design,
        "views": settings.have_views,
        "listed": [
            {
                "name": one.name,
                "runs": one.runs,
                "watchDelay": one.watch_delay,
                "decisionTime": one.decision_time,
                "bindDelay": one.bind_delay,
                "replicas": one.replicas,
                "nodes": dict(one.nodes),
            }
            for one in settings.schedulers
        ],
    }


def resting(_rest: FinalState) -> dict[str, Any]:
    """Return the part of the end of a run."""
    return {"why": OVER}


def views(cycle: Cycle) -> dict[str, Any]:
    """Return the protocol's ``views`` part of a cycle; ``{"why": text}`` if there is one view for all."""
    record = cycle.view
    if not isinstance(record, ViewRecord):
        return {"why": ONE_VIEW}
    return {
        "scheduler": record.scheduler,
        "asOf": record.as_of,
        "began": record.began,
        "decided": record.decided,
        "lands": record.lands,
        "placements": [list(one) for one in cycle.decision.placements[:PODS]],
        "placementsCount": len(cycle.decision.placements),
        "lanes": [
            {
                "scheduler": lane.scheduler,
                "asOf": lane.as_of,
                "deciding": lane.deciding,
                "pod": lane.pod,
                "until": lane.until,
                "pending": lane.pending,
                "watchDelay": lane.watch_delay,
                "runs": lane.runs,
                "unheard": lane.unheard,
                "inFlight": plain(lane.in_flight[:PODS]),
                "inFlightCount": lane.in_flight_count,
                "nodes": [
                    {
                        "node": node.node,
                        "unseen": list(node.unseen[:PODS]),
                        "gone": list(node.gone[:PODS]),
                        "assumed": list(node.assumed[:PODS]),
                        "believed": dict(node.believed_free),
                        "true": dict(node.truly_free),
                    }
                    for node in lane.nodes[:NODES]
                ],
                "nodesCount": lane.nodes_count,
            }
            for lane in record.lanes
        ],
        "outcomes": [
            {
                "scheduler": one.scheduler,
                "pod": one.pod,
                "node": one.node,
                "decided": one.decided,
                "known": one.known,
                "noticed": one.noticed,
                "unseen": list(one.unseen[:PODS]),
                "message": one.message,
                "reason": one.reason,
            }
            for one in record.outcomes[:OUTCOMES]
        ],
        "outcomesCount": len(record.outcomes),
        "windows": [
            {
                "node": one.node,
                "promised": [[promise.pod, promise.scheduler] for promise in one.promised[:PODS]],
                "unaware": list(one.unaware),
                "free": dict(one.free),
            }
            for one in record.windows[:WINDOWS]
        ],
        "windowsCount": record.windows_count,
    }
