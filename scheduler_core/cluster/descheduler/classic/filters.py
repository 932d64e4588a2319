"""Which pods v0.9.0 evicts, and why not the others (podutil.IsEvictable)."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.cluster.descheduler.evictor import MIRROR, has_local_storage, is_of_daemon_set
from scheduler_core.cluster.descheduler.facts import NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.strategy import StrategyContext

CRITICAL_POD = "scheduler.alpha.kubernetes.io/critical-pod"


class ClassicFilter:
    """The rules of v0.9.0, which look neither at priority nor at claims, nor at pods that terminate."""

    def __init__(self, *, evict_local_storage: bool) -> None:
        self.evict_local_storage = evict_local_storage

    def protection(self, pod: PodFacts) -> str:
        """Return why a pod may not be evicted, "" if it may."""
        return ", ".join(self._protections(pod))

    def _protections(self, pod: PodFacts) -> Iterator[str]:
        if MIRROR in pod.annotations:
            yield "pod is a mirror pod"
        if not self.evict_local_storage and has_local_storage(pod):
            yield "pod has local storage"
        if not pod.owners:
            yield "pod has no owner"
        if is_of_daemon_set(pod):
            yield "pod is of a DaemonSet"
        if pod.namespace == "kube-system" and pod.annotations.get(CRITICAL_POD) == "":
            yield "pod is critical"

    def hindrance(self, pod: PodFacts) -> str:
        """Return "": nothing is looked at before the eviction."""
        del pod
        return ""


def evictable_on(context: StrategyContext, node: NodeFacts) -> list[PodFacts]:
    """Return the pods of a node that may be evicted (ListEvictablePodsOnNode)."""
    return [pod for pod in context.listing.pods_on(node.name) if context.unprotected(pod)]


def is_full(context: StrategyContext, node: NodeFacts) -> bool:
    """Return whether no more pods of a node may be evicted."""
    most = context.evictions.limits.node
    full = most is not None and context.evictions.counts.nodes[node.name] >= most
    if full:
        context.stop(f"the limit of {most} evictions is reached on node {node.name}")
    return full
