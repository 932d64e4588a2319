"""A policy's ``serviceAntiAffinity``: spread the pods of a service over the values of a node label."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.pods import PodQuery
from scheduler_core.cluster.reads import Reads
from scheduler_core.cluster.selecting import compile_map
from scheduler_core.cluster.services import services_of
from scheduler_core.cluster.view import Scope, View
from scheduler_core.objects.arrays import IntVector
from scheduler_core.priorities.base import MAX_PRIORITY, MapReduce
from scheduler_core.priorities.rule import TENTHS, PriorityRule, ScorePlugin


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


RULES = (
    PriorityRule(
        name="serviceAntiAffinity",
        place=210,
        made=ServiceAntiAffinity,
        argument="serviceAntiAffinity: {label: rack}",
        formula=(
            "10 × (pods − pods on nodes with the same value) / pods, of the pod's service; 0 without "
            "the label."
        ),
        plugins=(ScorePlugin("ServiceAffinity", TENTHS),),
    ),
)
