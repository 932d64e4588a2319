"""Stretches of plain cycles of v1.11: each places a pod, or finds no node, and changes nothing else.

A stretch is repeated, and undone, at once rather than cycle by cycle: a reader goes back and forth in a long
run without beginning again, and where it was before without looking at each pod again.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.record.cycle import Decision
from scheduler_core.schedulers.columns.placements import Placements, holds_resources_only
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.v1_11.queue import PriorityQueue, QueuePosition

MOST = 50_000  # cycles of a stretch, between two looks at the bounds


def is_plain(pod: PodState, decision: Decision) -> bool:
    """Return whether a decision does nothing but place the pod, or leave it pending."""
    others = decision.victims or decision.cleared or decision.further or decision.nominated or pod.nominated
    return not others and holds_resources_only(pod.info)


class Stretch:
    """Plain cycles of a run, one after the other, of which the first ``at`` have happened.

    Those beyond happened before the run went back.
    """

    def __init__(self, cluster: Cluster, queue: PriorityQueue) -> None:
        self._cluster = cluster
        self._queue = queue
        self._decisions: list[Decision] = []
        self._ranked = bytearray()  # of each: 1 if two or more nodes were feasible
        self._positions: list[QueuePosition] = []  # of the pods in the active queue
        self._placements = Placements(cluster)

    @property
    def at(self) -> int:
        """The number of cycles that have happened."""
        return self._placements.at

    @property
    def ranked(self) -> int:
        """The number of cycles that have happened in which the round-robin counter advanced."""
        return self._ranked.count(1, 0, self.at)

    def note(self, pod: PodState, decision: Decision) -> None:
        """Add a cycle that has just happened."""
        if self._decisions[self.at : self.at + 1] != [decision]:
            self._cut()
            self._decisions.append(decision)
            self._ranked.append(decision.ranked)
            self._positions.append(self._queue.position_of(pod))
            self._placements.extend([pod], [pod.node])
        self._placements.note()

    def repeat(self, decisions: Sequence[Decision], first: int, last: int) -> int:
        """Repeat the next cycles, decided from ``first`` to before ``last``, up to one that is not plain.

        Return their number, which may be smaller: the next call goes on from there.
        """
        if self._queue.seeks or not self._cluster.counts_pods:
            return 0
        known: Sequence[Decision] = self._decisions[self.at : self.at + last - first]
        if not known or known != decisions[first : first + len(known)]:
            self._cut()
            known = self._add_next(decisions, first, last)
        if known:
            self._forward(len(known))
        return len(known)

    def _cut(self) -> None:
        """Forget the cycles beyond."""
        del self._decisions[self.at :], self._ranked[self.at :], self._positions[self.at :]
        self._placements.cut()

    def _add_next(self, decisions: Sequence[Decision], first: int, last: int) -> Sequence[Decision]:
        """Add the first ones of some decisions about the queue's next pods if they are plain; return them."""
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
        found = decisions[first : first + len(rows)]
        self._decisions += found
        self._ranked.extend([decision.ranked for decision in found])
        self._positions += positions
        self._placements.extend([pod for _, _, pod in positions], rows)
        return found

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
