"""Taints that repel pods from a node."""

from __future__ import annotations

import numpy as np

from scheduler_core.kubernetes.selectors import tolerates
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.predicate import PredicateResult, narrowed
from scheduler_core.schedulers.v1_11.predicates.rule import FilterPlugin, OrderPlace, Reason, Rule


class PodToleratesNodeTaints:
    """Every taint with one of ``effects`` must be tolerated (predicates.PodToleratesNodeTaints)."""

    scope = Scope.OBJECTS
    reads = Reads(pod=("tolerations",), node=("taints",))
    reason = "node(s) had taints that the pod didn't tolerate"

    def __init__(self, effects: tuple[str, ...] = ("NoSchedule", "NoExecute")) -> None:
        self.effects = effects

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where a taint is not tolerated."""
        key = ("taints", self.effects, pod.fields.tolerations)
        return narrowed(view.memo(key, lambda: self._codes(pod, view)), view)

    def _codes(self, pod: PodInfo, view: View) -> Codes | None:
        column = view.columns.taints
        refused = [
            any(t.effect in self.effects and not tolerates(pod.fields.tolerations, t) for t in taints)
            for taints in column.values
        ]
        if not any(refused):
            return None
        code = np.int16(view.reasons.code(self.reason))
        return np.asarray(np.where(np.array(refused), code, np.int16(0))[column.ids], np.int16)


RULES = (
    Rule(
        key="PodToleratesNodeTaints",
        check=PodToleratesNodeTaints(),
        text="The pod tolerates each taint of the node with the effect NoSchedule or NoExecute.",
        v1_11=OrderPlace(90, "Short lists on both sides, but few nodes are tainted."),
        proposal=OrderPlace(70, "Taints can be tolerated, so they rule out less."),
        default=True,
        plugin=FilterPlugin("TaintToleration", "the message does not name the taint"),
        reasons=(Reason(PodToleratesNodeTaints.reason, resolvable=False, finding="taints"),),
        invalidated_by=(
            "node-update-taints",
            "node-update-taints-key",
        ),
    ),
    Rule(
        key="PodToleratesNodeNoExecuteTaints",
        check=PodToleratesNodeTaints(("NoExecute",)),
        registered=False,
        text="The pod tolerates each taint of the node with the effect NoExecute.",
        v1_11=OrderPlace(100, "The same with the effect NoExecute alone."),
        proposal=OrderPlace(80, "Taints can be tolerated, so they rule out less."),
        invalidated_by=("node-update-taints",),
    ),
)
