"""The flow network of a round of Firmament: its classes, arcs and costs, and the paths of its pods."""

from __future__ import annotations

from typing import Any

from playground.protocol.network import NetworkClassWire
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.schedulers.firmament.costs import UNSCHEDULED_COST
from scheduler_core.schedulers.firmament.record import ClassRecord, PhaseRecord, RoundRecord

PHASES = 20
CLASSES = 20  # of a flow problem
ARCS = 50  # of a class
PATHS = 200
LEFT_ALONE = 50

NO_ROUND = "This step is not a round of Firmament, which places all its pending pods in one step."
OVER = "No round runs here: the run is over."


def resting(_rest: FinalState) -> dict[str, Any]:
    """Return the part of the end of a run."""
    return {"why": OVER}


def network(cycle: Cycle) -> dict[str, Any]:
    """Return the protocol's ``network`` part of a cycle; ``{"why": text}`` if it is no round."""
    record = cycle.session
    if not isinstance(record, RoundRecord):
        return {"why": NO_ROUND}
    paths = list(record.paths.items())
    left = list(record.left_alone.items())
    return {
        "number": record.number,
        "time": record.time,
        "unscheduledCost": UNSCHEDULED_COST,
        "phases": [_phase(one) for one in record.phases[:PHASES]],
        "phaseCount": len(record.phases),
        "paths": [
            [pod, one.phase, one.of, one.node, one.index, one.cost, one.next, one.next_cost, one.why]
            for pod, one in paths[:PATHS]
        ],
        "pathCount": len(paths) + record.omitted_paths,
        "leftAlone": [list(one) for one in left[:LEFT_ALONE]],
        "leftAloneCount": len(left),
    }


def _phase(one: PhaseRecord) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "cost": one.cost,
        "unscheduled": one.unscheduled,
        "dropped": list(one.dropped),
        "classes": [_class(each) for each in one.classes[:CLASSES]],
        "classCount": len(one.classes),
    }


def _class(one: ClassRecord) -> NetworkClassWire:
    return {
        "name": one.name,
        "first": one.first,
        "request": list(one.request),
        "tasks": one.tasks,
        "unscheduled": one.unscheduled,
        "refused": dict(one.refused),
        "arcs": [
            [arc.to, arc.machines, arc.flow, arc.capacity, arc.cost, arc.paid]
            for arc in sorted(one.arcs, key=lambda arc: -arc.flow)[:ARCS]
        ],
        "arcCount": len(one.arcs),
    }
