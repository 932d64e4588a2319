"""Hints of TaintToleration (plugins/tainttoleration/taint_toleration.go)."""

from __future__ import annotations

from scheduler_core.v1_37.hints.common import always, answer, spec
from scheduler_core.v1_37.hints.node_unschedulable import COMPARISONS
from scheduler_core.v1_37.interface import Event, HintAnswer, HintContext, Manifest, Registration
from scheduler_core.v1_37.pods import Pod
from scheduler_core.v1_37.taints import untolerated


def _after_node_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    compare = bool(context.gates.get(COMPARISONS))

    def tolerated(node: Manifest | None) -> bool:
        return untolerated(spec(node).get("taints") or (), pod.tolerations, compare=compare) is None

    was_tolerated = event.old is not None and tolerated(event.old)
    return answer(not was_tolerated and tolerated(event.new))


EVENTS = (
    Registration("Node", frozenset({"Add", "UpdateNodeTaint"}), _after_node_change),
    Registration("TargetPod", frozenset({"UpdatePodToleration"}), always),
)
