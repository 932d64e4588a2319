"""The order in which a cycle's nominated Workloads are processed, without and with fair sharing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler_core.cluster.kueue.nomination import Nomination
from scheduler_core.cluster.kueue.quota import Node, QuotaTree
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
    """Yields the nominated Workloads by fair shares; shares are those of the moment of each choice."""

    def __init__(
        self, tree: QuotaTree, nominated: Sequence[Nomination], *, by_priority: bool, spares_borrowers: bool
    ) -> None:
        self._tree, self._by_priority, self._spares = tree, by_priority, spares_borrowers
        self._left = {one.entry.cluster_queue: one for one in sorted(nominated, key=_by_queue)}

    def __iter__(self) -> Iterator[Nomination]:
        while self._left:
            node = self._tree.queues[next(iter(self._left))]
            winner = self._winner(node.root) if node.parent is not None else self._left[node.name]
            if winner is None:
                raise AssertionError("a queue with an entry takes part in the tournament of its root")
            del self._left[winner.entry.cluster_queue]
            yield winner

    def _winner(self, cohort: Node) -> Nomination | None:
        """Return the entry that a cohort nominates."""
        best: Nomination | None = None
        best_value: _Value | None = None
        for child in (*cohort.cohorts, *cohort.queues):
            one = self._left.get(child.name) if child.is_queue else self._winner(child)
            if one is None:
                continue
            value = self._value(one, child)
            if best_value is None or value < best_value:
                best, best_value = one, value
        return best

    def _value(self, one: Nomination, child: Node) -> _Value:
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
