"""The current cluster for the invalidation table, by the rows of the cache."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import PersistentVolume
from scheduler_core.schedulers.columns.columns import intern_column
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.v1_11.equivalence.cache import EquivalenceCache
from scheduler_core.schedulers.v1_11.equivalence.topology import Seen

NO_ROWS: IntVector = np.zeros(0, np.int64)


class LiveTopology:
    """The invalidation table's :class:`scheduler_core.schedulers.v1_11.equivalence.topology.Topology`.

    The rows are the nodes of the last cycle. A node added since has no entries and no row; a deleted one
    keeps its row until the next cycle. So a step with many events does not rebuild the columns for each.
    """

    def __init__(self, cluster: Cluster, cache: EquivalenceCache) -> None:
        self.cluster = cluster
        self.cache = cache
        self.seen = Seen()
        self._numbered_for: tuple[int, tuple[str, ...]] = (-1, ())
        self._numbered: dict[str, IntVector] = {}

    def row(self, node: str) -> int:
        """Return a node's row, -1 if there is no such node."""
        return self.cache.row(node)

    def sharing(self, node: str, keys: Collection[str]) -> IntVector:
        """Return the rows that share the value of one of these labels with a node, ascending."""
        row = self.row(node)
        if row < 0 or not keys:
            return NO_ROWS
        shared = np.zeros(len(self.cache.nodes), np.bool_)
        for key in sorted(keys):
            ids = self._values(key)
            if ids[row] >= 0:
                shared |= ids == ids[row]
        return np.flatnonzero(shared)

    def _values(self, key: str) -> IntVector:
        """Return the interned current values of a label, by row; -1 for nodes without it."""
        columns = self.cluster.settled
        if columns is not None and columns.names is self.cache.nodes:
            return columns.label(key).ids
        if self._numbered_for != (self.cluster.generation, self.cache.nodes):
            self._numbered_for = (self.cluster.generation, self.cache.nodes)
            self._numbered = {}
        ids = self._numbered.get(key)
        if ids is None:
            found = map(self.cluster.nodes.get, self.cache.nodes)
            values = [None if node is None else node.meta.labels.get(key) for node in found]
            ids = self._numbered[key] = intern_column(values).ids
        return ids

    def volume(self, name: str) -> PersistentVolume | None:
        """Return a PersistentVolume by name, ``None`` if it does not exist."""
        return self.cluster.storage.volumes.get(name)
