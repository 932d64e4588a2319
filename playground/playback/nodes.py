"""How the nodes stand after every cycle: what operations and controllers changed of the table of nodes.

Of v1.11's runs operations tell, as nobody else touches nodes there. In virtual time controllers taint them
and find them not ready: what is different after a cycle is told apart by looking at the cluster.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

from playground.playback.tables import Tables, node_state
from scheduler_core.objects.model import Node
from scheduler_core.scenario.scenario import Operation

State = dict[str, Any] | None  # the fields in which a node differs from the table; None: it is not there
NodeChanges = list[list[Any]]  # [node index, State]


class NodeTrail:
    """Changes of nodes by cycle. ``known`` turns false where stored rows say nothing of them."""

    def __init__(self, tables: Tables) -> None:
        self.known = True
        self._tables = tables
        self._given = [node_state(node) for node in tables.nodes]
        self._seen: list[Node] | None = None  # the cluster's nodes as they were last looked at
        self._states: list[State] = self._start()
        self._cycles = array("i")  # of each change, ascending
        self._changes: list[list[Any]] = []

    def __len__(self) -> int:
        return len(self._changes)

    def _start(self) -> list[State]:
        return [{} if since == 1 else None for since in self._tables.since]

    def look(self, index: int, nodes: Mapping[str, Node]) -> None:
        """Note what is different after cycle ``index`` than it was when this was called last."""
        now = list(nodes.values())
        if self._seen == now:  # objects are replaced and never changed: as a rule all of them are the same
            return
        self._seen = now
        self._note(index, self._different(nodes))

    def different(self, nodes: Mapping[str, Node]) -> NodeChanges:
        """Return what is different in a cluster than it was after the last cycle, without noting it."""
        return [[node, state] for node, state in self._different(nodes) if state != self._states[node]]

    def _different(self, nodes: Mapping[str, Node]) -> Iterable[tuple[int, State]]:
        for node, name in enumerate(self._tables.node_index):
            yield node, self._state(node, nodes.get(name))

    def operate(self, index: int, operations: Iterable[Operation]) -> None:
        """Note what operations before or inside cycle ``index`` do to nodes."""
        for operation in operations:
            if operation.kind == "Node" and operation.key in self._tables.node_index:
                node = self._tables.node_index[operation.key]
                left = operation.object if isinstance(operation.object, Node) else None
                if operation.action == "delete" or left is not None:
                    self._note(index, ((node, self._state(node, left)),))

    def extend(self, index: int, changes: NodeChanges | None) -> None:
        """Take what a stored row tells of a cycle, ``None`` if it is older than such rows."""
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
        """Return the nodes that are not as the table has them before a cycle."""
        changes = self._changes[: bisect_left(self._cycles, index)]
        states = {**dict(enumerate(self._start())), **dict(changes)}
        return [[node, state] for node, state in states.items() if state != {}]
