"""Stretches of plain cycles of v1.11."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.record.cycle import Decision
from scheduler_core.run.stretches import Stretch
from scheduler_core.schedulers.columns.placements import holds_resources_only
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.v1_11.queue import PriorityQueue, QueuePosition


def is_plain(pod: PodState, decision: Decision) -> bool:
    """Return whether a decision does nothing but place the pod, or leave it pending."""
    others = decision.victims or decision.cleared or decision.further or decision.nominated or pod.nominated
    return not others and holds_resources_only(pod.info)


class InstantStretch(Stretch):
    """Cycles that place the head of the queue, or leave it pending."""

    def __init__(self, cluster: Cluster, queue: PriorityQueue) -> None:
        super().__init__(cluster)
        self._queue = queue
        self._ranked = bytearray()  # of each: 1 if two or more nodes were feasible
        self._positions: list[QueuePosition] = []  # of the pods in the active queue

    @property
    def ranked(self) -> int:
        """The number of cycles that have happened in which the round-robin counter advanced."""
        return self._ranked.count(1, 0, self.at)

    def note(self, pod: PodState, decision: Decision) -> None:
        """Add a cycle that has just happened."""
        if not self._is_next(decision):
            self._ranked.append(decision.ranked)
            self._positions.append(self._queue.position_of(pod))
            self._add([decision], [pod], [pod.node])
        self._placements.note()

    def repeat(self, decisions: Sequence[Decision], first: int, last: int) -> int:
        """Repeat plain cycles while no unschedulable pod waits for another one to be placed."""
        if self._queue.seeks or not self._cluster.counts_pods:
            return 0
        return super().repeat(decisions, first, last)

    def _cut(self) -> None:
        del self._ranked[self.at :], self._positions[self.at :]
        super()._cut()

    def _go_on(self, decisions: Sequence[Decision], first: int, last: int) -> int:
        """Repeat the first ones of some decisions about the queue's next pods that are plain."""
        index = self._cluster.columns.index
        positions: list[QueuePosition] = []
        rows: list[int] = []
        decided = map(decisions.__getitem__, range(first, last))  # not sliced: a stretch may end soon
        for position, decision in zip(self._queue.next_positions(), decided):
            pod, node = position[2], decision.node
            row = -1 if node is None else index.get(node, -1)
            fits = not pod.info.terms.required if node is None else row >= 0
            if pod.key != decision.pod or not fits or not is_plain(pod, decision):
                break
            positions.append(position)
            rows.append(row)
        if rows:
            found = decisions[first : first + len(rows)]
            self._ranked.extend([decision.ranked for decision in found])
            self._positions += positions
            self._add(found, [pod for _, _, pod in positions], rows)
            self._forward(len(rows))
        return len(rows)

    def _forward(self, count: int) -> None:
        first, last = self.at, self.at + count
        self._queue.pop_all(count)
        self._placements.move(last)
        self._cluster.leave_behind(self._placements.follow)
        failed = self._placements.unplaced(first, last)
        self._queue.fail_all(failed, moved=self._decisions[last - 1].node is not None)

    def back(self, count: int) -> None:
        """Undo the last cycles."""
        first, last = self.at - count, self.at
        self._placements.move(first)
        self._queue.put_back(self._positions[first:last], self._placements.unplaced(first, last))
