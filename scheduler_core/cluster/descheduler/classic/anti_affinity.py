"""RemovePodsViolatingInterPodAntiAffinity of v0.9.0: looks at each node alone, whatever the topology key."""

from __future__ import annotations

from typing import Any

from scheduler_core.cluster.descheduler.classic.filters import evictable_on, is_full
from scheduler_core.cluster.descheduler.classic.params import PARAMS
from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.cluster.descheduler.record import EVICTED
from scheduler_core.cluster.descheduler.strategy import CLASSIC, DESCHEDULE, Strategy, StrategyContext
from scheduler_core.cluster.v1_37.objects import selects


def run(context: StrategyContext, params: Any) -> None:
    """Evict node by node, in the order of the listing; an evicted pod no longer counts."""
    del params
    for node in context.nodes:
        pods = evictable_on(context, node)
        for pod in tuple(pods):
            if is_full(context, node):
                break
            neighbor = _neighbor(pod, pods)
            if neighbor is None:
                continue
            if context.evictions.ask(pod, f"its anti-affinity matches pod {neighbor.key}") == EVICTED:
                pods.remove(pod)


def _neighbor(pod: PodFacts, pods: list[PodFacts]) -> PodFacts | None:
    """Return the first pod of another name that a required term matches."""
    for term in pod.anti_affinity:
        namespaces = pod.term_namespaces(term)
        for other in pods:
            named = other.name != pod.name and other.namespace in namespaces
            if named and selects(term.get("labelSelector"), other.labels):
                return other
    return None


STRATEGY = Strategy(
    name="RemovePodsViolatingInterPodAntiAffinity",
    edition=CLASSIC,
    point=DESCHEDULE,
    words="evicts pods whose required anti-affinity matches another evictable pod on their node",
    args=PARAMS,
    run=run,
)
