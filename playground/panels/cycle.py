"""A cycle's light form, and the parts that are requested separately."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from playground.panels.cache import cache
from playground.panels.events import events
from playground.panels.hints import hints
from playground.panels.ladder import ladder, stopped
from playground.panels.moments import moments
from playground.panels.outside import described
from playground.panels.plugins import PLUGIN_PANELS, PluginPanel
from playground.panels.predicates import failed_nodes, predicates
from playground.panels.preemption import preemption
from playground.panels.priorities import priorities
from playground.panels.queue import queue
from playground.panels.story import story
from playground.playback.counts import counts_of
from playground.playback.place import CycleIndices
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.moment_record import UNTRIED, upto
from scheduler_core.run.v1_37.record import release_record


def light(cycle: Cycle, place: CycleIndices) -> dict[str, Any]:
    """Return the protocol's ``Light``: what the stage and the story need, without matrices."""
    rungs = ladder(cycle)
    record = release_record(cycle)
    over = cycle.result != "undecided"
    inside = [operation for operation in place.operations if operation.during and over]
    return {
        "index": cycle.index,
        "step": cycle.step,
        "time": cycle.time,
        "pod": place.pod,
        "result": cycle.result,
        "node": place.node if cycle.node else None,
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
        **({} if record is None else {"release": record.release}),
        "queue": [cycle.queue.active_count, cycle.queue.unschedulable_count],
        "cache": counts_of(cycle.cache),
        "waiting": place.waiting,
        "nodes": place.nodes,
        **({"terminating": place.terminating} if place.terminating else {}),
        **({"profile": place.tried_by} if place.tried_by else {}),
    }


def _policy(cycle: Cycle, place: CycleIndices) -> dict[str, Any]:
    return place.profile().summary() if place.profile is not None else {}


def _nominated(cycle: Cycle, place: CycleIndices) -> list[Any] | None:
    """Return the node that preemption nominated the pod to, and the victims, the last of the changes."""
    decision = cycle.decision
    if decision.nominated is None:
        return None
    gone = place.changes[-len(decision.victims) :] if decision.victims else []
    return [place.node_at[cycle.nodes.index(decision.nominated)], [pod for pod, _ in gone]]


def _plugin_part(panel: PluginPanel) -> Callable[[Cycle, CycleIndices], Any]:
    return lambda cycle, place: panel.part(cycle)


INSPECT: dict[str, Callable[[Cycle, CycleIndices], Any]] = {
    "predicates": lambda cycle, place: predicates(
        cycle, place.node_at, cycle.always_check_all, len(place.node_index)
    ),
    "priorities": lambda cycle, place: priorities(cycle, place.node_at, in_turn=place.in_turn),
    "preemption": lambda cycle, place: preemption(cycle, place.node_at),
    "queue": lambda cycle, place: queue(cycle),
    "hints": lambda cycle, place: hints(cycle),
    "cache": lambda cycle, place: cache(cycle, place.node_index, place.settings),
    **{panel.name: _plugin_part(panel) for panel in PLUGIN_PANELS},
}
"""The parts that the tabs of Inspect show. A tab with a part of its own is a row here."""

PARTS: dict[str, Callable[[Cycle, CycleIndices], Any]] = {
    "policy": _policy,
    **INSPECT,
    "nodes": lambda cycle, place: {"message": failed_nodes(cycle)},
    "moments": moments,
}
INPUTS: dict[str, tuple[str, ...]] = {
    "predicates": ("matrix", "cache"),
    "priorities": ("decision", "totals", "priorities", "ties"),
    "preemption": ("decision", "preemption"),
    "queue": ("decision", "phases"),
    "hints": ("plugins",),
    "cache": ("cache", "matrix"),
    **{panel.name: panel.inputs for panel in PLUGIN_PANELS},
}
"""For each part that differs inside an attempt, the fields of the record that it is computed from."""


def cuts(cycle: Cycle, place: CycleIndices) -> list[dict[str, Any]]:
    """Return the protocol's ``cuts``: the moments inside a cycle, latest phase first; "" is the start.

    Each holds the differences from the one before it, the first from the whole cycle: the fields of ``light``
    and of ``parts`` that differ, and in ``instead`` the parts that have another form. For nested parts
    (:data:`NESTED`) the inner fields that differ are listed separately, as ``part.field``.
    """
    later = {"light": light(cycle, place)}
    previous, found = cycle, []
    for phase in reversed((UNTRIED, *cycle.phases)):
        record = upto(cycle, phase)
        now = {**later, "light": light(record, place)}
        parts: dict[str, Any] = {}
        instead: dict[str, Any] = {}
        for name, fields in INPUTS.items():
            if all(getattr(record, one) is getattr(previous, one) for one in fields):
                continue
            known = later[name] if name in later else PARTS[name](previous, place)
            now[name] = PARTS[name](record, place)
            if now[name].keys() == known.keys():
                parts |= _parts(name, now[name], known)
            else:
                instead[name] = now[name]
        fields_of_light = _differing(now["light"], later["light"], NOT_CUT)
        found.append({"phase": phase, "light": fields_of_light, "parts": parts, "instead": instead})
        previous, later = record, now
    return found


NOT_CUT = ("waiting", "changes", "nodes")
"""Fields of a light cycle that apply to the whole step: a moment's state follows from its moves."""
NESTED = {panel.name: panel.nested for panel in PLUGIN_PANELS}


def _parts(name: str, part: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    inner = NESTED.get(name)
    found = {name: _differing(part, whole)}
    if inner is not None and part.get(inner) and whole.get(inner):
        found = {
            name: _differing(part, whole, (inner,)),
            f"{name}.{inner}": _differing(part[inner], whole[inner]),
        }
    return {name: differing for name, differing in found.items() if differing}


def _differing(part: dict[str, Any], whole: dict[str, Any], without: Sequence[str] = ()) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name not in without and value != whole.get(name)}


PARTS["cuts"] = cuts
