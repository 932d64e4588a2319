"""The order in which a cycle's nominated Workloads are processed, without and with fair sharing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler_core.cluster.kueue.nomination import Nomination
from scheduler_core.cluster.kueue.quota import QuotaNode, QuotaTree
from scheduler_core.cluster.kueue.shares import Share, share_of


def classical_order(nominated: Sequence[Nomination], *, by_priority: bool) -> list[Nomination]:
    """Sort by reservation, height of borrowing, priority and time, stably."""

    def rank(one: Nomination) -> tuple[bool, int, int, float]:
        workload = one.entry.workload
        return (
            not workload.is_reserving,
            one.assignment.borrowing,
            -workload.rank if by_priority else 0,
            workload.queued_since,
        )

    return sorted(nominated, key=rank)


_Value = tuple[bool, Share, int, float]


class Tournament:
    """Yields the nominated Workloads by fair shares; shares are those of the moment of each choice.

    What a choice does changes the nodes on the path to its queue: what was found elsewhere is kept.
    """

    def __init__(
        self, tree: QuotaTree, nominated: Sequence[Nomination], *, by_priority: bool, spares_borrowers: bool
    ) -> None:
        self._tree, self._by_priority, self._spares = tree, by_priority, spares_borrowers
        self._left = {one.entry.cluster_queue: one for one in sorted(nominated, key=_by_queue)}
        self._winners: dict[int, Nomination | None] = {}  # by cohort
        self._values: dict[int, tuple[str, _Value]] = {}  # by child of a cohort: its entry's, and whose

    def __iter__(self) -> Iterator[Nomination]:
        while self._left:
            node = self._tree.queues[next(iter(self._left))]
            winner = self._winner(node.root) if node.parent is not None else self._left[node.name]
            if winner is None:
                raise AssertionError("a queue with an entry takes part in the tournament of its root")
            del self._left[winner.entry.cluster_queue]
            yield winner
            self._forget(self._tree.queues[winner.entry.cluster_queue])

    def _forget(self, queue: QuotaNode) -> None:
        for node in (queue, *queue.above):
            self._winners.pop(id(node), None)
            self._values.pop(id(node), None)

    def _winner(self, cohort: QuotaNode) -> Nomination | None:
        """Return the entry that a cohort nominates."""
        if id(cohort) not in self._winners:
            self._winners[id(cohort)] = self._best(cohort)
        return self._winners[id(cohort)]

    def _best(self, cohort: QuotaNode) -> Nomination | None:
        best: Nomination | None = None
        best_value: _Value | None = None
        for child in (*cohort.cohorts, *cohort.queues):
            one = self._left.get(child.name) if child.is_queue else self._winner(child)
            if one is None:
                continue
            known = self._values.get(id(child))
            if known is None or known[0] != one.entry.key:
                known = self._values[id(child)] = one.entry.key, self._value(one, child)
            if best_value is None or known[1] < best_value:
                best, best_value = one, known[1]
        return best

    def _value(self, one: Nomination, child: QuotaNode) -> _Value:
        """Return what an entry has to offer at the child of a cohort that it comes from."""
        tree = self._tree
        workload = one.entry.workload
        mark = tree.mark()
        borrows = self._spares and any(
            amount > 0 and child.borrows(pair, amount) for pair, amount in one.assignment.usage.items()
        )
        tree.add(tree.queues[one.entry.cluster_queue], one.assignment.usage)
        share = share_of(child)
        tree.revert(mark)
        return borrows, share, -workload.rank if self._by_priority else 0, workload.queued_since


def _by_queue(one: Nomination) -> str:
    return one.entry.cluster_queue
