"""The figures of a cell's run, by which cells are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from scheduler_core.compare.results.metrics import Work, measure
from scheduler_core.kubernetes.quantity import format_resource
from scheduler_core.record.cycle import Decision
from scheduler_core.run import Stepper
from scheduler_core.schedulers.columns import Cluster
from scheduler_core.schedulers.columns.columns import BASIC_RESOURCES, NodeColumns
from scheduler_core.studies.sweep.prices import Prices, price_of
from scheduler_core.studies.sweep.waits import Waits

SIZES_SHOWN = 5

Request = tuple[tuple[str, int], ...]
"""What a pod requests: resources by name with their amounts, those of 0 left out."""

MEASURED = (
    *("placed", "pending", "cycles", "failedCycles", "preemptions", "victims", "nodesUsed"),
    *("utilisation", "zoneSpread", "cpuDeviation"),
)
"""What a cell takes over from :class:`scheduler_core.compare.results.metrics.Metrics`."""


class SizeFits(Struct, frozen=True, rename="camel"):
    """How many more pods of a size the nodes' free resources hold, and one node with all of them would.

    ``pods`` is how many pods of the scenario have the size; rules other than resources are not asked.
    """

    size: str
    pods: int
    fits: int
    whole: int

    @property
    def fragmentation(self) -> float:
        """The share of the pods that would fit into one node and do not fit into several."""
        return 1 - self.fits / self.whole if self.whole else 0.0


def cell_figures(
    simulation: Stepper, decisions: Iterable[Decision], waits: Waits, prices: Prices
) -> dict[str, Any]:
    """Return the figures of a run that has ended, as a JSON object; ``prices`` are those of its sweep."""
    cluster = simulation.cluster
    measured = measure(simulation, _work(decisions)).as_dict()
    sizes = sizes_of(cluster)
    most = max(sizes, key=lambda one: one.pods, default=None)
    price, unpriced = price_of(cluster, prices)
    return {
        **{name: measured[name] for name in MEASURED},
        "nodes": cluster.columns.size,
        **waits.figures(cluster),
        "fragmentation": round(most.fragmentation, 4) if most else 0.0,
        "fits": [{"size": one.size, "pods": one.pods, "fits": one.fits, "whole": one.whole} for one in sizes],
        "pricePerHour": price,
        "nodesUnpriced": unpriced,
    }


def _work(decisions: Iterable[Decision]) -> Work:
    work = Work()
    for decision in decisions:
        work.cycles += 1
        work.preemptions += decision.nominated is not None
        work.victims += len(decision.victims)
        work.failed += decision.result != "scheduled"
    return work


def sizes_of(cluster: Cluster) -> list[SizeFits]:
    """Return the sizes of pod that are asked for most, the most frequent first; of these the largest."""
    counts: Counter[Request] = Counter()
    for pod in cluster.pods.values():
        counts[_request_of(pod.info)] += 1
    free = _free(cluster)
    ranked = sorted(counts.items(), key=lambda one: (one[1], [amount for _, amount in one[0]]), reverse=True)
    return [_fits(request, pods, free) for request, pods in ranked[:SIZES_SHOWN]]


def _request_of(info: Any) -> Request:
    named = (*zip(BASIC_RESOURCES, info.request.tolist()), *info.scalar_request)
    return tuple((name, amount) for name, amount in named if amount)


def _free(cluster: Cluster) -> Mapping[str, Any]:
    columns: NodeColumns = cluster.columns
    basic = zip(BASIC_RESOURCES, np.maximum(columns.allocatable - cluster.used[: len(BASIC_RESOURCES)], 0))
    scalars = {
        name: np.maximum(all_ - cluster.scalar_used(name), 0) for name, all_ in columns.scalars.items()
    }
    return {**dict(basic), **scalars}


def _fits(request: Request, pods: int, free: Mapping[str, Any]) -> SizeFits:
    of_nodes = [free[name] // amount for name, amount in request if name in free]
    of_all = [int(free[name].sum()) // amount for name, amount in request if name in free]
    unknown = any(name not in free for name, _ in request)
    words = ", ".join(f"{name} {format_resource(name, amount)}" for name, amount in request if name != "pods")
    none = unknown or not of_nodes
    fits = 0 if none else int(np.minimum.reduce(of_nodes).sum())
    return SizeFits(words or "nothing", pods, fits, 0 if none else min(of_all))
