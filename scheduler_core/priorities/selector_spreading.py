"""SelectorSpread and ServiceSpreading: few pods of the same service or controller per node and zone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.pods import PodQuery
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
        query = view.memo(("spreading", pod.number), lambda: spreading_query(pod, view))
        if not query.parts:
            return np.zeros(view.size, np.int64)
        return view.take(view.cluster.index.count(query).counts).copy()

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:  # noqa: ARG002
        """Score few pods high, zones weighing two thirds (SelectorSpread.CalculateSpreadPriorityReduce)."""
        most = int(raw.max(initial=0))
        if not most:
            return np.full(len(raw), MAX_PRIORITY, np.int64)
        places = view.take(view.columns.zone_places)
        count = view.columns.zone_count + 1
        sums = np.bincount(places, weights=raw, minlength=count).astype(np.float64)
        width = most + 1
        if count * width > len(raw):
            return _scores(raw, places > 0, per_zone_scores(sums)[places], most)
        # fewer combinations of zone and count than nodes: score each combination once
        zoned = np.arange(count)[:, None] > 0
        table = _scores(np.arange(width), zoned, per_zone_scores(sums)[:, None], most)
        return table.ravel().take(places * width + raw)


def per_zone_scores(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Score zones by their sums of pods, ``(zones + 1,)``; place 0 is for nodes without a zone."""
    busiest = sums[1:].max(initial=0)
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
