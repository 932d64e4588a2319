"""NodeUnschedulable: cordoned nodes, unless their taint is tolerated."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.plugins.base import (
    Codes,
    Context,
    Plugin,
    Rows,
    Status,
    refused,
    unresolvable,
)
from scheduler_core.schedulers.v1_37.plugins.taint_toleration import COMPARISON_GATE, tolerates_all

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


PLUGIN = NodeUnschedulable()
