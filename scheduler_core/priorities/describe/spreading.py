"""Descriptions of priorities that count pods: spreading, and inter-pod affinity."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.columns import REGION_LABEL, ZONE_LABEL
from scheduler_core.cluster.pods import AffinityClass
from scheduler_core.cluster.selecting import compile_selector, matches
from scheduler_core.cluster.services import SPREADING_KINDS, services_of
from scheduler_core.priorities.base import MAX_PRIORITY
from scheduler_core.priorities.inter_pod_affinity import InterPodAffinity
from scheduler_core.priorities.line import (
    Description,
    Line,
    LineQuestion,
    number,
    shortened,
    truncated,
)
from scheduler_core.priorities.selector_spreading import ZONE_WEIGHTING, SelectorSpread
from scheduler_core.priorities.service_anti_affinity import ServiceAntiAffinity

NAMED = 3  # services and controllers
EVERY = number(MAX_PRIORITY)
FEW = "Nodes, and zones, with few pods of the same service or controller."


def selector_spread(asked: LineQuestion, rule: SelectorSpread) -> Description:
    """Describe the node's pod count compared with the highest, combined with that of the zone."""
    values = asked.values
    of = _selecting(asked, controllers=rule.controllers)
    what = f"of {of}, not being deleted" if of else "no service or controller selects this pod"
    counted = Line("pods here", what, "", number(asked.raw))
    most = int(values.max(initial=0))
    if not most:
        every = Line("score", "no feasible node has such a pod, so each scores the most", "", EVERY)
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
    lines = [Line("node", formula, numbers, number(here))]
    where = _zone_name(asked)
    if busiest:
        there = MAX_PRIORITY * ((busiest - own) / busiest)
        numbers = f"{MAX_PRIORITY} × ({number(busiest)} − {number(own)}) / {number(busiest)}"
        formula = f"{MAX_PRIORITY} × (most in a zone − pods in this zone) / most in a zone"
        lines.append(Line(where, formula, numbers, number(there)))
    else:
        there = float(MAX_PRIORITY)
        lines.append(Line(where, "no zone has such a pod", "", number(there)))
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


def service_anti_affinity(asked: LineQuestion, rule: ServiceAntiAffinity) -> Description:
    """Describe the number of pods at the node's label value, compared with all of them."""
    services = services_of(asked.pod.info, asked.cluster)
    name = services[0].meta.name if services else ""
    what = f"of Service {name}, not being deleted" if name else "no service selects this pod"
    counted = Line("pods here", what, "", number(asked.raw))
    column = asked.cluster.columns.label(rule.label)
    ids = column.ids[asked.feasible]
    own = int(ids[asked.place])
    prefers = f"Values of the label {rule.label} with few pods of the pod's first service."
    if own < 0:
        line = Line("score", f"0 without the label {rule.label}", "", "0")
        return Description(prefers, (counted,), (line,))
    total = int(asked.values.sum())
    label = f"{rule.label}={column.values[own]}"
    if not total:
        line = Line(
            "score",
            "no feasible node has such a pod, so each with the label scores the most",
            "",
            EVERY,
        )
        return Description(prefers, (counted,), (line,))
    there = int(asked.values[ids == own].sum())
    numbers = f"{MAX_PRIORITY} × ({number(total)} − {number(there)}) / {number(total)}"
    formula = f"{MAX_PRIORITY} × (all pods − pods at {label}) / all pods"
    exact = MAX_PRIORITY * ((total - there) / total)
    return Description(prefers, (counted,), (truncated("score", formula, numbers, exact),))


def inter_pod_affinity(asked: LineQuestion, rule: InterPodAffinity) -> Description:
    """Describe the sum of the matching terms on the node, scaled between the lowest and the highest sum."""
    sums = rule.sums(asked.pod.info, asked.view, asked.pod)
    own = int(sums[asked.place])
    lines = shortened(_terms(asked, rule), "terms")
    if not lines:
        lines = [Line("terms", "none holds on this node", "", "0")]
    lines.append(Line("sum", "of the terms", "", number(own)))
    low, high = min(0, int(sums.min(initial=0))), max(0, int(sums.max(initial=0)))
    if low == high:
        scale = Line("score", "no feasible node has a sum, so none is preferred", "", "0")
    else:
        formula = f"{MAX_PRIORITY} × (sum − lowest) / (highest − lowest), 0 being between them"
        numbers = f"{MAX_PRIORITY} × ({number(own)} − {number(low)}) / ({number(high)} − {number(low)})"
        exact = MAX_PRIORITY * ((own - low) / (high - low))
        scale = truncated("score", formula, numbers, exact)
    prefers = "Nodes where preferred affinity to pods holds, and preferred anti-affinity does not."
    return Description(prefers, tuple(lines), (scale,))


def _terms(asked: LineQuestion, rule: InterPodAffinity) -> list[Line]:
    columns = asked.cluster.columns
    lines = []
    for key, weight, counted in rule.weighted(asked.pod.info, asked.view, asked.pod.kind):
        domain = int(columns.topology((key,)).ids[asked.node])
        pods = int(counted.sums(columns.topology((key,)))[domain]) if domain >= 0 else 0
        if not pods:
            continue
        whose = (
            "pods with a term on this pod"
            if isinstance(counted, AffinityClass)
            else "pods that its term means"
        )
        where = f"{key}={columns.label(key).values[domain]}"
        numbers = f"{number(weight)} × {number(pods)}"
        lines.append(Line(where, f"weight × {whose}", numbers, number(weight * pods)))
    return lines
