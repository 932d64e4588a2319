"""Hints of TaintToleration (plugins/tainttoleration/taint_toleration.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.hints.common import always, answer, spec
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.plugins.taint_toleration import COMPARISON_GATE, tolerates_all
from scheduler_core.schedulers.v1_37.pods import Pod


def _after_node_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    compare = context.configuration.gate(COMPARISON_GATE)

    def tolerated(node: Manifest | None) -> bool:
        taints = [(t["key"], t.get("value") or "", t["effect"]) for t in spec(node).get("taints") or ()]
        return tolerates_all(pod.tolerations, taints, compare=compare)

    was_tolerated = event.old is not None and tolerated(event.old)
    return answer(not was_tolerated and tolerated(event.new))


HINTS = Hints(
    "TaintToleration",
    (
        Registration("Node", frozenset({"Add", "UpdateNodeTaint"}), _after_node_change),
        Registration("TargetPod", frozenset({"UpdatePodToleration"}), always),
    ),
    "a node is added whose taints it tolerates, or a node's taints change to that",
)
