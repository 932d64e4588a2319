"""Hints of NodeResourcesFit (plugins/noderesources/fit.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.hints.common import always, answer, listed, metadata, spec, status
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.pods import Pod
from scheduler_core.schedulers.v1_37.requests import Amounts, amounts, held_requests, spec_requests

CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"


def _wanted(pod: Pod) -> Amounts:
    return {name: amount for name, amount in pod.requests.items() if amount > 0}


def _allocatable(node: Manifest | None) -> Amounts:
    return amounts(status(node).get("allocatable"))


def _after_node_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    wanted, now = _wanted(pod), _allocatable(event.new)
    # Exempt resources are asked for here as well: Fits is called without them.
    if now.get("pods", 0) < 1 or any(amount > now.get(name, 0) for name, amount in wanted.items()):
        return "QueueSkip"
    if event.old is None:
        return "Queue"
    before = _allocatable(event.old)
    return answer(any(now.get(name, 0) > before.get(name, 0) for name in ("pods", *wanted)))


def _after_scale_down(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    before = held_requests(spec(event.old), status(event.old))
    after = held_requests(spec(event.new), status(event.new))
    return answer(any(before.get(name, 0) > after.get(name, 0) for name in _wanted(pod)))


def _after_device_class_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del context
    asked = spec_requests(pod.spec)
    name = spec(event.new).get("extendedResourceName")
    return answer(name in asked or f"{CLASS_PREFIX}{metadata(event.new).get('name')}" in asked)


def _until(pod: Pod) -> str:
    asked = listed([name for name, amount in pod.requests.items() if amount > 0])
    room = f"room for its {asked}" if asked else "room for one more pod"
    return (
        "a pod leaves a node or is scaled down, or a node that could hold it is added or grows: "
        f"it needs {room}"
    )


HINTS = Hints(
    "NodeResourcesFit",
    (
        Registration("AssignedPod", frozenset({"Delete"}), always),
        Registration("AssignedPod", frozenset({"UpdatePodScaleDown"}), _after_scale_down),
        Registration("TargetPod", frozenset({"UpdatePodScaleDown"}), always),
        Registration("Node", frozenset({"Add", "UpdateNodeAllocatable"}), _after_node_change),
        Registration("resource.k8s.io/DeviceClass", frozenset({"Add", "Update"}), _after_device_class_change),
    ),
    _until,
)
