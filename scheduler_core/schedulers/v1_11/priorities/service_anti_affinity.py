"""A policy's ``serviceAntiAffinity``: spread the pods of a service over the values of a node label."""

from __future__ import annotations

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.policy_argument import PolicyArgument
from scheduler_core.schedulers.columns.pod_selectors import compile_map
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodQuery
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.services import services_of
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.priority import MAX_PRIORITY, Mapped, MapReduce
from scheduler_core.schedulers.v1_11.priorities.line import (
    EVERY,
    Description,
    FormulaLine,
    LineQuestion,
    number,
    truncated,
)
from scheduler_core.schedulers.v1_11.priorities.rule import TENTHS, PriorityRule, ScorePlugin


class ServiceAntiAffinity(MapReduce):
    """Prefer label values with few pods of the pod's first service (priorities.ServiceAntiAffinity)."""

    scope = Scope.CLUSTER
    reads = Reads(pod=("namespace", "labels"), node=("labels",), objects=("Pod", "Service"))

    def __init__(self, label: str) -> None:
        self.label = label

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Count the pods of the first service, except terminating ones; 0 without a service."""
        services = services_of(pod, view.cluster)
        if not services:
            return np.zeros(view.size, np.int64)
        selector = compile_map(services[0].selector or {})
        query = PodQuery((((pod.namespace,), selector),), skip_terminating=True)
        return view.take(view.cluster.index.count(query).counts).copy()

    def reduce(self, raw: IntVector, pod: PodInfo, view: View) -> IntVector:  # noqa: ARG002
        """Score values with few pods high; a node without the label gets 0."""
        values = view.take(view.columns.label(self.label).ids)
        labelled = values >= 0
        total = int(raw.sum())
        if not total:
            return np.where(labelled, MAX_PRIORITY, 0)
        sums = np.bincount(values[labelled], weights=raw[labelled], minlength=1)
        score = (MAX_PRIORITY * ((total - sums) / total)).astype(np.int64)
        return np.where(labelled, score[np.maximum(values, 0)], 0)


def _describe(asked: LineQuestion, rule: ServiceAntiAffinity) -> Description:
    """Describe the number of pods at the node's label value, compared with all of them."""
    services = services_of(asked.pod.info, asked.cluster)
    name = services[0].meta.name if services else ""
    what = f"of Service {name}, not being deleted" if name else "no service selects this pod"
    counted = FormulaLine("pods here", what, "", number(asked.raw))
    column = asked.cluster.columns.label(rule.label)
    ids = column.ids[asked.feasible]
    own = int(ids[asked.place])
    prefers = f"Values of the label {rule.label} with few pods of the pod's first service."
    if own < 0:
        line = FormulaLine("score", f"0 without the label {rule.label}", "", "0")
        return Description(prefers, (counted,), (line,))
    total = int(asked.values.sum())
    label = f"{rule.label}={column.values[own]}"
    if not total:
        line = FormulaLine(
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


RULES = (
    PriorityRule(
        name="serviceAntiAffinity",
        place=200,
        made=ServiceAntiAffinity,
        argument=PolicyArgument(
            "serviceAntiAffinity",
            ("label",),
            "{label: rack}",
            lambda label: Mapped(ServiceAntiAffinity(label)),
        ),
        formula=(
            "10 × (pods − pods on nodes with the same value) / pods, of the pod's service; 0 without "
            "the label."
        ),
        plugins=(ScorePlugin("ServiceAffinity", TENTHS),),
        describe=_describe,
    ),
)
