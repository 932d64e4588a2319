"""RemovePodsViolatingInterPodAntiAffinity: pods whose own anti-affinity a neighbor matches."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.descheduler.arguments import SCOPE_FIELDS, PodScope, args_reader, check_scope
from scheduler_core.cluster.descheduler.eviction import NODE_LIMIT
from scheduler_core.cluster.descheduler.facts import NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.record import EVICTED
from scheduler_core.cluster.descheduler.strategy import DESCHEDULE, Strategy, StrategyContext
from scheduler_core.cluster.v1_37.objects import selects

Names = Counter[str]
"""How many pods have a name, in any namespace."""


class _Matches:
    """The pods that match one term, by node and by the value of its topology key."""

    def __init__(
        self, term: Mapping[str, Any], namespaces: frozenset[str], nodes: Mapping[str, NodeFacts]
    ) -> None:
        self.selector, self.topology_key = term.get("labelSelector"), term.get("topologyKey") or ""
        self.namespaces, self.nodes = namespaces, nodes
        self.on_node: dict[str, Names] = defaultdict(Counter)
        self.in_domain: dict[str, Names] = defaultdict(Counter)

    def count(self, pod: PodFacts, by: int) -> None:
        """Add a pod, or remove it by -1, if it matches."""
        if pod.namespace in self.namespaces and selects(self.selector, pod.labels):
            self.on_node[pod.node][pod.name] += by
            value = self.nodes[pod.node].labels.get(self.topology_key)
            if value is not None:
                self.in_domain[value][pod.name] += by

    def neighbor(self, pod: PodFacts) -> str | None:
        """Return the name of a matching pod in the pod's domain; pods of its own name do not count."""
        value = self.nodes[pod.node].labels.get(self.topology_key)
        near = (self.on_node[pod.node], Counter() if value is None else self.in_domain[value])
        return next((n for names in near for n, count in names.items() if count > 0 and n != pod.name), None)


class _Index:
    """The matches of every term, found once and kept up to date as pods go."""

    def __init__(self, nodes: Mapping[str, NodeFacts], pods: list[PodFacts]) -> None:
        self.nodes, self.pods = nodes, {pod.key: pod for pod in pods}
        self.terms: dict[str, _Matches] = {}

    def violation(self, pod: PodFacts) -> str:
        """Return which term a neighbor matches (CheckPodsWithAntiAffinityExist), "" if none."""
        for term in pod.anti_affinity:
            found = self._matches(pod, term).neighbor(pod)
            if found is not None:
                return f"its anti-affinity within {term.get('topologyKey')} matches pod {found}"
        return ""

    def _matches(self, pod: PodFacts, term: Mapping[str, Any]) -> _Matches:
        namespaces = frozenset(pod.term_namespaces(term))
        key = json.dumps(
            [term.get("labelSelector"), term.get("topologyKey"), sorted(namespaces)], sort_keys=True
        )
        if key not in self.terms:
            self.terms[key] = made = _Matches(term, namespaces, self.nodes)
            for one in self.pods.values():
                made.count(one, 1)
        return self.terms[key]

    def remove(self, pod: PodFacts) -> None:
        """Stop counting an evicted pod."""
        del self.pods[pod.key]
        for one in self.terms.values():
            one.count(pod, -1)


def run(context: StrategyContext, args: PodScope) -> None:
    """Evict node by node, in the order of priority and QoS; an evicted pod no longer counts."""
    on_node = {
        node.name: [pod for pod in context.listing.pods_on(node.name) if args.has(pod)]
        for node in context.nodes
    }
    nodes = {node.name: node for node in context.nodes}
    index = _Index(nodes, [pod for pods in on_node.values() for pod in pods])
    for pods in on_node.values():
        for pod in sorted(pods, key=PodFacts.eviction_rank):
            reason = index.violation(pod)
            if not reason or not context.admits(pod):
                continue
            outcome = context.evict(pod, reason)
            if outcome == NODE_LIMIT:
                break
            if outcome == EVICTED:
                index.remove(pod)


STRATEGY = Strategy(
    name="RemovePodsViolatingInterPodAntiAffinity",
    point=DESCHEDULE,
    words="evicts pods whose required anti-affinity matches another pod in their topology domain",
    args=args_reader(PodScope, SCOPE_FIELDS),
    check=check_scope,
    run=run,
)
