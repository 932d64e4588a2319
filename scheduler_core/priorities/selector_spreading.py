"""SelectorSpread and ServiceSpreading: few pods of the same service or controller per node and zone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.pods import Counted, PodQuery
from scheduler_core.cluster.services import spreading_selectors
from scheduler_core.cluster.view import Scope, View
from scheduler_core.cycle import IntVector
from scheduler_core.priorities.base import MAX_PRIORITY, MapReduce
from scheduler_core.quirks import quirk

ZONE_WEIGHTING = 2.0 / 3.0


class SelectorSpread(MapReduce):
    """Spread pods that any common selector matches (priorities.SelectorSpread)."""

    scope = Scope.CLUSTER

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Count the pods of the namespace, not being deleted, that any of the pod's selectors match."""
        counted = _counted(pod, view)
        return np.zeros(view.size, np.int64) if counted is None else view.take(counted.counts).copy()

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:
        """Score few pods high, zones weighing two thirds (SelectorSpread.CalculateSpreadPriorityReduce)."""
        most = int(raw.max(initial=0))
        if not most:
            return np.full(len(raw), MAX_PRIORITY, np.int64)
        zones = view.columns.zones
        zone_scores = _zone_scores(_zone_sums(raw, pod, view))
        width = most + 1
        if (zones.count + 1) * width > len(raw):
            places = view.take(zones.ids)
            return _scores(raw, places >= 0, zone_scores[places], most)
        # fewer combinations of zone and count than nodes: score each combination once
        zoned = np.arange(zones.count + 1)[:, None] < zones.count
        table = _scores(np.arange(width), zoned, zone_scores[:, None], most)
        offsets = view.take(view.memo(("zone-offsets", width), lambda: zones.ids * width))
        return table.ravel().take(offsets + raw)


def _counted(pod: PodInfo, view: View) -> Counted | None:
    """Return the counts of the pods that a pod is spread from, ``None`` if nothing selects it."""
    query = view.memo(("spreading", pod.number), lambda: spreading_query(pod, view))
    return view.cluster.index.count(query) if query.parts else None


def _zone_sums(raw: IntVector, pod: PodInfo, view: View) -> IntVector:
    """Sum the feasible nodes' counts by zone, ``(zones + 1,)``; the last entry is for nodes without one."""
    zones = view.columns.zones
    counted = _counted(pod, view) if view.rows is None else None
    if counted is not None:
        return counted.sums(zones)
    sums = np.zeros(zones.count + 1, np.int64)
    np.add.at(sums, view.take(zones.ids), raw)
    return sums


def _zone_scores(sums: IntVector) -> npt.NDArray[np.float64]:
    """Score zones by their sums of pods, ``(zones + 1,)``."""
    busiest = int(sums[:-1].max(initial=0))
    if not busiest:
        return np.full(len(sums), float(MAX_PRIORITY))
    return np.asarray(MAX_PRIORITY * ((busiest - sums) / busiest))


def _scores(
    counts: IntVector, zoned: npt.NDArray[np.bool_], zone_scores: npt.NDArray[np.float64], most: int
) -> IntVector:
    """Blend node and zone scores; the order of the operations on doubles is v1.11's."""
    score = MAX_PRIORITY * ((most - counts) / most)
    blended = score * (1.0 - ZONE_WEIGHTING) + ZONE_WEIGHTING * zone_scores
    return np.asarray(np.where(zoned, blended, score).astype(np.int64))


@quirk("service-spreading-takes-controllers")
def spreading_query(pod: PodInfo, view: View) -> PodQuery:
    """Ask for the pods that SelectorSpread counts."""
    selectors = spreading_selectors(pod, view.cluster)
    parts = tuple(((pod.namespace,), selector) for selector in dict.fromkeys(selectors))
    return PodQuery(parts, every=False, skip_terminating=True)
