"""The cluster as the invalidation table asks for it, by the rows of the cache."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from scheduler_core.cluster.state import Cluster
from scheduler_core.cycle import BoolVector, IntVector
from scheduler_core.equivalence.cache import EquivalenceCache
from scheduler_core.equivalence.topology import Seen
from scheduler_core.objects.model import PersistentVolume

NO_ROWS: IntVector = np.zeros(0, np.int64)


class LiveTopology:
    """Answer the table's questions (:class:`scheduler_core.equivalence.topology.Topology`).

    The rows are the nodes of the last cycle. A node that came since has no entries and no row; one that
    left keeps its row until the next cycle. So that an event of many costs no rebuilding of the columns.
    """

    def __init__(self, cluster: Cluster, cache: EquivalenceCache) -> None:
        self.cluster = cluster
        self.cache = cache
        self.seen = Seen()

    def row(self, node: str) -> int:
        """Return a node's row, -1 if there is no such node."""
        return self.cache.row(node)

    def sharing(self, node: str, keys: Collection[str]) -> IntVector:
        """Return the rows that share the value of one of these labels with a node, ascending."""
        row = self.row(node)
        if row < 0 or not keys:
            return NO_ROWS
        columns = self.cluster.settled
        if columns is None or columns.names is not self.cache.nodes:
            return np.flatnonzero(self._compared(node, keys))
        shared = np.zeros(len(self.cache.nodes), np.bool_)
        for key in sorted(keys):
            ids = columns.topology((key,)).ids
            if ids[row] >= 0:
                shared |= ids == ids[row]
        return np.flatnonzero(shared)

    def _compared(self, node: str, keys: Collection[str]) -> BoolVector:
        """Compare labels as they are now, while the columns are out of date."""
        nodes = self.cluster.nodes
        mine = nodes[node].meta.labels if node in nodes else {}
        wanted = [(key, mine[key]) for key in sorted(keys) if key in mine]
        shared = np.zeros(len(self.cache.nodes), np.bool_)
        for row, name in enumerate(self.cache.nodes if wanted else ()):
            labels = nodes[name].meta.labels if name in nodes else {}
            shared[row] = any(labels.get(key) == value for key, value in wanted)
        return shared

    def volume(self, name: str) -> PersistentVolume | None:
        """Look up a PersistentVolume by its name."""
        return self.cluster.storage.volumes.get(name)
