"""Make the record of a round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.firmament.classes import Arcs, ClassKey
from scheduler_core.schedulers.firmament.costs import UNSCHEDULED_COST
from scheduler_core.schedulers.firmament.machines import Machines
from scheduler_core.schedulers.firmament.record import (
    ArcRecord,
    ClassRecord,
    PathRecord,
    PhaseRecord,
    RoundRecord,
)
from scheduler_core.schedulers.firmament.rounds import MappedTask, Round, RoundPhase
from scheduler_core.schedulers.firmament.tasks import SCALES, job_name

MOST_MACHINES = 50  # that have arcs of their own; of more, those with one capacity are one
MOST_PATHS = 5_000
MOST_PHASES = 200  # of the queue there may be thousands
LOOKED_AT = 16  # indices among which the next best arc is looked for
GIB = 2**30

TOO_FEW = "its gang has fewer places than its minimum"
OUTBID = "every arc that it has carries another pod: the minimum leaves it to the aggregator, silently"
NO_ARC = "no machine has an arc for it: "


def why_pending(arcs: Arcs, *, dropped: bool) -> str:
    """Return why a task of a class is not placed."""
    if dropped:
        return TOO_FEW
    if arcs.total:
        return OUTBID
    counts = [f"{count:,} refused by {why}" for why, count in arcs.refused.items()]
    return NO_ARC + (", ".join(counts) or "there is no machine")


def class_name(key: ClassKey, first: str) -> str:
    """Return what a class is called: its job by its first pod, or what its pods have in common."""
    return f"job of {first}" if key[0] == "job" else f"pods with the {key[0]} of {first}"


def record_round(number: int, time: float, done: Round, left_alone: Mapping[str, str]) -> RoundRecord:
    """Return the record of a round."""
    phases = done.last_tries
    paths = dict(_paths(phases, MOST_PATHS))
    tasks = sum(len(one.of.tasks) for phase in phases for one in phase.arcs)
    return RoundRecord(
        number,
        time,
        tuple(map(_phase, phases[:MOST_PHASES])),
        paths,
        tasks - len(paths),
        left_alone,
    )


def _phase(phase: RoundPhase) -> PhaseRecord:
    by_class: dict[int, list[MappedTask]] = {id(one): [] for one in phase.arcs}
    owners = {task.key: id(one) for one in phase.arcs for task in one.of.tasks}
    for mapped in phase.mapped:
        by_class[owners[mapped.task.key]].append(mapped)
    classes = tuple(_class(one, by_class[id(one)]) for one in phase.arcs)
    dropped = {job_name(task.pod): None for task in phase.tasks if task.job in phase.dropped}
    return PhaseRecord(phase.kind, classes, phase.placement_cost, phase.pending, tuple(dropped))


def _class(arcs: Arcs, mapped: Sequence[MappedTask]) -> ClassRecord:
    first, tasks = arcs.of.first, len(arcs.of.tasks)
    cpu, memory, ephemeral = (amount // scale for amount, scale in zip(first.request, SCALES))
    return ClassRecord(
        class_name(arcs.of.key, first.key),
        first.key,
        (cpu, memory, ephemeral),
        tasks,
        tasks - len(mapped),
        tuple(_arcs(arcs, mapped)),
        arcs.refused,
    )


def _arcs(arcs: Arcs, mapped: Sequence[MappedTask]) -> Iterator[ArcRecord]:
    """Yield the arcs by machine, or by the machines' capacity if there are many."""
    rows = np.flatnonzero(arcs.counts)
    cheapest = arcs.costs(rows, np.arange(1))[:, 0]
    flow, paid = Counter[int](), Counter[int]()
    for one in mapped:
        flow[one.row] += 1
        paid[one.row] += one.cost
    groups: dict[str, list[int]] = {}
    for place, row in enumerate(rows.tolist()):
        groups.setdefault(_named(arcs.machines, row, len(rows)), []).append(place)
    for name, places in groups.items():
        own = rows[places].tolist()
        yield ArcRecord(
            name,
            len(own),
            sum(flow[row] for row in own),
            int(arcs.counts[own].sum()),
            int(cheapest[places].min()),
            sum(paid[row] for row in own),
        )


def _named(machines: Machines, row: int, count: int) -> str:
    if count <= MOST_MACHINES:
        return machines.nodes[row].meta.name
    cpu, memory, _ = (amount // scale for amount, scale in zip(machines.capacity[:, row].tolist(), SCALES))
    return f"{cpu / 1000:g} CPU, {memory / GIB:.4g} GiB"


def _paths(phases: Sequence[RoundPhase], most: int) -> Iterator[tuple[str, PathRecord]]:
    for number, phase in enumerate(phases):
        mapped = {one.task.key: one for one in phase.mapped}
        used = {(one.row, one.index) for one in phase.mapped}
        for arcs in phase.arcs:
            node, cost = _next_best(arcs, used)
            name = class_name(arcs.of.key, arcs.of.first.key)
            for task in arcs.of.tasks:
                if most <= 0:
                    return
                most -= 1
                one, dropped = mapped.get(task.key), task.job in phase.dropped
                why = why_pending(arcs, dropped=dropped) if one is None or dropped else ""
                if one is None:
                    yield task.key, PathRecord(number, name, "", 0, UNSCHEDULED_COST, node, cost, why)
                else:
                    at = arcs.machines.nodes[one.row].meta.name
                    yield task.key, PathRecord(number, name, at, one.index, one.cost, node, cost, why)


def _next_best(arcs: Arcs, used: set[tuple[int, int]]) -> tuple[str, int]:
    """Return the machine and the cost of the cheapest arc of a class that carries nothing."""
    rows: IntVector = np.flatnonzero(arcs.counts)
    costs = arcs.costs(rows, np.arange(LOOKED_AT))
    free = np.arange(LOOKED_AT) < arcs.counts[rows, None]
    places = {row: place for place, row in enumerate(rows.tolist())}
    for row, index in used:
        if row in places and index < LOOKED_AT:
            free[places[row], index] = False
    if not free.any():
        return "", 0
    best = int(np.where(free, costs, np.iinfo(np.int64).max).argmin())
    return arcs.machines.nodes[int(rows[best // LOOKED_AT])].meta.name, int(costs.ravel()[best])
