"""SelectorSpread and ServiceSpreading: few pods of the same service or controller per node and zone."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.pods import PodQuery
from scheduler_core.cluster.services import spreading_selectors
from scheduler_core.cluster.view import Scope, View
from scheduler_core.cycle import IntVector
from scheduler_core.priorities.base import MAX_PRIORITY, MapReduce

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
        score = MAX_PRIORITY * ((most - raw) / most)
        zones = view.take(view.columns.zones)
        zoned = zones >= 0
        if zoned.any():
            sums = np.bincount(zones[zoned], weights=raw[zoned])
            busiest = sums.max()
            per_zone = (
                MAX_PRIORITY * ((busiest - sums) / busiest)
                if busiest
                else np.full(len(sums), float(MAX_PRIORITY))
            )
            blended = score * (1.0 - ZONE_WEIGHTING) + ZONE_WEIGHTING * per_zone[zones]
            score = np.where(zoned, blended, score)
        return score.astype(np.int64)


def spreading_query(pod: PodInfo, view: View) -> PodQuery:
    """Ask for the pods that SelectorSpread counts."""
    selectors = spreading_selectors(pod, view.cluster)
    parts = tuple(((pod.namespace,), selector) for selector in dict.fromkeys(selectors))
    return PodQuery(parts, every=False, skip_terminating=True)
