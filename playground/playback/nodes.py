"""The nodes' state after every cycle: what operations and controllers changed in the table of nodes.

In v1.11's runs the changes follow from the operations, since nothing else changes nodes there. In virtual
time controllers taint nodes and mark them not ready: changes after a cycle are found by comparing the
cluster.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

from playground.playback.tables import Tables, node_state
from scheduler_core.kubernetes.model import Node
from scheduler_core.scenario.scenario import Operation

State = dict[str, Any] | None  # the fields that differ from the table; None: the node does not exist
NodeChanges = list[list[Any]]  # [node index, State]


class NodeTrail:
    """Changes of nodes by cycle. ``known`` becomes false if stored rows do not contain them."""

    def __init__(self, tables: Tables) -> None:
        self.known = True
        self._tables = tables
        self._given = [node_state(node) for node in tables.nodes]
        self._seen: list[Node] | None = None  # the cluster's nodes when they were last compared
        self._states: list[State] = self._start()
        self._cycles = array("i")  # of each change, ascending
        self._changes: list[list[Any]] = []

    def __len__(self) -> int:
        return len(self._changes)

    def _start(self) -> list[State]:
        return [{} if since == 1 else None for since in self._tables.since]

    def look(self, index: int, nodes: Mapping[str, Node]) -> None:
        """Record the differences after cycle ``index`` since the previous call."""
        now = list(nodes.values())
        if self._seen == now:  # objects are replaced, never mutated: usually all of them are the same
            return
        self._seen = now
        self._note(index, self._different(nodes))

    def different(self, nodes: Mapping[str, Node]) -> NodeChanges:
        """Return how a cluster differs from the state after the last cycle, without recording it."""
        return [[node, state] for node, state in self._different(nodes) if state != self._states[node]]

    def _different(self, nodes: Mapping[str, Node]) -> Iterable[tuple[int, State]]:
        for node, name in enumerate(self._tables.node_index):
            yield node, self._state(node, nodes.get(name))

    def operate(self, index: int, operations: Iterable[Operation]) -> None:
        """Record the effect on nodes of the operations before or inside cycle ``index``."""
        for operation in operations:
            if operation.kind == "Node" and operation.key in self._tables.node_index:
                node = self._tables.node_index[operation.key]
                left = operation.object if isinstance(operation.object, Node) else None
                if operation.action == "delete" or left is not None:
                    self._note(index, ((node, self._state(node, left)),))

    def extend(self, index: int, changes: NodeChanges | None) -> None:
        """Add a stored row's changes of a cycle, ``None`` if it predates the recording of nodes."""
        if changes is None:
            self.known = False
            return
        self._note(index, ((node, state) for node, state in changes))

    def _state(self, node: int, found: Node | None) -> State:
        if found is None:
            return None
        if found is self._tables.nodes[node]:
            return {}
        given = self._given[node]
        return {field: value for field, value in node_state(found).items() if value != given[field]}

    def _note(self, index: int, states: Iterable[tuple[int, State]]) -> None:
        for node, state in states:
            if state != self._states[node]:
                self._states[node] = state
                self._cycles.append(index)
                self._changes.append([node, state])

    def of(self, index: int) -> NodeChanges:
        """Return what changed in a cycle."""
        return self._changes[bisect_left(self._cycles, index) : bisect_left(self._cycles, index + 1)]

    def before(self, index: int) -> NodeChanges:
        """Return the nodes that differ from the table before a cycle."""
        changes = self._changes[: bisect_left(self._cycles, index)]
        states = {**dict(enumerate(self._start())), **dict(changes)}
        return [[node, state] for node, state in states.items() if state != {}]
