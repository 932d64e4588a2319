"""Where v1.11's DaemonSet controller puts a pod: it decided by itself, without the scheduler.

Source: ``pkg/controller/daemon``, ``Predicates`` and ``nodeShouldRunDaemonPod``: node selector and
affinity, taints with the daemon's own tolerations, resources and host ports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scheduler_core.admission import with_requests
from scheduler_core.objects.model import HostPort, Node, Pod, Toleration
from scheduler_core.objects.selectors import node_selected, tolerates

_DAEMON_TOLERATIONS = (
    Toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/disk-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/memory-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"),
)


def with_daemon_tolerations(pod: Pod) -> Pod:
    """Add the tolerations that every DaemonSet pod gets."""
    added = tuple(t for t in _DAEMON_TOLERATIONS if t not in pod.tolerations)
    return replace(pod, tolerations=pod.tolerations + added)


def total_requests(pod: Pod) -> dict[str, int]:
    """Sum the requests of a pod's containers; limits stand in for absent requests."""
    total: dict[str, int] = {}
    for container in map(with_requests, pod.containers):
        for name, amount in container.requests.items():
            total[name] = total.get(name, 0) + amount
    for container in map(with_requests, pod.init_containers):
        for name, amount in container.requests.items():
            total[name] = max(total.get(name, 0), amount)
    return total


def fits_daemon(pod: Pod, node: Node, others: Sequence[Pod]) -> bool:
    """Tell whether the controller would run the pod on the node, beside the pods bound there."""
    if pod.node_name not in ("", node.meta.name) or not node_selected(pod, node):
        return False
    if any(t.effect != "PreferNoSchedule" and not tolerates(pod.tolerations, t) for t in node.taints):
        return False
    if len(others) + 1 > node.allocatable.get("pods", 0):
        return False
    request = total_requests(pod)
    used: dict[str, int] = {}
    for other in others:
        for container in other.containers:
            for name, amount in container.requests.items():
                used[name] = used.get(name, 0) + amount
    allocatable = {**node.capacity, **node.allocatable}
    if any(
        amount and allocatable.get(name, 0) < amount + used.get(name, 0) for name, amount in request.items()
    ):
        return False
    taken = [port for other in others for container in other.containers for port in container.host_ports]
    return not any(_clash(a, b) for container in pod.containers for a in container.host_ports for b in taken)


def _clash(one: HostPort, other: HostPort) -> bool:
    anywhere = "0.0.0.0"  # noqa: S104 - the address that means every address
    same_ip = one.ip == other.ip or anywhere in (one.ip, other.ip)
    return one.port == other.port and one.protocol == other.protocol and same_ip
