"""Metrics of a run: pods placed, work done, utilization of the nodes and its evenness."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from msgspec import Struct, field

from scheduler_core.record.cycle import Cycle
from scheduler_core.run import Stepper
from scheduler_core.schedulers.columns import Cluster
from scheduler_core.schedulers.columns.columns import BASIC_RESOURCES, REGION_LABEL, ZONE_LABEL

TOPOLOGY_LABELS = (
    (REGION_LABEL, "topology.kubernetes.io/region"),
    (ZONE_LABEL, "topology.kubernetes.io/zone"),
)
"""The labels by which a node is in a region and a zone: the older one, and the one that replaces it."""

ZONES_SHOWN = 100
FIGURES = (
    ("placed", "placed"),
    ("pending", "pending"),
    ("cycles", "cycles"),
    ("cycles without a node", "failedCycles"),
    ("evaluations of predicates", "evaluations"),
    ("preemptions", "preemptions"),
    ("victims", "victims"),
    ("nodes used", "nodesUsed"),
)
"""The figures that every comparison shows first: a label, and the key in :meth:`Metrics.as_dict`."""


class Work(Struct):
    """The work done by the cycles of a run, summed as they pass; retains no cycle."""

    cycles: int = 0
    evaluations: int = 0  # (predicate, node) pairs that were evaluated
    preemptions: int = 0
    victims: int = 0
    failed: int = 0  # cycles that ended without a node
    most_nodes: int = 0  # the maximum number of nodes with a pod after any cycle
    shares: dict[str, float] = field(default_factory=dict)  # utilization, summed over the cycles

    def add(self, cycle: Cycle, cluster: Cluster) -> None:
        """Add one cycle and the cluster after it."""
        self.most_nodes = max(self.most_nodes, int(np.count_nonzero(cluster.used[3])))
        for name, share in _utilisation(cluster).items():
            self.shares[name] = self.shares.get(name, 0.0) + share
        self.cycles += 1
        self.evaluations += cycle.evaluations
        self.preemptions += cycle.decision.nominated is not None
        self.victims += len(cycle.decision.victims)
        self.failed += cycle.result != "scheduled"


class Metrics(Struct, frozen=True):
    """The metrics of one run.

    ``utilisation`` is requested over allocatable of all nodes at the end, from 0 to 1, by resource;
    ``mean_utilisation`` is its mean over the cycles, for runs that end with few pods; ``zones`` is the
    number of pods in each zone; ``spread`` the maximum minus the minimum of these; ``deviation`` the standard
    deviation of the nodes' cpu utilization.
    """

    placed: int
    pending: int
    work: Work
    nodes_used: int
    utilisation: dict[str, float] = field(default_factory=dict)
    zones: dict[str, int] = field(default_factory=dict)
    spread: int = 0
    deviation: float = 0.0

    @property
    def mean_utilisation(self) -> dict[str, float]:
        """The mean utilization over the cycles, by resource."""
        return {name: round(total / self.work.cycles, 4) for name, total in self.work.shares.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return the metrics as a JSON object; at most the first :data:`ZONES_SHOWN` zones are listed."""
        return {
            "placed": self.placed,
            "pending": self.pending,
            "cycles": self.work.cycles,
            "failedCycles": self.work.failed,
            "evaluations": self.work.evaluations,
            "preemptions": self.work.preemptions,
            "victims": self.work.victims,
            "nodesUsed": self.nodes_used,
            "mostNodesUsed": self.work.most_nodes,
            "utilisation": self.utilisation,
            "meanUtilisation": self.mean_utilisation,
            "zones": dict(list(self.zones.items())[:ZONES_SHOWN]),
            "zoneSpread": self.spread,
            "cpuDeviation": self.deviation,
        }


def measure(simulation: Stepper, work: Work) -> Metrics:
    """Return the metrics of a simulation's current cluster and of the work done."""
    cluster = simulation.cluster
    placed = sum(bool(pod.node_name) for pod in cluster.pods.values())
    zones = _zones(cluster)
    cpu, offered = cluster.used[0], cluster.columns.allocatable[0]
    shares = cpu[offered > 0] / offered[offered > 0]
    return Metrics(
        placed=placed,
        pending=len(cluster.pods) - placed,
        work=work,
        nodes_used=int(np.count_nonzero(cluster.used[3])),
        utilisation=_utilisation(cluster),
        zones=zones,
        spread=max(zones.values()) - min(zones.values()) if zones else 0,
        deviation=round(float(shares.std()), 4) if shares.size else 0.0,
    )


def _utilisation(cluster: Cluster) -> dict[str, float]:
    columns = cluster.columns
    amounts = {
        name: (int(used.sum()), int(offered.sum()))
        for name, used, offered in zip(BASIC_RESOURCES, cluster.used, columns.allocatable)
    }
    for name in sorted(columns.scalars):
        amounts[name] = int(cluster.scalar_used(name).sum()), int(columns.scalars[name].sum())
    return {name: round(used / offered, 4) for name, (used, offered) in amounts.items() if offered}


def _zones(cluster: Cluster) -> dict[str, int]:
    """Return the number of pods in each zone; nodes without a zone are skipped, an empty zone counts 0."""
    counts: Counter[str] = Counter()
    for node, pods in zip(cluster.columns.nodes, cluster.used[3].tolist()):
        labels = node.meta.labels
        named = (labels.get(old) or labels.get(new) for old, new in TOPOLOGY_LABELS)
        parts = [value for value in named if value]
        if parts:
            counts["/".join(parts)] += pods
    return dict(sorted(counts.items()))
