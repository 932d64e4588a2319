"""Hints of NodeUnschedulable (plugins/nodeunschedulable/node_unschedulable.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.hints.common import answer, spec
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.plugins.node_unschedulable import TAINT
from scheduler_core.schedulers.v1_37.plugins.taint_toleration import COMPARISON_GATE, tolerates_all
from scheduler_core.schedulers.v1_37.pods import Pod


def _after_node_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del pod, context
    was_schedulable = event.old is not None and not spec(event.old).get("unschedulable")
    return answer(not was_schedulable and not spec(event.new).get("unschedulable"))


def _after_toleration_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del event
    compare = context.configuration.gate(COMPARISON_GATE)
    return answer(tolerates_all(pod.tolerations, (TAINT,), compare=compare))


HINTS = Hints(
    "NodeUnschedulable",
    (
        Registration("Node", frozenset({"Add", "UpdateNodeTaint"}), _after_node_change),
        Registration("TargetPod", frozenset({"UpdatePodToleration"}), _after_toleration_change),
    ),
    "a node is added, or made schedulable again (kubectl uncordon)",
)
