"""The final placements of two runs by workload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from scheduler_core.kubernetes.model import ObjectMeta

NO_CONTROLLER = "pods without a controller"
#: The pods of a cluster by ``namespace/name``: workload, and node or "" for a pending one.
Ends = Mapping[str, tuple[str, str]]


class WorkloadSide(Struct):
    """The pods of a workload at the end of one run, and the nodes that they are on."""

    placed: int = 0
    pending: int = 0
    nodes: set[str] = field(default_factory=set)

    def add(self, node: str) -> None:
        """Count a pod on a node, "" for a pending one."""
        if node:
            self.placed += 1
            self.nodes.add(node)
        else:
            self.pending += 1


class WorkloadRow(Struct):
    """One workload in both runs; ``differing`` pods end on another node, or are in only one of the runs."""

    name: str
    left: WorkloadSide = field(default_factory=WorkloadSide)
    right: WorkloadSide = field(default_factory=WorkloadSide)
    differing: int = 0


def workload_of(meta: ObjectMeta) -> str:
    """Return the kind and name of a pod's controller, or :data:`NO_CONTROLLER`."""
    owner = meta.controller
    return f"{owner.kind} {meta.namespace}/{owner.name}" if owner is not None else NO_CONTROLLER


def by_workload(left: Ends, right: Ends) -> list[WorkloadRow]:
    """Return the workloads of both clusters, those with most differing pods first, then by name."""
    rows: dict[str, WorkloadRow] = {}
    for key in dict.fromkeys((*left, *right)):
        ends = left.get(key), right.get(key)
        name = next(filter(None, ends))[0]
        row = rows.setdefault(name, WorkloadRow(name))
        for end, side in zip(ends, (row.left, row.right)):
            if end is not None:
                side.add(end[1])
        row.differing += ends[0] is None or ends[1] is None or ends[0][1] != ends[1][1]
    return sorted(rows.values(), key=lambda row: (-row.differing, row.name))


def counted(rows: Iterable[WorkloadRow]) -> list[dict[str, object]]:
    """Return rows as JSON objects, nodes as their number."""
    return [
        {
            "workload": row.name,
            **{
                name: {"placed": side.placed, "pending": side.pending, "nodes": len(side.nodes)}
                for name, side in (("left", row.left), ("right", row.right))
            },
            "differing": row.differing,
        }
        for row in rows
    ]
