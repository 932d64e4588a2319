"""RemovePodsViolatingNodeAffinity of v0.9.0: required node affinity alone."""

from __future__ import annotations

from scheduler_core.cluster.descheduler.classic.filters import evictable_on, is_full
from scheduler_core.cluster.descheduler.classic.params import PARAMS, Params
from scheduler_core.cluster.descheduler.facts import REQUIRED, NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.record import EVICTED, NO_TARGET
from scheduler_core.cluster.descheduler.strategy import CLASSIC, DESCHEDULE, Strategy, StrategyContext
from scheduler_core.cluster.v1_37.objects import term_matches


def _matches(pod: PodFacts, node: NodeFacts) -> bool:
    """Return whether nodeSelector and required expressions match; ``matchFields`` are not known."""
    wanted = pod.spec.get("nodeSelector") or {}
    if any(node.labels.get(key) != value for key, value in wanted.items()):
        return False
    required = pod.node_affinity.get(REQUIRED)
    if required is None:
        return True
    terms = (
        {"matchExpressions": one.get("matchExpressions")} for one in required.get("nodeSelectorTerms") or ()
    )
    return any(term_matches(term, node.manifest) for term in terms)


def _fits_any(context: StrategyContext, pod: PodFacts) -> bool:
    """Return whether the first node that matches is not cordoned (nodeutil.PodFitsAnyNode)."""
    return next((not node.cordoned for node in context.nodes if _matches(pod, node)), False)


def run(context: StrategyContext, params: Params) -> None:
    """Evict node by node; a refused eviction counts for the node's limit too."""
    for kind in params.node_affinity_type:
        if kind != REQUIRED:
            context.stop(f"invalid nodeAffinityType: {kind}")
            return
        for node in context.nodes:
            _clear(context, node)


def _clear(context: StrategyContext, node: NodeFacts) -> None:
    reason = f"the labels of node {node.name} do not match the required node affinity"
    for pod in evictable_on(context, node):
        if is_full(context, node):
            return
        if pod.node_affinity.get(REQUIRED) is None or _matches(pod, node):
            continue
        if not _fits_any(context, pod):
            context.evictions.note(
                pod, NO_TARGET, f"{reason}; the first node that matches is cordoned, or none"
            )
        elif context.evictions.ask(pod, reason) != EVICTED:
            context.evictions.counts.nodes[node.name] += 1


STRATEGY = Strategy(
    name="RemovePodsViolatingNodeAffinity",
    edition=CLASSIC,
    point=DESCHEDULE,
    words="evicts pods whose required node affinity does not match their node",
    args=PARAMS,
    run=run,
)
