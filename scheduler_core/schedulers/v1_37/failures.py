"""Why nodes were refused, as columns: each node's name and which of a few statuses it has.

Most nodes that an attempt refuses share a handful of statuses. So these are made once each, and a name is
looked up in a table only on request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scheduler_core.schedulers.v1_37.node_list import NO_NODES, NodeList
from scheduler_core.schedulers.v1_37.status import Status

Kinds = NDArray[np.intp]
"""One status a node: its position in a list of statuses; -1 where there is none."""

_NO_KINDS: Kinds = np.zeros(0, np.intp)


class Failures(Mapping[str, Status]):
    """The status of each refused node, in the order in which they were refused."""

    def __init__(
        self, nodes: NodeList = NO_NODES, kinds: Kinds = _NO_KINDS, statuses: Sequence[Status] = ()
    ) -> None:
        self.nodes = nodes
        self.kinds = kinds
        self.statuses = statuses
        self._table: dict[str, Status] | None = None

    def then(self, later: Failures) -> Failures:
        """Return these and those of a later pass, whose statuses replace those of the same nodes."""
        if not len(self):
            return later
        own = np.concatenate((self.nodes.rows, later.nodes.rows))
        kinds = np.concatenate((self.kinds, later.kinds + len(self.statuses)))
        _, back = np.unique(own[::-1], return_index=True)
        last = np.sort(len(own) - 1 - back)
        nodes = NodeList(later.nodes.table, own[last])
        return Failures(nodes, kinds[last], (*self.statuses, *later.statuses))

    def _by_name(self) -> dict[str, Status]:
        if self._table is None:
            self._table = dict(self._pairs())
        return self._table

    def _pairs(self) -> Iterator[tuple[str, Status]]:
        statuses = self.statuses
        return (
            (name, statuses[kind])
            for name, kind in zip(self.nodes.tolist(), self.kinds.tolist(), strict=True)
        )

    def __getitem__(self, name: str) -> Status:
        return self._by_name()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes.tolist())

    def __len__(self) -> int:
        return len(self.kinds)

    def counts(self) -> list[tuple[Status, int]]:
        """Return each status that occurs, in the order of the statuses, with its number of nodes."""
        numbers = np.bincount(self.kinds, minlength=len(self.statuses)).tolist()
        return [(status, number) for status, number in zip(self.statuses, numbers) if number]

    def with_code(self, code: str) -> NodeList:
        """Return the nodes with statuses of a code."""
        wanted = np.array([*(status.code == code for status in self.statuses), False], np.bool_)
        return self.nodes[wanted[self.kinds]]

    def groups(self) -> list[tuple[Status, NodeList]]:
        """Return each status that occurs with its nodes, in the order of their first nodes."""
        masks = [self.kinds == kind for kind in range(len(self.statuses))]
        found = [(int(mask.argmax()), kind) for kind, mask in enumerate(masks) if mask.any()]
        return [(self.statuses[kind], self.nodes[masks[kind]]) for _, kind in sorted(found)]


NO_FAILURES = Failures()
