"""A view of some or all nodes, with independent what-if changes per node.

Row *i* of a view is one node; pods added to or removed from it affect that row alone, so
that many what-if questions ("node a without these pods", "node b without those") are one
array operation. A cycle filters the view of the whole cluster without changes;
nominated pods and preemption's dry runs are views with changes. The same predicates read all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.pods import AffinityClass, PodKind, PodQuery, PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.storage import NodeUse
from scheduler_core.schedulers.columns.whatif import RowChanges

A = TypeVar("A", bound=np.generic)
T = TypeVar("T")


class Scope(Enum):
    """What a rule's result for one node and one class of pods depends on.

    A rule of scope NODE reads only the resources of the node object, and of the ports and volumes
    in use only those that the class itself has: so for a class without any, nodes with the same
    allocatable and used resources have the same result. A predicate that bundles others
    lists them as ``members``; those of scope OBJECTS may read any field of the node.
    """

    OBJECTS = "objects"  # nodes, storage, services and workloads, but no pod
    NODE = "node"  # also the resources, ports and volumes that the pods on that node hold
    CLUSTER = "cluster"  # pods anywhere


class View:
    """R rows of the cluster (``rows`` are node indices, ``(R,) int64``; ``None``: all N nodes).

    ``used`` is ``(6, R) int64`` and ``allocatable`` ``(4, R) int64``. Rows may repeat.
    """

    def __init__(self, cluster: Cluster, rows: IntVector | None = None) -> None:
        self.cluster = cluster
        self.columns = cluster.columns
        self.reasons = cluster.reasons
        self.rows = rows
        self.size = self.columns.size if rows is None else len(rows)
        self._changes = RowChanges(cluster, rows)
        self._pending: list[tuple[Sequence[int], Sequence[PodState], int, bool]] = []
        self._used: IntVector | None = None
        self._allocatable: IntVector | None = None
        self._scalars: dict[str, IntVector] = {}

    @property
    def used(self) -> IntVector:
        """The usage by the pods on each row, ``(6, R) int64``: the live column, or the view's own copy."""
        if self._used is None:
            self._used = self.cluster.used if self.rows is None else self.cluster.used[:, self.rows]
        return self._used

    @property
    def allocatable(self) -> IntVector:
        """The allocatable resources of each row, ``(4, R) int64``."""
        if self._allocatable is None:
            all_nodes = self.columns.allocatable
            self._allocatable = all_nodes if self.rows is None else all_nodes[:, self.rows]
        return self._allocatable

    def take(self, column: npt.NDArray[A]) -> npt.NDArray[A]:
        """Reduce a vector over all nodes to this view's rows."""
        return column if self.rows is None else column[self.rows]

    def node(self, row: int) -> int:
        """Return the node index of a row."""
        return row if self.rows is None else int(self.rows[row])

    def memo(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Cache a value that depends on no pod (see :meth:`Cluster.memo`)."""
        return self.cluster.memo(key, compute)

    def scalar_used(self, name: str) -> IntVector:
        """Return the usage of a scalar resource on each row, ``(R,) int64``."""
        own = self._scalars.get(name)
        return self.take(self.cluster.scalar_used(name)) if own is None else own

    def use(self, row: int) -> NodeUse | None:
        """Return the ports and volumes in use on a row, ``None`` if there are none."""
        return self.changes.uses.get(row) or self.cluster.uses.get(self.node(row))

    @property
    def changes(self) -> RowChanges:
        """The differences between the rows and their nodes.

        Resources are updated at once; everything else is computed when a rule first reads it.
        """
        if self._pending:
            for rows, pods, sign, nominated in self._pending:
                for row, pod in zip(rows, pods):
                    self._changes.apply(row, pod, sign, nominated=nominated)
            self._pending.clear()
        return self._changes

    def row_numbers(self, nodes: set[int]) -> list[int]:
        """Return the rows of these node indices, in row order."""
        if self.rows is None:
            return sorted(nodes)
        return [row for row, node in enumerate(self.rows.tolist()) if node in nodes]

    def change(
        self, rows: Sequence[int], pods: Sequence[PodState], sign: int, *, nominated: bool = False
    ) -> None:
        """Add (+1) or remove (-1) one pod on each of these rows; a row may occur more than once."""
        if self.rows is None:
            raise ValueError("the view of the whole cluster is not for what-if changes")
        usage = self.cluster.usages(np.array([pod.info.number for pod in pods], np.int64))
        np.add.at(self.used.T, np.array(rows, np.int64), usage if sign > 0 else -usage)
        for row, pod in zip(rows, pods):
            for name, amount in pod.info.scalar_usage:
                if name not in self._scalars:
                    self._scalars[name] = self.scalar_used(name).copy()
                self._scalars[name][row] += sign * amount
        self._pending.append((rows, pods, sign, nominated))

    def query_change(self, query: PodQuery) -> IntVector | None:
        """Return how many more pods of a query each row has than its node, ``(R,)``; ``None`` for none."""
        return self._change_of(self.changes.kinds, query)

    def nominated_change(self, query: PodQuery) -> IntVector | None:
        """Return how many of the pods nominated to each row match a query, ``(R,)``; ``None`` for none."""
        return self._change_of(self.changes.nominated, query)

    def _change_of(self, kinds: dict[PodKind, dict[int, int]], query: PodQuery) -> IntVector | None:
        total: IntVector | None = None
        for kind, rows in kinds.items():
            if query.matches(kind.namespace, kind.labels, terminating=kind.terminating):
                total = _spread(total, rows, self.size)
        return total

    def class_change(self, classes: list[AffinityClass]) -> IntVector | None:
        """Return the same as :meth:`query_change` for the pods of these affinity classes."""
        total: IntVector | None = None
        for affinity in classes:
            rows = self.changes.classes.get(affinity)
            if rows:
                total = _spread(total, rows, self.size)
        return total


def _spread(total: IntVector | None, rows: dict[int, int], size: int) -> IntVector:
    result = np.zeros(size, np.int64) if total is None else total
    for row, change in rows.items():
        result[row] += change
    return result
