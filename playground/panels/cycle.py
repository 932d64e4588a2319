"""A cycle's light form, and the parts that are asked for one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.panels.cache import cache
from playground.panels.events import events
from playground.panels.ladder import ladder, stopped
from playground.panels.moments import moments
from playground.panels.outside import described
from playground.panels.podgroups import podgroups
from playground.panels.predicates import failed_nodes, predicates
from playground.panels.preemption import preemption
from playground.panels.priorities import priorities
from playground.panels.queue import queue
from playground.panels.story import story
from playground.playback.counts import counts_of
from scheduler_core.cycle import Cycle
from scheduler_core.policy import Profile
from scheduler_core.scenario import Operation
from scheduler_core.settings import DEFAULT_SETTINGS, Settings


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cycle stands in its source, in the indices of the wire."""

    pod: int
    priority: int
    node: int | None
    node_at: Sequence[int]  # position in the cycle -> index on the wire
    changes: list[list[int]]
    operations: Sequence[Operation]
    policy: int = 0  # how many operations have changed the configuration
    profile: Callable[[], Profile] | None = None  # what is in force, compiled when it is asked for
    settings: Settings = DEFAULT_SETTINGS  # those in force
    node_index: Mapping[str, int] = field(default_factory=dict)  # of every node there ever is
    pod_index: Mapping[str, int] = field(default_factory=dict)  # of every pod met so far
    nodes: list[list[Any]] = field(default_factory=list)  # NodeStates that the cycle changed
    waiting: list[list[Any]] = field(default_factory=list)  # at Permit after the cycle: pod, node, deadline
    tried_by: str = ""  # the schedulerName of the profile, where there is more than one
    in_turn: bool = True  # equally good nodes are taken in turn, as v1.11 does; else the first of them


def light(cycle: Cycle, place: Place) -> dict[str, Any]:
    """Return the protocol's ``Light``: what the stage and the story need, without matrices."""
    rungs = ladder(cycle)
    inside = [operation for operation in place.operations if operation.during]
    return {
        "index": cycle.index,
        "step": cycle.step,
        "time": cycle.time,
        "pod": place.pod,
        "result": cycle.result,
        "node": place.node,
        "message": cycle.message,
        "feasible": len(cycle.feasible),
        "changes": place.changes,
        "operations": described([operation for operation in place.operations if not operation.during]),
        "inside": described(inside),
        "policy": place.policy,
        "restart": cycle.restart and list(cycle.restart.changes),
        "quirks": [[quirk.id, list(quirk.changed), quirk.text] for quirk in cycle.quirks],
        "alwaysCheckAll": cycle.always_check_all,
        "ladder": [list(rung) for rung in rungs],
        "story": story(cycle, rungs, place.priority, inside=len(inside), in_turn=place.in_turn),
        "nominated": _nominated(cycle, place),
        "phases": list(cycle.phases),
        "events": events(cycle),
        "stopped": stopped(rungs),
        "queue": [cycle.queue.active_count, cycle.queue.unschedulable_count],
        "cache": counts_of(cycle.cache),
        "waiting": place.waiting,
        "nodes": place.nodes,
        **({"profile": place.tried_by} if place.tried_by else {}),
    }


def _nominated(cycle: Cycle, place: Place) -> list[Any] | None:
    """Return the node that preemption nominated the pod to, and the victims, which leave last of all."""
    decision = cycle.decision
    if decision.nominated is None:
        return None
    gone = place.changes[-len(decision.victims) :] if decision.victims else []
    return [place.node_at[cycle.nodes.index(decision.nominated)], [pod for pod, _ in gone]]


PARTS: dict[str, Callable[[Cycle, Place], Any]] = {
    "policy": lambda cycle, place: place.profile().summary() if place.profile is not None else {},
    "predicates": lambda cycle, place: predicates(
        cycle, place.node_at, cycle.always_check_all, len(place.node_index)
    ),
    "priorities": lambda cycle, place: priorities(cycle, place.node_at, in_turn=place.in_turn),
    "preemption": lambda cycle, place: preemption(cycle, place.node_at),
    "queue": lambda cycle, place: queue(cycle),
    "cache": lambda cycle, place: cache(cycle, place.node_index, place.settings),
    "podgroups": lambda cycle, place: podgroups(cycle),
    "nodes": lambda cycle, place: {"message": failed_nodes(cycle)},
    "moments": moments,
}
