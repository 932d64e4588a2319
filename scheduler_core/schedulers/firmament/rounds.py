"""One Schedule call: the batch, the affinity batches, the queue, and the check of gangs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from scheduler_core.interrupts import look
from scheduler_core.kubernetes.model import Pod
from scheduler_core.schedulers.firmament.classes import Arcs, FlowTaskClass, State, arcs_of, classes_of
from scheduler_core.schedulers.firmament.costs import UNSCHEDULED_COST
from scheduler_core.schedulers.firmament.gangs import Gangs, JobMinimum
from scheduler_core.schedulers.firmament.residents import conflicts
from scheduler_core.schedulers.firmament.solver import CheapestArcs, cheapest, minimum
from scheduler_core.schedulers.firmament.tasks import Task, by_job, has_pod_affinity

PhaseKind = Literal["batch", "affinity", "queue"]


@dataclass
class MappedTask:
    """A task that a phase mapped to the machine in ``row``, as its ``index``-th further pod."""

    task: Task
    row: int
    index: int
    cost: int


@dataclass
class RoundPhase:
    """A flow problem: its classes with their arcs, the tasks mapped, and the jobs whose tasks are given back.

    The phases of the queue have one task each.
    """

    kind: PhaseKind
    arcs: list[Arcs]
    mapped: list[MappedTask] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)

    @property
    def tasks(self) -> Iterator[Task]:
        """The tasks that had to be placed."""
        return (task for one in self.arcs for task in one.of.tasks)

    @property
    def pending(self) -> int:
        """How many tasks the minimum leaves unscheduled."""
        return sum(1 for _ in self.tasks) - len(self.mapped)

    @property
    def placement_cost(self) -> int:
        """The sum of the costs of the arcs to machines."""
        return sum(one.cost for one in self.mapped)

    @property
    def total_cost(self) -> int:
        """The cost of the flow."""
        return self.placement_cost + UNSCHEDULED_COST * self.pending


@dataclass
class Round:
    """The phases of a round in order. ``mapped`` is by task, before gangs are dropped, ``placed`` after."""

    phases: list[RoundPhase]

    @property
    def mapped(self) -> dict[str, MappedTask]:
        """What the phases mapped, by the pod's key; a task of the queue counts once, with its last try."""
        return {one.task.key: one for phase in self.phases for one in phase.mapped}

    @property
    def placed(self) -> dict[str, MappedTask]:
        """What is bound."""
        return {
            one.task.key: one
            for phase in self.phases
            for one in phase.mapped
            if one.task.job not in phase.dropped
        }

    @property
    def last_tries(self) -> list[RoundPhase]:
        """The phases without the tries of the queue that a later one repeats."""
        last = {phase.arcs[0].of.first.key: phase for phase in self.phases if phase.kind == "queue"}
        return [one for one in self.phases if one.kind != "queue" or last[one.arcs[0].of.first.key] is one]


def run_round(pending: Sequence[Task], roots: Mapping[str, Pod], state: State, gangs: Gangs) -> Round:
    """Decide about pending tasks, in order of arrival; ``state`` changes with what is placed.

    ``roots`` are the first pods of the jobs, which stand for them where pods between which there is affinity
    are distinguished from others.
    """
    jobs = by_job(pending)
    apart = {job for job in jobs if has_pod_affinity(roots[job].affinity)}
    queued = {job for job in apart if conflicts(roots[job], roots[job])}
    phases = _flows("batch", [[task for task in pending if task.job not in apart]], state, gangs)
    groups = _groups(jobs, roots, [job for job in jobs if job in apart - queued])
    phases += _flows("affinity", groups, state, gangs)
    phases += _queue([task for task in pending if task.job in queued], state, gangs)
    return Round(phases)


def _flows(
    kind: PhaseKind, problems: Iterable[Sequence[Task]], state: State, gangs: Gangs
) -> list[RoundPhase]:
    """Solve one flow problem after the other, each without the tasks that an earlier one placed."""
    phases: list[RoundPhase] = []
    for tasks in problems:
        done = Round(phases).placed
        if left := [task for task in tasks if task.key not in done]:
            phases.append(_flow_phase(kind, left, state, gangs))
    return phases


def _groups(
    jobs: Mapping[str, Sequence[Task]], roots: Mapping[str, Pod], names: Iterable[str]
) -> list[list[Task]]:
    """Return the tasks of each group of jobs that do not conflict (UpdateBatchAffinityTasksMap).

    A job joins every group that it does not conflict with: what the first cannot place the next may.
    """
    groups: list[list[str]] = []
    for job in names:
        fitting = [
            group for group in groups if not any(_conflict(roots[job], roots[other]) for other in group)
        ]
        for group in fitting:
            group.append(job)
        if not fitting:
            groups.append([job])
    return [[task for job in group for task in jobs[job]] for group in groups]


def _conflict(one: Pod, other: Pod) -> bool:
    return conflicts(one, other) or conflicts(other, one)


def _flow_phase(kind: PhaseKind, tasks: Sequence[Task], state: State, gangs: Gangs) -> RoundPhase:
    phase = RoundPhase(kind, [arcs_of(one, state) for one in classes_of(tasks, state)])
    sizes = [len(one.of.tasks) for one in phase.arcs]
    for arcs, chosen in zip(phase.arcs, minimum(phase.arcs, sizes)):
        phase.mapped += _assigned(arcs.of, chosen)
    phase.dropped = _incomplete(phase.mapped, gangs)
    for one in phase.mapped:
        if one.task.job not in phase.dropped:
            state.place(one.task, one.row)
    return phase


def _assigned(of: FlowTaskClass, chosen: CheapestArcs) -> Iterator[MappedTask]:
    """Yield the tasks of a class with its arcs; the first task takes the cheapest."""
    for task, row, index, cost in zip(
        of.tasks, chosen.rows.tolist(), chosen.indices.tolist(), chosen.costs.tolist()
    ):
        yield MappedTask(task, row, index, cost)


def _incomplete(mapped: Collection[MappedTask], gangs: Gangs) -> set[str]:
    """Return the gangs of which fewer tasks than the minimum are mapped, over all rounds."""
    counts = Counter(one.task.job for one in mapped)
    none = JobMinimum(0)
    return {
        job for job, count in counts.items() if (gang := gangs.get(job, none)).placed + count < gang.minimum
    }


def _queue(tasks: Sequence[Task], state: State, gangs: Gangs) -> list[RoundPhase]:
    """Place tasks one at a time, each on its cheapest arc, until none that is left finds a place."""
    phases: list[RoundPhase] = []
    left = list(tasks)
    while left:
        tried = [_queue_phase(task, state) for task in left]
        phases += tried
        waiting = [task for task, phase in zip(left, tried) if not phase.mapped]
        if len(waiting) == len(left):
            break
        left = waiting
    dropped = _incomplete([one for phase in phases for one in phase.mapped], gangs)
    for phase in phases:
        phase.dropped = {one.task.job for one in phase.mapped} & dropped
    return phases


def _queue_phase(task: Task, state: State) -> RoundPhase:
    look()
    (one,) = classes_of([task], state)
    phase = RoundPhase("queue", [arcs_of(one, state)])
    chosen = cheapest(phase.arcs[0])
    phase.mapped = list(_assigned(one, chosen))
    for mapped in phase.mapped:
        state.place(task, mapped.row)
    return phase
