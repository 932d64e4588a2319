"""SelectorSpread and ServiceSpreading: spread pods of a service or controller over nodes and zones."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.columns import REGION_LABEL, ZONE_LABEL, Domains
from scheduler_core.schedulers.columns.pod_selectors import compile_selector, matches
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodCounts, PodQuery
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.services import (
    SPREADING_KINDS,
    service_selectors,
    services_of,
    spreading_selectors,
)
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.priority import MAX_PRIORITY, Mapped, MapSpread, Scores
from scheduler_core.schedulers.quirks import quirk
from scheduler_core.schedulers.v1_11.priorities.line import (
    EVERY,
    Description,
    FormulaLine,
    LineQuestion,
    number,
    truncated,
)
from scheduler_core.schedulers.v1_11.priorities.rule import TENTHS, PriorityRule, ScorePlugin, in_both

ZONE_WEIGHTING = 2.0 / 3.0
ADDED_ALONE = 16  # rows and zones that are added up one by one


class SelectorSpread(MapSpread):
    """Spread pods that any common selector matches (priorities.SelectorSpread)."""

    scope = Scope.CLUSTER
    reads = Reads(pod=("namespace", "labels"), node=("labels",), objects=("Pod", "Service", "Workload"))
    controllers = True

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Count the namespace's pods, except terminating ones, that any of the pod's selectors matches."""
        counted = self.counted(pod, view)
        return np.zeros(view.size, np.int64) if counted is None else view.take(counted.counts)

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> Scores:
        """Score few pods high, with a zone weight of 2/3 (SelectorSpread.CalculateSpreadPriorityReduce)."""
        most = int(raw.max(initial=0))
        if not most:
            return MAX_PRIORITY
        zones = view.columns.zones
        zone_parts = _zone_parts(self._zone_sums(raw, pod, view))
        width = most + 1
        if len(zone_parts) * width > len(raw):
            return _blended(raw, most, view.take(zones.ids), zone_parts)
        # fewer combinations of zone and count than nodes: score each combination once
        own, share = _node_scores_up_to(most)
        table = np.add.outer(zone_parts, share)
        table[-1] = own  # nodes without a zone
        offsets = view.take(view.memo(("zone-offsets", width), lambda: zones.ids % len(zone_parts) * width))
        return table.astype(np.int64).take(offsets + raw)

    def spread(self, raw: IntVector, rows: IntVector, sizes: IntVector, view: View) -> Scores:
        """Score as :meth:`reduce` does, on rows that stand for several nodes."""
        counts = raw.tolist()
        most = max(counts, default=0)
        if not most:
            return MAX_PRIORITY
        zones = self.domains(view)
        places = zones.ids[rows]
        if max(len(rows), zones.count) <= ADDED_ALONE:
            return _spread_few(counts, most, places.tolist(), sizes.tolist(), zones.count)
        sums = np.zeros(zones.count + 1, np.int64)
        np.add.at(sums, places, raw * sizes)
        return _blended(raw, most, places, _zone_parts(sums))

    def domains(self, view: View) -> Domains:
        """Return the zones."""
        return view.columns.zones

    def counted(self, pod: PodInfo, view: View) -> PodCounts | None:
        """Return the counts of the pods to spread the pod from, ``None`` if nothing selects the pod."""
        key = ("spreading", pod.number, self.controllers)
        query = view.memo(key, lambda: spreading_query(pod, view, controllers=self.controllers))
        return view.cluster.index.count(query) if query.parts else None

    def _zone_sums(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:
        """Sum up the feasible nodes' counts by zone, ``(zones + 1,)``; the last entry is for no zone."""
        zones = view.columns.zones
        counted = self.counted(pod, view)
        # without what-if changes, if all the pods are on feasible nodes, the sums over all nodes are the same
        if counted is not None and (view.rows is None or int(raw.sum()) == counted.total):
            return counted.sums(zones)
        sums = np.zeros(zones.count + 1, np.int64)
        np.add.at(sums, view.take(zones.ids), raw)
        return sums


class ServiceSpread(SelectorSpread):
    """Spread the pods of services; in v1.11 those of controllers as well (factory.NewSelectorSpreadPriority
    with empty listers, whose selectors the precomputed ones replace).
    """

    def __init__(self, *, controllers: bool = True) -> None:
        self.controllers = controllers

    def under(self, quirks: frozenset[str]) -> ServiceSpread:
        """Return the priority with these quirks in force."""
        controllers = "service-spreading-takes-controllers" in quirks
        return self if controllers is self.controllers else ServiceSpread(controllers=controllers)


def _zone_parts(sums: IntVector) -> npt.NDArray[np.float64]:
    """Return the weighted scores of the zones by their sums of pods, ``(zones + 1,)``."""
    busiest = int(sums[:-1].max(initial=0))
    if not busiest:
        return np.full(len(sums), ZONE_WEIGHTING * MAX_PRIORITY)
    return np.asarray(ZONE_WEIGHTING * (MAX_PRIORITY * ((busiest - sums) / busiest)))


def _blended(raw: IntVector, most: int, places: IntVector, zone_parts: npt.NDArray[np.float64]) -> IntVector:
    """Return the scores of rows by their counts and zones."""
    own = _node_scores(raw, most)
    blended = own * (1.0 - ZONE_WEIGHTING) + zone_parts[places]
    return np.asarray(np.where(places >= 0, blended, own).astype(np.int64))


def _node_scores(counts: IntVector, most: int) -> npt.NDArray[np.float64]:
    """Return the nodes' own scores, high for few pods; the order of floating-point operations is v1.11's."""
    return np.asarray(MAX_PRIORITY * ((most - counts) / most))


def _spread_few(counts: list[int], most: int, places: list[int], sizes: list[int], zones: int) -> IntVector:
    """Return what :func:`_blended` does, of so few rows that a loop is faster than arrays are made."""
    sums = [0] * (zones + 1)
    for place, count, size in zip(places, counts, sizes, strict=True):
        sums[place] += count * size
    busiest = max(sums[:-1], default=0)
    parts = [
        ZONE_WEIGHTING * (MAX_PRIORITY * ((busiest - one) / busiest if busiest else 1.0)) for one in sums
    ]
    own, share = _node_scores_listed(most)
    rows = zip(counts, places, strict=True)
    scores = [int(share[count] + parts[place] if place >= 0 else own[count]) for count, place in rows]
    return np.array(scores, np.int64)


@lru_cache(maxsize=64)
def _node_scores_listed(most: int) -> tuple[list[float], list[float]]:
    own, share = _node_scores_up_to(most)
    return own.tolist(), share.tolist()


@lru_cache(maxsize=64)
def _node_scores_up_to(most: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the scores of 0 to ``most`` pods, and their share in the score of a node with a zone."""
    own = _node_scores(np.arange(most + 1), most)
    return own, own * (1.0 - ZONE_WEIGHTING)


@quirk("service-spreading-takes-controllers")
def spreading_query(pod: PodInfo, view: View, *, controllers: bool = True) -> PodQuery:
    """Return the query for the pods that SelectorSpread counts, or ServiceSpread without controllers."""
    find = spreading_selectors if controllers else service_selectors
    selectors = find(pod, view.cluster)
    parts = tuple(((pod.namespace,), selector) for selector in dict.fromkeys(selectors))
    return PodQuery(parts, every=False, skip_terminating=True)


NAMED = 3  # services and controllers
FEW = "Nodes, and zones, with few pods of the same service or controller."


def _describe(asked: LineQuestion, rule: SelectorSpread) -> Description:
    """Describe the node's pod count compared with the highest, combined with that of the zone."""
    values = asked.values
    of = _selecting(asked, controllers=rule.controllers)
    what = f"of {of}, not being deleted" if of else "no service or controller selects this pod"
    counted = FormulaLine("pods here", what, "", number(asked.raw))
    most = int(values.max(initial=0))
    if not most:
        every = FormulaLine("score", "no feasible node has such a pod, so each scores the most", "", EVERY)
        return Description(FEW, (counted,), (every,))
    here = MAX_PRIORITY * ((most - asked.raw) / most)
    numbers = f"{MAX_PRIORITY} × ({number(most)} − {number(asked.raw)}) / {number(most)}"
    formula = f"{MAX_PRIORITY} × (most on a node − pods here) / most on a node"
    zones = asked.cluster.columns.zones
    ids = zones.ids[asked.feasible]
    zone = int(ids[asked.place])
    if zone < 0:
        return Description(FEW, (counted,), (truncated("score", formula, numbers, here),))
    sums = np.bincount(ids[ids >= 0], weights=values[ids >= 0], minlength=1)
    busiest, own = int(sums.max()), int(sums[zone])
    lines = [FormulaLine("node", formula, numbers, number(here))]
    where = _zone_name(asked)
    if busiest:
        there = MAX_PRIORITY * ((busiest - own) / busiest)
        numbers = f"{MAX_PRIORITY} × ({number(busiest)} − {number(own)}) / {number(busiest)}"
        formula = f"{MAX_PRIORITY} × (most in a zone − pods in this zone) / most in a zone"
        lines.append(FormulaLine(where, formula, numbers, number(there)))
    else:
        there = float(MAX_PRIORITY)
        lines.append(FormulaLine(where, "no zone has such a pod", "", number(there)))
    blended = here * (1.0 - ZONE_WEIGHTING) + ZONE_WEIGHTING * there
    numbers = f"{number(here)} × 1/3 + {number(there)} × 2/3"
    lines.append(truncated("score", "a third of the node's, two thirds of the zone's", numbers, blended))
    return Description(FEW, (counted,), tuple(lines))


def _zone_name(asked: LineQuestion) -> str:
    labels = asked.cluster.columns.nodes[asked.node].meta.labels
    names = [labels[label] for label in (REGION_LABEL, ZONE_LABEL) if labels.get(label)]
    return f"zone {' '.join(names)}"


def _selecting(asked: LineQuestion, *, controllers: bool) -> str:
    """Return the names of the services and controllers that select the pod (services.spreading_selectors)."""
    pod, cluster = asked.pod.info, asked.cluster
    names = [f"Service {service.meta.name}" for service in services_of(pod, cluster)]
    for workload in cluster.workloads.values() if controllers and pod.labels else ():
        if workload.kind in SPREADING_KINDS and workload.meta.namespace == pod.namespace:
            selector = compile_selector(workload.selector)
            if selector and matches(selector, pod.labels):
                names.append(f"{workload.kind} {workload.meta.name}")
    more = f" and {number(len(names) - NAMED)} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


_OWN_CONSTRAINTS = (
    "pods of one Service or controller are spread over nodes and zones; a pod's own ScheduleAnyway "
    "constraints are not read"
)

RULES = (
    PriorityRule(
        name="SelectorSpreadPriority",
        place=10,
        run=Mapped(SelectorSpread()),
        text="Nodes, and zones, with few pods of the same service, controller or set.",
        formula=(
            "map: the node's pods that match. reduce: 10 × (most − own) / most; where nodes have "
            "zones, a third of that and two thirds of the same for the zone's pods. 10 everywhere if "
            "nothing matches."
        ),
        weights=in_both(1),
        plugins=(ScorePlugin("PodTopologySpread", _OWN_CONSTRAINTS), ScorePlugin("SelectorSpread", TENTHS)),
        describe=_describe,
    ),
    PriorityRule(
        name="ServiceSpreadingPriority",
        place=20,
        run=Mapped(ServiceSpread()),
        text="Nodes with few pods of the same service.",
        formula="As SelectorSpreadPriority.",
        describe=_describe,
    ),
)
