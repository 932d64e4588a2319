"""NodeUnschedulable: cordoned nodes, unless their taint is tolerated."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.plugins.base import (
    Codes,
    Context,
    Plugin,
    Rows,
    Status,
    refused,
    unresolvable,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared, Reused
from scheduler_core.schedulers.v1_37.plugins.hints import answer, spec
from scheduler_core.schedulers.v1_37.plugins.taint_toleration import (
    COMPARISON_GATE,
    signed_tolerations,
    tolerates_all,
)
from scheduler_core.schedulers.v1_37.pods import CompiledPod

TAINT = ("node.kubernetes.io/unschedulable", "", "NoSchedule")

_UNSCHEDULABLE = unresolvable("node(s) were unschedulable")


class NodeUnschedulable(Plugin):
    """``spec.unschedulable``. Conditions are not looked at: the node controller taints for them."""

    key = "NodeUnschedulable"

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse cordoned nodes."""
        mask = ctx.nodes.unschedulable[rows]
        if not mask.any():
            return None
        compare = ctx.configuration.gate(COMPARISON_GATE)
        return None if tolerates_all(ctx.pod.tolerations, (TAINT,), compare=compare) else refused(mask)

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return the one reason."""
        del ctx, row, code
        return _UNSCHEDULABLE


def _after_node_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del pod, context
    was_schedulable = event.old is not None and not spec(event.old).get("unschedulable")
    return answer(not was_schedulable and not spec(event.new).get("unschedulable"))


def _after_toleration_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del event
    compare = context.configuration.gate(COMPARISON_GATE)
    return answer(tolerates_all(pod.tolerations, (TAINT,), compare=compare))


PLUGIN = Declared(
    "NodeUnschedulable",
    "preFilter filter",
    rank=40,
    filters="the node is not marked unschedulable, or the pod tolerates node.kubernetes.io/unschedulable",
    events=(
        ClusterEventWithHint("Node", frozenset({"Add", "UpdateNodeTaint"}), _after_node_change),
        ClusterEventWithHint("TargetPod", frozenset({"UpdatePodToleration"}), _after_toleration_change),
    ),
    until="a node is added, or made schedulable again (kubectl uncordon)",
    signs=signed_tolerations,
    reuse=Reused(filter="nodes"),
    code=NodeUnschedulable(),
)
