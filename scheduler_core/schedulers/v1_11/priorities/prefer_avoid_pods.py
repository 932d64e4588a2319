"""NodePreferAvoidPodsPriority: avoid nodes whose annotation names the pod's controller."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.columns import NodeColumns
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.priority import MAX_PRIORITY, MapOnly, Mapped
from scheduler_core.schedulers.v1_11.priorities.line import Description, FormulaLine, LineQuestion, number
from scheduler_core.schedulers.v1_11.priorities.rule import TENTHS, PriorityRule, ScorePlugin, in_both

ANNOTATION = "scheduler.alpha.kubernetes.io/preferAvoidPods"
AVOIDABLE_KINDS = ("ReplicationController", "ReplicaSet")

Avoided = dict[tuple[str, str], list[int]]


class NodePreferAvoidPods(MapOnly):
    """Score 0 where the node names the pod's controller (CalculateNodePreferAvoidPodsPriorityMap)."""

    scope = Scope.OBJECTS
    reads = Reads(pod=("controller",), node=("annotations",))

    def map(self, pod: PodInfo, view: View) -> IntVector:
        """Return 0 where the annotation names the pod's controller, otherwise 10."""
        avoided = view.memo("prefer-avoid-pods", lambda: _read_annotations(view.columns))
        nodes = avoided.get(pod.owner) if pod.owner and pod.owner[0] in AVOIDABLE_KINDS else None
        if not nodes:
            return np.full(view.size, MAX_PRIORITY, np.int64)
        scores = np.full(view.columns.size, MAX_PRIORITY, np.int64)
        scores[nodes] = 0
        return view.take(scores)


def _read_annotations(columns: NodeColumns) -> Avoided:
    """Return {(controller kind, uid): nodes}; an annotation that cannot be parsed is ignored."""
    avoided: Avoided = {}
    for row, node in enumerate(columns.nodes):
        found = node.meta.annotations
        for controller in _controllers(found[ANNOTATION]) if ANNOTATION in found else ():
            avoided.setdefault(controller, []).append(row)
    return avoided


def _controllers(text: str) -> list[tuple[str, str]]:
    try:
        entries = json.loads(text).get("preferAvoidPods") or []
        return [_controller(entry) for entry in entries]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return []


def _controller(entry: Any) -> tuple[str, str]:
    controller = (entry.get("podSignature") or {}).get("podController") or {}
    return str(controller.get("kind", "")), str(controller.get("uid", ""))


def _describe(asked: LineQuestion, rule: NodePreferAvoidPods) -> Description:  # noqa: ARG001
    """Describe whether the node's annotation names the pod's controller."""
    owner = asked.pod.info.owner
    annotated = ANNOTATION in asked.cluster.columns.nodes[asked.node].meta.annotations
    if owner is None or owner[0] not in AVOIDABLE_KINDS:
        why = f"the pod has no {' or '.join(AVOIDABLE_KINDS)}, so no node can avoid it"
    elif not annotated:
        why = "the node has no such annotation"
    elif asked.raw:
        why = "it does not name the pod's controller"
    else:
        why = f"it names the pod's {owner[0]}"
    prefers = "Nodes that do not ask the pod's controller to stay away."
    return Description(prefers, (FormulaLine("annotation preferAvoidPods", why, "", number(asked.raw)),))


RULES = (
    PriorityRule(
        name="NodePreferAvoidPodsPriority",
        place=80,
        run=Mapped(NodePreferAvoidPods()),
        text=(
            "Nodes that do not ask the pod's controller to stay away (an annotation); its weight "
            "outvotes all others."
        ),
        formula=(
            "0 if the node's annotation preferAvoidPods names the pod's ReplicationController or "
            "ReplicaSet, else 10."
        ),
        weights=in_both(10_000),
        plugins=(ScorePlugin("NodePreferAvoidPods", TENTHS),),
        describe=_describe,
    ),
)
