"""NodeDeclaredFeatures: features that a pod needs of its kubelet."""

from __future__ import annotations

import numpy as np

from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.plugins.base import (
    OK,
    SKIPPED,
    Codes,
    Context,
    Plugin,
    Rows,
    Status,
    refused,
    unresolvable,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared, Reused
from scheduler_core.schedulers.v1_37.plugins.hints import answer, status
from scheduler_core.schedulers.v1_37.pods import CompiledPod

_MISSING = unresolvable("node(s) didn't match Pod's required features")


def required_features(pod: CompiledPod) -> frozenset[str]:
    """Infer the features from the pod's specification (nodedeclaredfeatures)."""
    found = set()
    containers = (*pod.containers, *pod.init_containers)
    rules = (rule for container in containers for rule in container.get("restartPolicyRules") or ())
    if any(rule.get("action") == "RestartAllContainers" for rule in rules):
        found.add("RestartAllContainersOnContainerExits")
    if pod.spec.get("hostNetwork") and pod.spec.get("hostUsers") is False:
        found.add("UserNamespacesHostNetworkSupport")
    return frozenset(found)


class NodeDeclaredFeatures(Plugin):
    """``status.declaredFeatures`` of the node must contain all."""

    key = "NodeDeclaredFeatures"

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Skip if nothing is needed."""
        needed = required_features(ctx.pod)
        ctx.states[self.key] = needed
        return (OK if needed else SKIPPED), None

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse nodes that lack a feature."""
        needed = ctx.states[self.key]
        return refused(ctx.nodes.features.lookup(lambda has: not needed <= has, True, np.bool_)[rows])

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return the one reason."""
        del ctx, row, code
        return _MISSING


def _after_node_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del pod, context
    before = status(event.old).get("declaredFeatures") or []
    return answer(before != (status(event.new).get("declaredFeatures") or []))


def _after_pod_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del pod, context
    assert event.old is not None  # only registered for Update
    assert event.new is not None
    return answer(required_features(CompiledPod(event.old)) != required_features(CompiledPod(event.new)))


PLUGIN = Declared(
    "NodeDeclaredFeatures",
    "preFilter filter",
    rank=200,
    unprepared={"filter": 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'},
    filters="the node declares the features that the pod needs",
    events=(
        ClusterEventWithHint("Node", frozenset({"Add", "UpdateNodeDeclaredFeature"}), _after_node_change),
        ClusterEventWithHint("TargetPod", frozenset({"Update"}), _after_pod_change),
    ),
    until="a node that declares the features it needs is added, or the pod changes",
    signs=lambda pod, _: sorted(required_features(pod)),
    reuse=Reused(filter="nodes"),
    code=NodeDeclaredFeatures(),
)
