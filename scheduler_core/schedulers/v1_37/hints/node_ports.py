"""Hints of NodePorts (plugins/nodeports/node_ports.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.hints.common import always, answer, listed
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.pods import Pod, Port

ANY_ADDRESS = "0.0.0.0"  # noqa: S104  # the value of a hostIP, nothing listens


def _conflict(left: Port, right: Port) -> bool:
    return left[1:] == right[1:] and (left[0] == right[0] or ANY_ADDRESS in (left[0], right[0]))


def _after_pod_deleted(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    assert event.old is not None  # only registered for Delete
    freed = Pod(event.old).host_ports
    return answer(any(_conflict(own, other) for own in pod.host_ports for other in freed))


def _until(pod: Pod) -> str:
    ports = listed([f"{port}/{protocol}" for _, protocol, port in pod.host_ports])
    return f"a pod that uses the host port {ports} leaves its node, or a node is added"


HINTS = Hints(
    "NodePorts",
    (
        Registration("AssignedPod", frozenset({"Delete"}), _after_pod_deleted),
        Registration("Node", frozenset({"Add"}), always),
    ),
    _until,
)
