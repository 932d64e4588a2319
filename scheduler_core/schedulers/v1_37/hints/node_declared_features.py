"""Hints of NodeDeclaredFeatures (plugins/nodedeclaredfeatures/nodedeclaredfeatures.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.hints.common import answer, status
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.plugins.node_declared_features import required_features
from scheduler_core.schedulers.v1_37.pods import Pod


def _after_node_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    before = status(event.old).get("declaredFeatures") or []
    return answer(before != (status(event.new).get("declaredFeatures") or []))


def _after_pod_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    assert event.old is not None  # only registered for Update
    assert event.new is not None
    return answer(required_features(Pod(event.old)) != required_features(Pod(event.new)))


HINTS = Hints(
    "NodeDeclaredFeatures",
    (
        Registration("Node", frozenset({"Add", "UpdateNodeDeclaredFeature"}), _after_node_change),
        Registration("TargetPod", frozenset({"Update"}), _after_pod_change),
    ),
    "a node that declares the features it needs is added, or the pod changes",
)
