"""The kubelet's admission of a pod that was bound to its node: the last check, whoever bound it.

A scheduler's view may be old, or count otherwise; the kubelet compares with the pods that it has admitted
itself. A pod that it refuses is Failed, keeps its ``spec.nodeName`` and is not scheduled again: what follows
is its owner's matter.

Source: ``pkg/kubelet/lifecycle/predicate.go``: resources in the order of NodeResourcesFit, then NodeAffinity
and NodePorts; the first failure is the reason. Extended resources that the node does not have are passed
over (removeMissingExtendedResources). Taints, devices and critical pods are not considered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from scheduler_core.cluster.controllers.daemon_admission import clash, total_requests
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.kubernetes.resources import is_scalar
from scheduler_core.kubernetes.selectors import node_selected

BASIC = ("cpu", "memory", "ephemeral-storage")
REFUSED = ("OutOf", "NodeAffinity", "NodePorts")
"""How the reasons of refusals begin."""


class AdmissionRefusal(NamedTuple):
    """The reason of the pod's failure and of its event, and the event's message."""

    reason: str
    message: str


def is_admitted(pod: Pod) -> bool:
    """Return whether the kubelet of a pod's node has admitted it, and it has not terminated."""
    return bool(pod.node_name) and not pod.terminal and (pod.phase != "Pending" or bool(pod.start_time))


def refusal(
    pod: Pod, node: Node, used: Mapping[str, int], admitted: Callable[[], Iterable[Pod]]
) -> AdmissionRefusal | None:
    """Return why the kubelet refuses a pod next to those that it has admitted, ``None`` if it does not.

    ``used`` are the sums of their requests, and the number of ``pods``; they themselves are only asked for
    where the pod wants a host port.
    """
    if short := _short(pod, node, used):
        name, requested, in_use, capacity = short
        amounts = f"requested: {requested}, used: {in_use}, capacity: {capacity}"
        return AdmissionRefusal(f"OutOf{name}", f"Node didn't have enough resource: {name}, {amounts}")
    if not node_selected(pod, node):
        return AdmissionRefusal("NodeAffinity", "Predicate NodeAffinity failed")
    wanted = [port for container in pod.containers for port in container.host_ports]
    others = admitted() if wanted else ()
    given = [port for other in others for one in other.containers for port in one.host_ports]
    if any(clash(port, other) for port in wanted for other in given):
        return AdmissionRefusal("NodePorts", "Predicate NodePorts failed")
    return None


def _short(pod: Pod, node: Node, used: Mapping[str, int]) -> tuple[str, int, int, int] | None:
    """Return the first resource that does not suffice: its name, what is requested, used, and there."""
    allocatable = {**node.capacity, **node.allocatable}
    there = used.get("pods", 0)
    if there + 1 > (most := allocatable.get("pods", there + 1)):  # --max-pods has a default
        return "pods", 1, there, most
    request = total_requests(pod)
    for name in (*BASIC, *sorted(name for name in request if is_scalar(name) and name in allocatable)):
        if not (amount := request.get(name, 0)):
            continue
        taken = used.get(name, 0)
        if amount + taken > allocatable.get(name, 0):
            return name, amount, taken, allocatable.get(name, 0)
    return None
