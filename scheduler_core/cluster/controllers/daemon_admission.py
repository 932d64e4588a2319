"""Decide where v1.11's DaemonSet controller places a pod: it did so itself, without the scheduler.

Source: ``pkg/controller/daemon``, ``Predicates`` and ``nodeShouldRunDaemonPod``: node selector and
affinity, taints with the daemon's own tolerations, resources and host ports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from scheduler_core.kubernetes.admission import with_requests
from scheduler_core.kubernetes.model import (
    Affinity,
    HostPort,
    Node,
    NodeSelectorTerm,
    Pod,
    Requirement,
    Toleration,
    Workload,
)
from scheduler_core.kubernetes.selectors import node_selected, tolerates

NODES_NAMED = 5
_DAEMON_TOLERATIONS = (
    Toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/disk-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/memory-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"),
)


def with_daemon_tolerations(pod: Pod) -> Pod:
    """Return the pod with the tolerations that every DaemonSet pod gets."""
    added = tuple(t for t in _DAEMON_TOLERATIONS if t not in pod.tolerations)
    return replace(pod, tolerations=pod.tolerations + added)


def with_daemon_affinity(pod: Pod, node: str) -> Pod:
    """Return the pod with a required node affinity to the node's name, in addition to its other constraints.

    Source: ``util.ReplaceDaemonSetPodNodeNameNodeAffinity``: it replaces each required term of the template.
    """
    term = NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", (node,)),))
    return replace(pod, affinity=replace(pod.affinity or Affinity(), node_required=(term,)))


def daemon_node(pod: Pod) -> str:
    """Return the target node of a DaemonSet's pod: its own, or the one that its affinity names."""
    if pod.node_name:
        return pod.node_name
    terms = (pod.affinity.node_required if pod.affinity else None) or ()
    fields = terms[0].match_fields if terms else ()
    return fields[0].values[0] if fields and fields[0].values else ""


def total_requests(pod: Pod) -> dict[str, int]:
    """Return the pod's total requests; limits replace absent requests."""
    total: dict[str, int] = {}
    for container in map(with_requests, pod.containers):
        for name, amount in container.requests.items():
            total[name] = total.get(name, 0) + amount
    for container in map(with_requests, pod.init_containers):
        for name, amount in container.requests.items():
            total[name] = max(total.get(name, 0), amount)
    return total


def fits_daemon(pod: Pod, node: Node, others: Sequence[Pod]) -> bool:
    """Return whether the controller would run the pod on the node, next to the pods bound there."""
    return not why_unwelcome(pod, node) and not why_no_room(pod, node, others)


def why_unwelcome(pod: Pod, node: Node) -> str:
    """Return why a daemon should not run on a node, "" if it is."""
    if pod.node_name not in ("", node.meta.name):
        return "nodeName is another node"
    if not node_selected(pod, node):
        return "its node selector or affinity does not match"
    refused = (t for t in node.taints if t.effect != "PreferNoSchedule" and not tolerates(pod.tolerations, t))
    taint = next(refused, None)
    return "" if taint is None else f"the taint {taint.key} is not tolerated"


def why_no_room(pod: Pod, node: Node, others: Sequence[Pod]) -> str:
    """Return what an intended node lacks for a daemon pod, "" if it fits next to the pods bound there."""
    if len(others) + 1 > node.allocatable.get("pods", 0):
        return "Insufficient pods"
    request = total_requests(pod)
    used: dict[str, int] = {}
    for other in others:
        for container in other.containers:
            for name, amount in container.requests.items():
                used[name] = used.get(name, 0) + amount
    allocatable = {**node.capacity, **node.allocatable}
    for name, amount in request.items():
        if amount and allocatable.get(name, 0) < amount + used.get(name, 0):
            return f"Insufficient {name}"
    taken = [port for other in others for container in other.containers for port in container.host_ports]
    wanted = (port for container in pod.containers for port in container.host_ports)
    port = next((port for port in wanted if any(clash(port, one) for one in taken)), None)
    return "" if port is None else f"host port {port.port}/{port.protocol} is taken"


def unplaced(
    owner: Workload, nodes: Iterable[Node], pods_on: Callable[[str], Iterable[Pod]], *, room: bool = True
) -> str:
    """Return a message naming the nodes on which a DaemonSet lacks a pod, or that no node is eligible.

    Returns "" if neither is the case. Without ``room`` resources are not checked: the scheduler places the
    pods, and those that do not fit are pending.
    """
    if owner.template is None:
        return ""
    pod = with_daemon_tolerations(owner.template)
    lacking: dict[str, list[str]] = {}
    unwelcome: dict[str, int] = {}
    eligible = 0
    for node in nodes:
        there = list(pods_on(node.meta.name))
        if any(_owned(one, owner) for one in there):
            eligible += 1
            continue
        if why := why_unwelcome(pod, node):
            unwelcome[why] = unwelcome.get(why, 0) + 1
            continue
        eligible += 1
        if room and (why := why_no_room(pod, node, there)):
            lacking.setdefault(why, []).append(node.meta.name)
    name = f"DaemonSet {owner.meta.key}"
    if lacking:
        details = "; ".join(f"{why} on {_listed(found)}" for why, found in lacking.items())
        count = sum(map(len, lacking.values()))
        return f"{name} has no pod on {count} of the {eligible} nodes it is for: {details}"
    if not eligible and unwelcome:
        details = ", ".join(f"{number} × {why}" for why, number in sorted(unwelcome.items()))
        return f"{name} has no pod: no node is for it ({details})"
    return ""


def _owned(pod: Pod, owner: Workload) -> bool:
    controller = pod.meta.controller
    return (
        controller is not None
        and (controller.kind, controller.name) == (owner.kind, owner.meta.name)
        and pod.meta.namespace == owner.meta.namespace
    )


def _listed(names: list[str]) -> str:
    more = len(names) - NODES_NAMED
    return ", ".join(names[:NODES_NAMED]) + (f" and {more} more" if more > 0 else "")


def clash(one: HostPort, other: HostPort) -> bool:
    """Return whether two host ports cannot be used on one node at once."""
    anywhere = "0.0.0.0"  # noqa: S104 - the address that means every address
    same_ip = one.ip == other.ip or anywhere in (one.ip, other.ip)
    return one.port == other.port and one.protocol == other.protocol and same_ip
