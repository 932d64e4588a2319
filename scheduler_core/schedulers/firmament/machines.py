"""The machines of the flow network as columns: what nodes have, and what pods leave of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.kubernetes.model import Node, Pod, Requirement, Taint
from scheduler_core.kubernetes.selectors import holds
from scheduler_core.schedulers.firmament.tasks import RESOURCES, SCALES, Request, requests_of

UNLIMITED = np.iinfo(np.int64).max // 2
FAILED_CONDITIONS = {"Ready": ("False", "Unknown"), "OutOfDisk": ("True",)}
"""The statuses of a node's conditions with which its machine leaves the graph."""


def has_failed(node: Node) -> bool:
    """Return whether a node counts as failed (NodeWatcher)."""
    return any(one.status in FAILED_CONDITIONS.get(one.type, ()) for one in node.conditions)


@dataclass
class Machines:
    """The machines as columns, in the nodes' order, ``N`` of them.

    ``capacity`` and ``available`` are ``(3, N)``: millicores, and thousandths of a byte of memory and of
    ephemeral storage. ``free_slots`` is ``(N,)``: how many more pods each may run. Placed tasks are
    subtracted by :meth:`place`.
    """

    nodes: Sequence[Node]
    capacity: IntVector
    available: IntVector
    free_slots: IntVector

    @classmethod
    def of(cls, nodes: Iterable[Node], running: Sequence[Pod]) -> Machines:
        """Return the machines of nodes; ``running`` are all pods that use resources on any node."""
        listed = [node for node in nodes if not has_failed(node)]
        allocatable = _amounts([node.allocatable for node in listed])
        capacity = np.maximum(_amounts([node.capacity for node in listed]), allocatable)
        slots = np.array([node.allocatable.get("pods", 0) for node in listed], np.int64)
        made = cls(listed, capacity, allocatable, slots)
        made._take(running)
        return made

    def _take(self, pods: Sequence[Pod]) -> None:
        """Subtract what pods on the machines use, whoever placed them."""
        index = self.index
        here = [pod for pod in pods if pod.node_name in index]
        rows = np.array([index[pod.node_name] for pod in here], np.int64)
        np.subtract.at(self.available.T, rows, requests_of(here).T)
        np.subtract.at(self.free_slots, rows, 1)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The row of each machine by its node's name."""
        return {node.meta.name: row for row, node in enumerate(self.nodes)}

    @cached_property
    def tainted(self) -> Sequence[tuple[int, Sequence[Taint]]]:
        """The rows of the nodes with taints, and these."""
        return [(row, node.taints) for row, node in enumerate(self.nodes) if node.taints]

    def annotated(self, name: str) -> Iterator[tuple[int, str]]:
        """Yield the rows of the nodes with an annotation, and its text."""
        return (
            (row, node.meta.annotations[name])
            for row, node in enumerate(self.nodes)
            if name in node.meta.annotations
        )

    @cached_property
    def _labels(self) -> dict[Requirement, BoolVector]:
        return {}

    def labelled(self, requirement: Requirement) -> BoolVector:
        """Return ``(N,)``: whether each machine's labels satisfy an expression."""
        found = self._labels.get(requirement)
        if found is None:
            values = [node.meta.labels.get(requirement.key) for node in self.nodes]
            verdicts = {value: holds(requirement, value) for value in set(values)}
            found = self._labels[requirement] = np.array([verdicts[value] for value in values], bool)
        return found

    def place(self, row: int, request: Request) -> None:
        """Subtract a task that was placed."""
        self.available[:, row] -= request
        self.free_slots[row] -= 1

    def room(self, request: Request) -> IntVector:
        """Return ``(N,)``: the number of indices i at which (i + 1) requests are less than what is available.

        An exact fit is refused, and so is an empty request where nothing is available.
        """
        room = np.maximum(self.free_slots, 0)
        for amount, available in zip(request, self.available):
            positive = np.maximum(available, 0)
            fits = (positive - 1) // amount if amount else np.where(positive > 0, UNLIMITED, 0)
            room = np.minimum(room, np.maximum(fits, 0))
        return room


def _amounts(of: Sequence[Mapping[str, int]]) -> IntVector:
    """Return ``(3, nodes)``; a node without figures of ephemeral storage has no bound of it."""
    absent = (0, 0, UNLIMITED)
    rows = [
        [
            one[name] * scale if name in one else lacking
            for name, scale, lacking in zip(RESOURCES, SCALES, absent)
        ]
        for one in of
    ]
    return np.array(rows, np.int64).reshape(-1, len(RESOURCES)).T.copy()
