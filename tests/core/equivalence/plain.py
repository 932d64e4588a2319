"""A topology of plain lists and loops, which the table is tested against."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import Node, PersistentVolume, Pod
from scheduler_core.schedulers.columns.podinfo import compile_pod
from scheduler_core.schedulers.v1_11.equivalence.topology import Seen


class PlainTopology:
    """Some nodes, volumes, and the pods that have been seen."""

    def __init__(
        self,
        nodes: Iterable[Node] = (),
        volumes: Iterable[PersistentVolume] = (),
        seen: Iterable[Pod] = (),
    ) -> None:
        self.nodes = list(nodes)
        self.volumes = {volume.meta.name: volume for volume in volumes}
        self.seen = Seen()
        for number, pod in enumerate(seen):
            self.seen.pod(compile_pod(pod, number))

    def row(self, node: str) -> int:
        """Return a node's place in the list."""
        names = [found.meta.name for found in self.nodes]
        return names.index(node) if node in names else -1

    def sharing(self, node: str, keys: Collection[str]) -> IntVector:
        """Compare labels pair by pair."""
        place = self.row(node)
        if place < 0:
            return np.array([], np.int64)
        labels = self.nodes[place].meta.labels
        rows = [
            row
            for row, other in enumerate(self.nodes)
            if any(key in labels and other.meta.labels.get(key) == labels[key] for key in keys)
        ]
        return np.array(rows, np.int64)

    def volume(self, name: str) -> PersistentVolume | None:
        """Look a volume up."""
        return self.volumes.get(name)
