"""The metrics of a run: numbers of pending, running and Terminating pods, and the cluster's utilisation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from playground.limits import limit
from playground.playback.changes import PlacementChanges
from playground.playback.tables import ABSENT, PENDING, Tables
from playground.playback.terminations import TerminatingChanges
from scheduler_core.kubernetes.model import Node
from scheduler_core.scenario.scenario import Operation, Scenario

Sample = list[Any]
"""``[index, time, pending, placed, unschedulable, [utilisation per resource 0..1], terminating]``; without
the last in rows that were stored before it was counted."""


class Meter:
    """Counts of one simulation, kept up to date cycle by cycle.

    A pod is *pending* until its first attempt, *unschedulable* after a failed attempt, *placed* while it is
    on a node, and *terminating* there once it is deleted, until its kubelet has ended it. ``used`` and
    ``capacity`` are in the resources' base units, summed over all nodes.
    """

    def __init__(self, scenario: Scenario, tables: Tables) -> None:
        self._tables = tables
        self._where = list(tables.start)
        self._failed: set[int] = set()
        self._ending: set[int] = set()
        self._nodes: dict[str, Mapping[str, int]] = {}
        self.used: Counter[str] = Counter()
        self.capacity: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self._on_nodes = 0
        self.waiting = 0
        for item in scenario.objects:
            if isinstance(item, Node):
                self._set_node(item.meta.name, item.allocatable)
        for pod, node in enumerate(self._where):
            self._count(pod, node, 1)

    @property
    def unschedulable(self) -> int:
        """The number of pods that wait after a failed attempt."""
        return len(self._failed)

    @property
    def failed(self) -> Collection[int]:
        """The indices of the pods that wait after a failed attempt."""
        return self._failed

    @property
    def pending(self) -> int:
        """The number of pods that wait for their first attempt."""
        return self.waiting - len(self._failed)

    @property
    def terminating(self) -> int:
        """The number of pods on nodes that are being deleted."""
        return sum(self._where[pod] >= 0 for pod in self._ending)

    @property
    def placed(self) -> int:
        """The number of other pods on nodes."""
        return self._on_nodes - self.terminating

    def _set_node(self, name: str, allocatable: Mapping[str, int] | None) -> None:
        self.capacity.subtract(self._nodes.pop(name, {}))
        if allocatable is not None:
            self._nodes[name] = allocatable
            self.capacity.update(allocatable)

    def _count(self, pod: int, node: int, sign: int) -> None:
        if node == PENDING:
            self.waiting += sign
        elif node >= 0:
            self._on_nodes += sign
            usage = self._tables.usage[pod]
            (self.used.update if sign > 0 else self.used.subtract)(usage)

    def apply(
        self, pod: str, outcome: str, changes: PlacementChanges, operations: Iterable[Operation]
    ) -> None:
        """Count one cycle: its pod, the letter of its outcome, and the changes of it and its operations."""
        for operation in operations:
            if operation.kind == "Node":
                node = operation.object
                self._set_node(operation.key, node.allocatable if isinstance(node, Node) else None)
        self.move(changes)
        self.outcomes[outcome] += 1
        number = self._tables.pod_index[pod]
        if outcome != "s" and self._where[number] == PENDING:
            self._failed.add(number)

    def move(self, changes: PlacementChanges) -> None:
        """Count pods that were placed, deleted or created."""
        self._where += [ABSENT] * (len(self._tables.pods) - len(self._where))  # of pods created since
        for number, value in changes:
            self._count(number, self._where[number], -1)
            self._count(number, value, 1)
            self._where[number] = value
            self._failed.discard(number)

    def end(self, changes: TerminatingChanges) -> None:
        """Count pods that became Terminating, and those that are so no more."""
        for pod, is_from_now in changes:
            (self._ending.add if is_from_now else self._ending.discard)(pod)

    def sample(self, index: int, time: float, resources: list[str]) -> Sample:
        """Return the state after cycle ``index``."""
        shares = [
            round(self.used[name] / self.capacity[name], 5) if self.capacity[name] > 0 else 0.0
            for name in resources
        ]
        return [index, time, self.pending, self.placed, self.unschedulable, shares, self.terminating]

    def resources(self) -> list[str]:
        """Return the resources that the nodes offer, the basic ones first."""
        first = ("cpu", "memory", "ephemeral-storage", "pods")
        offered = {name for name, amount in self.capacity.items() if amount > 0}
        return [*(name for name in first if name in offered), *sorted(offered.difference(first))]


class Samples:
    """A bounded number of evenly spaced samples: when full, every second one is dropped."""

    def __init__(self, stored: dict[str, Any], resources: list[str]) -> None:
        self.stride: int = stored.get("stride", 1)
        self.resources: list[str] = stored.get("resources", resources)
        self.rows: list[Sample] = stored.get("rows", [])

    def wanted(self, index: int) -> bool:
        """Return whether a sample is to be taken at cycle ``index``."""
        return index % self.stride == 0

    def add(self, sample: Sample) -> None:
        """Add a sample, in place of one after the same cycle; thin the samples if there are too many."""
        if self.rows and self.rows[-1][0] == sample[0]:
            self.rows.pop()
        self.rows.append(sample)
        if len(self.rows) > limit("RUN_SAMPLES"):
            self.stride *= 2
            self.rows = [row for row in self.rows if row[0] % self.stride == 0]

    def stored(self) -> dict[str, Any]:
        """Return the value to store in the run's row."""
        return {"stride": self.stride, "resources": self.resources, "rows": self.rows}
