"""Hints of PodTopologySpread (plugins/podtopologyspread/plugin.go)."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.hints.common import answer, labels, listed, metadata, spec
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import HARD, Constraint, constraints_of
from scheduler_core.schedulers.v1_37.pods import Pod


def _constraints(pod: Pod, context: HintContext) -> Sequence[Constraint]:
    return constraints_of(Context(pod, context.cluster, context.profile, context.configuration), HARD)


def _matched(constraints: Sequence[Constraint], pod: Manifest | None) -> list[bool]:
    return [constraint.selector.matches(labels(pod)) for constraint in constraints]


def _involved(other: Manifest | None, pod: Pod) -> bool:
    """Return whether a pod counts for the spreading: one on a node, not one that was only nominated."""
    if other is None:
        return True
    if Pod(other).uid == pod.uid:
        return True
    return (
        bool(spec(other).get("nodeName")) and (metadata(other).get("namespace") or "default") == pod.namespace
    )


def _after_pod_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    if not _involved(event.new, pod) or not _involved(event.old, pod):
        return "QueueSkip"
    other = event.new or event.old
    constraints = _constraints(pod, context)
    if event.old is None or event.new is None:
        return answer(any(_matched(constraints, other)))
    return answer(_matched(constraints, event.old) != _matched(constraints, event.new))


def _after_target_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    constraints = _constraints(pod, context)
    tolerations_changed = (spec(event.old).get("tolerations") or []) != (
        spec(event.new).get("tolerations") or []
    )
    if tolerations_changed and any(constraint.honors_taints for constraint in constraints):
        return "Queue"
    return answer(_matched(constraints, event.old) != _matched(constraints, event.new))


def _after_node_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    keys = [constraint.key for constraint in _constraints(pod, context)]

    def counts(node: Manifest | None) -> bool:
        return node is not None and all(key in labels(node) for key in keys)

    if event.old is None or event.new is None:
        return answer(counts(event.old) or counts(event.new))
    if counts(event.old) != counts(event.new):
        return "Queue"
    moved = any(labels(event.old).get(key) != labels(event.new).get(key) for key in keys)
    taints_changed = (spec(event.old).get("taints") or []) != (spec(event.new).get("taints") or [])
    return answer(counts(event.new) and (moved or taints_changed))


def _until(pod: Pod) -> str:
    keys = dict.fromkeys(
        str(one.get("topologyKey"))
        for one in pod.spec.get("topologySpreadConstraints") or ()
        if one.get("whenUnsatisfiable") != "ScheduleAnyway"
    )
    label = f"the label {listed(list(keys))}" if keys else "the label of a default constraint"
    return (
        f"a pod that a constraint selects is bound, deleted or relabeled, or a node with {label} "
        "is added, removed, relabeled or retainted"
    )


HINTS = Hints(
    "PodTopologySpread",
    (
        Registration("AssignedPod", frozenset({"Add", "Delete", "UpdatePodLabel"}), _after_pod_change),
        Registration("TargetPod", frozenset({"UpdatePodLabel", "UpdatePodToleration"}), _after_target_change),
        Registration(
            "Node", frozenset({"Add", "Delete", "UpdateNodeLabel", "UpdateNodeTaint"}), _after_node_change
        ),
    ),
    _until,
)
