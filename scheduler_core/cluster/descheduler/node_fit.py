"""Whether a pod would fit on a node, as the descheduler judges it (nodeutil.NodeFit)."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.cluster.descheduler.facts import NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.lister import Listing
from scheduler_core.cluster.v1_37.objects import selects


def misfit(listing: Listing, pod: PodFacts, node: NodeFacts) -> str:
    """Return why a pod does not fit on a node, "" if it does.

    The scheduler's rules on volumes, ports, spreading and pod affinity are not looked at. Requests do not
    count on the pod's own node.
    """
    if node.cordoned:
        return "node is not schedulable"
    if not pod.selects(node):
        return "pod node selector does not match the node label"
    if not pod.tolerates(node.hard_taints):
        return "pod does not tolerate taints on the node"
    if pod.anti_affinity and _is_repelled(listing, pod, node):
        return "pod matches inter-pod anti-affinity rule of other pod on node"
    return "" if pod.node == node.name else _lacks(listing, pod, node)


def fits_any(listing: Listing, pod: PodFacts, nodes: Iterable[NodeFacts]) -> bool:
    """Return whether a pod fits on one of the nodes, its own included (PodFitsAnyNode)."""
    return any(not misfit(listing, pod, node) for node in nodes)


def fits_any_other(listing: Listing, pod: PodFacts, nodes: Iterable[NodeFacts]) -> bool:
    """Return whether a pod fits on one of the nodes other than its own (PodFitsAnyOtherNode)."""
    return fits_any(listing, pod, (node for node in nodes if node.name != pod.node))


def _is_repelled(listing: Listing, pod: PodFacts, node: NodeFacts) -> bool:
    """Return whether a pod on that very node matches a required term of the pod's anti-affinity."""
    terms = [term for term in pod.anti_affinity if term.get("topologyKey") in node.labels]
    return any(
        other.name != pod.name
        and other.namespace in pod.term_namespaces(term)
        and selects(term.get("labelSelector"), other.labels)
        for term in terms
        for other in listing.pods_on(node.name)
    )


def _lacks(listing: Listing, pod: PodFacts, node: NodeFacts) -> str:
    """Return which resource a node has too little of left (fitsRequest)."""
    used = listing.requested_on(node.name)
    for name in ("pods", *pod.requests):
        wanted = pod.requests.get(name, 0)
        if wanted > node.allocatable.get(name, 0) - used.get(name, 0):
            return f"insufficient {name}"
    full = node.allocatable.get("pods", 0) <= used["pods"]
    return "insufficient pods" if full else ""
