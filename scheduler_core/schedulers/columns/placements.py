"""Many pods placed, or taken back, at once, for pods that hold nothing on their node but resources.

NumPy sums what they count for. Pods and ``residents`` follow, or are left behind until they are read, so that
a run goes far back and forth without touching each pod.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.pairs import counted
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import NO_PRIORITY, Cluster

TOUCHED_TIMES, TOUCHED_LEAST = 16, 10_000  # changes kept, by the number of nodes; then all are forgotten
FEW = 16  # pods that are placed sooner one by one


def holds_resources_only(info: PodInfo) -> bool:
    """Return whether pods of a class have no ports and volumes on their node."""
    return not (info.ports or info.volumes or info.claims)


class Placements:
    """Pods in the order of their attempts, of which the first ``at`` were made: they count on their nodes.

    While it is in use nobody else places or removes pods, but those that :meth:`note` is given. A pod is as
    it was while it was pending until :meth:`follow`.
    """

    def __init__(self, cluster: Cluster) -> None:
        cluster.catch_up()
        self.at = 0
        self.pods: list[PodState] = []
        self._cluster = cluster
        self._names = cluster.columns.names  # nodes that come later have no pods that were placed here
        self._rows = array("i")  # of each pod; -1: no node was found
        self._classes = array("i")
        self._priorities = array("q")
        self._one_of: dict[int, PodState] = {}  # by class
        # By row: each pod on it among so many first ones, and no other, is as it is while it is placed.
        self._seen = np.zeros(len(self._names), np.int64)

    def extend(self, pods: Sequence[PodState], rows: Sequence[int]) -> None:
        """Add pods with the rows of their nodes, -1 for none, to be placed by :meth:`move`."""
        classes = [pod.info.number for pod in pods]
        self.pods += pods
        self._rows.extend(rows)
        self._classes.extend(classes)
        self._priorities.extend([pod.priority for pod in pods])
        self._one_of.update(zip(classes, pods))

    def cut(self) -> None:
        """Drop the pods whose attempts were not made yet."""
        del self.pods[self.at :], self._rows[self.at :]
        del self._classes[self.at :], self._priorities[self.at :]

    def note(self) -> None:
        """Pass over the next pod, whose attempt was just made by itself."""
        row = self._rows[self.at]
        self.at += 1
        if row >= 0:
            self._seen[row] = self.at

    def unplaced(self, first: int, last: int) -> list[PodState]:
        """Return the pods from one place to before another for which no node was found."""
        places = first + np.flatnonzero(self._column(self._rows, first, last) < 0)
        return [self.pods[place] for place in places.tolist()]

    def move(self, to: int) -> None:
        """Place the next pods, or take the last ones back, so that ``to`` attempts are made."""
        first, last = sorted((self.at, to))
        if first == last:
            return
        rows, priorities = self._column(self._rows, first, last), self._column(self._priorities, first, last)
        placed = rows >= 0
        self._count(rows[placed], self._column(self._classes, first, last)[placed], 1 if to > first else -1)
        self.at = to
        if to > first:
            np.minimum.at(self._cluster.lowest_priority, rows[placed], priorities[placed])
        else:
            self._take_back(last)
            self._find_lowest(np.unique(rows[placed]))

    @staticmethod
    def _column(values: array[int], first: int, last: int) -> IntVector:
        return np.array(values[first:last], np.int64)

    # Sums

    def _count(self, rows: IntVector, classes: IntVector, sign: int) -> None:
        """Count pods of these classes on these nodes, ``(pods,) int64`` both."""
        for number, there, counts in counted(classes, rows, len(self._seen)):
            _count_class(self._cluster, self._one_of[number], there, sign * counts)
        _touch(self._cluster, rows)

    def _find_lowest(self, rows: IntVector) -> None:
        """Set the lowest priority of pods on each of some nodes from which pods were taken."""
        lowest, residents = self._cluster.lowest_priority, self._cluster.seen_residents
        unseen = self._unseen()
        found = np.full(len(lowest), NO_PRIORITY, np.int64)
        np.minimum.at(
            found,
            self._column(self._rows, 0, self.at)[unseen],
            self._column(self._priorities, 0, self.at)[unseen],
        )
        for row in rows[found[rows] != lowest[rows]].tolist():
            known, there = int(lowest[row]), residents[row].values()
            if not any(pod.priority == known for pod in there):
                lowest[row] = min(int(found[row]), *(pod.priority for pod in there), NO_PRIORITY)

    # Pods and residents

    def _unseen(self) -> IntVector:
        """Return the places of pods that were placed and are as they were while they were pending."""
        first = int(self._seen.min(initial=self.at))
        rows = self._column(self._rows, first, self.at)
        seen = np.append(self._seen, self.at)  # the last one is for row -1
        return first + np.flatnonzero(np.arange(first, self.at) >= seen[rows])

    def follow(self, row: int | None = None) -> None:
        """Bring the pods on a node up to date, ``None``: on all nodes."""
        if row is None:
            places = self._unseen()
            self._seen[:] = self.at
        else:
            first = int(self._seen[row])
            places = first + np.flatnonzero(self._column(self._rows, first, self.at) == row)
            self._seen[row] = self.at
        names, residents = self._names, self._cluster.seen_residents
        for place in places.tolist():
            pod, node = self.pods[place], self._rows[place]
            pod.node_name, pod.node = names[node], node
            residents[node][pod.key] = pod

    def _take_back(self, last: int) -> None:
        """Have pods that were placed, up to one before ``last``, pending again where that was seen."""
        residents = self._cluster.seen_residents
        rows = self._column(self._rows, self.at, last)
        seen = np.append(self._seen, 0)
        for place in (self.at + np.flatnonzero(np.arange(self.at, last) < seen[rows])).tolist():
            pod = self.pods[place]
            del residents[pod.node][pod.key]
            pod.node_name, pod.node = "", -1
        np.minimum(self._seen, self.at, out=self._seen)


def _count_class(cluster: Cluster, pod: PodState, nodes: IntVector, changes: IntVector) -> None:
    """Count pods that are compiled as ``pod`` is; no node is given twice."""
    info, kind = pod.info, pod.kind
    cluster.used[:, nodes] += np.outer(info.usage, changes)
    for name, amount in info.scalar_usage:
        cluster.scalars_of(name)[nodes] += amount * changes
    for counts in (*kind.tracked, *([] if pod.affinity is None else [pod.affinity])):
        counts.add_all(nodes, changes)
    kind.count_all(nodes.tolist(), changes.tolist())
    if info.demand is not None:
        for node in nodes.tolist():
            cluster.crowd(node)


def _touch(cluster: Cluster, rows: IntVector | Sequence[int]) -> None:
    if len(cluster.touched) + len(rows) > TOUCHED_TIMES * len(cluster.nodes) + TOUCHED_LEAST:
        cluster.forget_touched()
    else:
        cluster.touched += rows if isinstance(rows, list) else np.asarray(rows).tolist()
