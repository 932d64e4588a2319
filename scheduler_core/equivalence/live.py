"""The cluster's columns as the invalidation table asks them: by the rows of the cache."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from scheduler_core.cluster.state import Cluster
from scheduler_core.cycle import IntVector
from scheduler_core.equivalence.cache import EquivalenceCache
from scheduler_core.equivalence.topology import Seen
from scheduler_core.objects.model import PersistentVolume

NO_ROWS: IntVector = np.zeros(0, np.int64)


class LiveTopology:
    """Answer the table's questions (:class:`scheduler_core.equivalence.topology.Topology`)."""

    def __init__(self, cluster: Cluster, cache: EquivalenceCache) -> None:
        self.cluster = cluster
        self.cache = cache
        self.seen = Seen()

    def row(self, node: str) -> int:
        """Return a node's row, -1 if there is no such node."""
        self._follow()
        return self.cache.row(node)

    def sharing(self, node: str, keys: Collection[str]) -> IntVector:
        """Return the rows that share the value of one of these labels with a node, ascending."""
        row = self.row(node)
        if row < 0:
            return NO_ROWS
        shared = np.zeros(len(self.cache.nodes), np.bool_)
        for key in sorted(keys):
            ids = self.cluster.columns.topology((key,)).ids
            if ids[row] >= 0:
                shared |= ids == ids[row]
        return np.flatnonzero(shared)

    def volume(self, name: str) -> PersistentVolume | None:
        """Look up a PersistentVolume by its name."""
        return self.cluster.storage.volumes.get(name)

    def _follow(self) -> None:
        """Take over the node list of the moment, so that rows mean the same in cache and columns."""
        names = self.cluster.columns.names
        if names is not self.cache.nodes:
            self.cache.remap(names)
