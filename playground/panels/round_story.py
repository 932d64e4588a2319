"""Sentences of a step's story about the round of Firmament that it is."""

from __future__ import annotations

from collections.abc import Iterator

from playground.panels.sentences import Sentence, counted, joined
from scheduler_core.record.cycle import Cycle
from scheduler_core.schedulers.firmament.costs import UNSCHEDULED_COST
from scheduler_core.schedulers.firmament.record import ClassRecord, PhaseRecord, RoundRecord

MOST = 3  # flow problems, and classes of each, that are described
KINDS = {
    "batch": "All jobs without affinity between pods are one flow problem",
    "affinity": "Jobs with affinity between pods that do not conflict are one flow problem",
    "queue": "A pod of the queue takes its cheapest arc",
}


def decided(cycle: Cycle) -> list[Sentence]:
    """Describe a round: its flow problems, their costs and classes, gangs, and the first pod's path."""
    record = cycle.session
    if not isinstance(record, RoundRecord):
        return []
    sentences: list[Sentence] = [[f"It is round {record.number:,} of Firmament."]]
    for phase in record.phases[:MOST]:
        sentences += _phase(phase)
    if len(record.phases) > MOST:
        sentences.append([f"{counted(len(record.phases) - MOST, 'more flow problem')} follow."])
    sentences += [[{"pod": pod}, f": {why}."] for pod, why in list(record.left_alone.items())[:MOST]]
    if record.omitted_paths:
        sentences.append([f"The record has no paths of {record.omitted_paths:,} more pods."])
    return [*sentences, *_path(cycle.pod, record)]


def _phase(phase: PhaseRecord) -> Iterator[Sentence]:
    placed, count = sum(one.tasks - one.unscheduled for one in phase.classes), len(phase.classes)
    classes = "one task class" if count == 1 else f"{count:,} task classes"
    yield [f"{KINDS[phase.kind]}: {counted(placed, 'pod')} of {classes} placed at a cost of {phase.cost:,}."]
    if phase.unscheduled:
        cost = f"to leave a pod pending costs {UNSCHEDULED_COST:,}"
        yield [f"The aggregator takes {phase.unscheduled:,}: {cost}."]
    yield from map(_class, phase.classes[:MOST])
    if phase.dropped:
        jobs: list[Sentence] = [[{"strong": job}] for job in phase.dropped]
        yield ["Fewer pods than the gang needs: ", *joined(jobs), "."]


def _class(one: ClassRecord) -> Sentence:
    arcs = sum(arc.capacity for arc in one.arcs)
    machines = sum(arc.machines for arc in one.arcs)
    text = f" has {counted(arcs, 'arc')} to {counted(machines, 'machine')}"
    refused = ", ".join(f"{count:,} by {why}" for why, count in one.refused.items())
    return [{"strong": one.name}, text + (f"; machines refused: {refused}." if refused else ".")]


def _path(pod: str, record: RoundRecord) -> Iterator[Sentence]:
    path = record.paths.get(pod)
    if path is None or not path.node:
        return
    yield [{"pod": pod}, f" takes index {path.index} of ", {"node": path.node}, f", at {path.cost:,}."]
    if path.next:
        yield ["Its best free arc leads to ", {"node": path.next}, f", at {path.next_cost:,}."]
