"""What is measured: the workloads that kube-scheduler v1.11 was timed on, and two for growth."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Workload:
    """A cluster and pods of one shape, with what v1.11 made of them where that is known."""

    shape: str
    nodes: int
    pods: int
    #: The first 16 hex digits of the SHA-256 over v1.11's placements, "" if unknown.
    placements: str = ""
    #: Pods a second of v1.11 on a machine of two cores, 0 if unknown.
    upstream: float = 0.0


#: bench.md's table.
RECORDED = (
    Workload("plain", 100, 1000, "9c44e5f9cc91ddf8", 3850),
    Workload("plain", 5000, 300, "f26148e89daee239", 73),
    Workload("node-affinity", 100, 1000, "48739774bd778b63", 1530),
    Workload("node-affinity", 5000, 300, "760085e88136dab0", 26),
    Workload("anti-affinity", 100, 80, "cbaa93103385883a", 1570),
    Workload("anti-affinity", 5000, 200, "d2d1a052d79fa9a2", 24),
    Workload("pod-affinity", 100, 500, "cad796a96cf34526", 433),
    Workload("pod-affinity", 5000, 100, "38d10518a994e2eb", 28),
)
#: Cost should grow slower than the cluster: the time per pod of the second over that of the first.
GROWTH = (Workload("plain", 1000, 1000), Workload("plain", 20000, 1000))
