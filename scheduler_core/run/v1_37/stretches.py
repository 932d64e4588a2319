"""Stretches of plain cycles of v1.37: each binds the head of the active queue, and does nothing else."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from scheduler_core.record.cycle import Decision
from scheduler_core.run.stretches import Stretch
from scheduler_core.schedulers.columns import placements
from scheduler_core.schedulers.columns.placements import holds_resources_only
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.v1_37.class_walks import ClassWalk, starts_after
from scheduler_core.schedulers.v1_37.clock import CYCLE
from scheduler_core.schedulers.v1_37.entities import Entity
from scheduler_core.schedulers.v1_37.entity_queue import Numbered, QueueEntry
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.repeats import calm_cycles, walk_of
from scheduler_core.schedulers.v1_37.run import SchedulerRun

AT_ONCE = 10_000  # cycles that are repeated the first time, between two looks at the bounds

Head = tuple[QueueEntry, Numbered]
"""The entry of the active queue's head, and the pod as it waits."""


def is_plain(decision: Decision) -> bool:
    """Return whether a decision does nothing but place its pod."""
    others = decision.victims or decision.cleared or decision.further or decision.nominated
    return decision.result == "scheduled" and decision.node is not None and not others


class BindingStretch(Stretch):
    """Cycles that bind the head of the active queue, among calm ones.

    ``may_try`` tells whether a pod has attempts left. The first ``kept`` cycles cannot be undone.
    """

    def __init__(
        self, run: SchedulerRun, cluster: Cluster, may_try: Callable[[str], bool], *, follows: bool
    ) -> None:
        """``follows``: nothing has happened since the last cycle."""
        cluster.count_pods()
        super().__init__(cluster)
        self._run = run
        self._may_try = may_try
        self.kept = (0 if follows else 1) if run.cluster.nodes.images_are_settled else sys.maxsize
        self._began = run.clock.now
        self._entries: list[QueueEntry] = []
        self._entities: list[Numbered] = []
        self._waiting: list[CompiledPod] = []  # their pods, before and after
        self._bound: list[CompiledPod] = []
        self._rows = array("q")  # of their nodes among v1.37's
        self._starts = array("q", [run.scheduling.start])  # of the walk of each cycle, and of the next one's

    @property
    def is_now(self) -> bool:
        """Whether no time has passed since its last cycle."""
        return self._run.clock.now == self._began + self.at * CYCLE

    def head(self) -> Head | None:
        """Return the head of the active queue as it waits, ``None`` if its cycle may do more than bind it."""
        found = next(self._run.queue.active.entries(), None)
        walk = None if found is None or calm_cycles(self._run) == 0 else self._walk_of(found)
        if found is None or walk is None or walk.end(self._run.scheduling.start) is None:
            return None
        entry, (number, entity) = found
        return entry, (number, copy(entity))

    def _walk_of(self, head: Head) -> ClassWalk | None:
        """Return the walks of a pod's class, ``None`` if its cycle may do more than bind it."""
        return _walk_of(self._run, self._cluster, self._may_try, head[1][1])

    def note(self, head: Head, decision: Decision) -> None:
        """Add a cycle that has just happened; ``head`` is what :meth:`head` returned before."""
        if self._is_next(decision):
            self._entities[self.at] = head[1]  # that in the queue has changed
        else:
            cluster = self._run.cluster
            bound = cluster.pods[decision.pod]
            row, start = cluster.nodes.rows[bound.node], self._run.scheduling.start
            self._append([decision], [head], [bound], [row], [start])
        self._placements.note()

    def _append(
        self,
        decisions: Sequence[Decision],
        heads: Sequence[Head],
        bound: Sequence[CompiledPod],
        rows: Sequence[int],
        starts: Sequence[int],
    ) -> None:
        """Add the next cycles; ``starts`` are those of the walks of the cycles after them."""
        index = self._cluster.columns.index
        self._entries += [entry for entry, _ in heads]
        self._entities += [entity for _, entity in heads]
        self._waiting += _pods(heads)
        self._bound += bound
        self._rows.extend(rows)
        self._starts.extend(starts)
        states = [self._cluster.pods[pod.key] for pod in bound]
        self._add(decisions, states, [index[pod.node] for pod in bound])

    def _cut(self) -> None:
        at = self.at
        for column in (self._entries, self._entities, self._waiting, self._bound, self._rows):
            del column[at:]
        del self._starts[at + 1 :]
        super()._cut()

    def _go_on(self, decisions: Sequence[Decision], first: int, last: int) -> int:
        """Bind the pods of the first decisions that are plain, each where it was decided."""
        begun, last = self.at, min(last, first + AT_ONCE)
        while self.at - begun < last - first:
            count = self._add_next(decisions, first + self.at - begun, last)
            if not count:
                break
            self._forward(count)
        return self.at - begun

    def _add_next(self, decisions: Sequence[Decision], first: int, last: int) -> int:
        """Add the next cycles that are plain, as many as are foreseen at once; return their number."""
        run, nodes = self._run, self._run.cluster.nodes
        heads: list[Head] = []
        walks: list[ClassWalk] = []
        alone = last - first < placements.FEW
        for number, head in zip(range(first, last), run.queue.active.entries()):
            decision = decisions[number]
            known = (
                head[0][2] == decision.pod
                and is_plain(decision)
                and nodes.row(str(decision.node)) is not None
            )
            walk = self._walk_of(head) if known else None
            if walk is None:
                break
            alone = alone or (nodes.shared is not None and walk.ctx.pod.demand is not None)
            if alone and heads:
                break
            heads.append(head)
            walks.append(walk)
        if not heads:
            return 0
        decided = decisions[first : first + len(heads)]
        waiting = _pods(heads)
        rows = [nodes.rows[str(decision.node)] for decision in decided]
        starts = starts_after(run.scheduling.start, walks, waiting, np.array(rows, np.intp))
        bound = [run.cluster.bound(pod, nodes.name(row)) for pod, row in zip(waiting, rows[: len(starts)])]
        self._append(decided[: len(starts)], heads[: len(starts)], bound, rows[: len(starts)], starts)
        return len(starts)

    def _forward(self, count: int) -> None:
        first, last, run = self.at, self.at + count, self._run
        bound = self._bound[first:last]
        run.cluster.move_all(bound, self._rows[first:last].tolist(), 1)
        run.queue.pop_all(self._entries[first:last])
        run.clock.pass_to(self._began + last * CYCLE)
        run.scheduling.start = self._starts[last]
        run.bound.update(zip([pod.key for pod in bound], [pod.node for pod in bound]))
        for name in {pod.scheduler_name for pod in bound}:
            run.batching.drop(name)
        if count < placements.FEW:
            for state, pod in zip(self._placements.pods[first:last], bound):
                self._cluster.assume(state, pod.node)
                self._placements.note()
        else:
            self._placements.move(last)
            self._placements.follow()  # at once: other threads read how many pods there are

    def back(self, count: int) -> None:
        """Undo the last cycles."""
        first, last, run = self.at - count, self.at, self._run
        waiting = self._waiting[first:last]
        run.cluster.move_all(waiting, self._rows[first:last].tolist(), -1)
        for pod in waiting:
            del run.bound[pod.key]
        run.queue.put_back(self._entries[first:last], self._entities[first:last])
        run.clock.now = self._began + first * CYCLE
        run.scheduling.start = self._starts[first]
        self._placements.move(first)


def bind_few(
    run: SchedulerRun, cluster: Cluster, decisions: Sequence[Decision], may_try: Callable[[str], bool]
) -> int:
    """Bind the pods of the first decisions that are plain, in so few calm cycles that none of them is kept.

    Return their number.
    """
    for number, decision in enumerate(decisions):
        head, node = run.queue.active.first(), str(decision.node)
        if head is None or head.key != decision.pod or not is_plain(decision):
            return number
        walk = _walk_of(run, cluster, may_try, head)
        start = None if walk is None else walk.end(run.scheduling.start)
        if start is None or run.cluster.nodes.row(node) is None:
            return number
        run.scheduling.start = start
        run.queue.pop()
        run.queue.done()
        for member in head.members:
            run.batching.drop(member.pod.scheduler_name)
            run.cluster.bind(member.pod, node)
        run.bound[head.key] = node
        run.clock.now += CYCLE
        cluster.assume(cluster.own(cluster.pods[head.key]), node)
    return len(decisions)


def _walk_of(
    run: SchedulerRun, cluster: Cluster, may_try: Callable[[str], bool], head: Entity
) -> ClassWalk | None:
    """Return the walks of the class of the queue's head, ``None`` if its cycle may do more than bind it."""
    state = cluster.pods.get(head.key)
    if state is None or state.nominated or not holds_resources_only(state.info) or not may_try(head.key):
        return None
    return walk_of(run, head)


def _pods(heads: Sequence[Head]) -> list[CompiledPod]:
    return [member.pod for _, (_, entity) in heads for member in entity.members]
