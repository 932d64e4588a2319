"""Predicates on a node's own fields: conditions, pressures, labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.model import Node, NodeCondition, Pod
from scheduler_core.kubernetes.policy_argument import PolicyArgument
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.predicate import FITS, PredicateResult, narrowed
from scheduler_core.schedulers.v1_11.predicates.rule import (
    Explain,
    FilterPlugin,
    OrderPlace,
    Reason,
    ReasonFacts,
    Rule,
    SuggestedChange,
)

ConditionKey = tuple[tuple[NodeCondition, ...], bool]

# Condition type, the status that passes, the reason for any other status.
CONDITION_REASONS = (
    ("Ready", "True", "node(s) were not ready"),
    ("OutOfDisk", "False", "node(s) were out of disk space"),
    ("NetworkUnavailable", "False", "node(s) had unavailable network"),
)
UNSCHEDULABLE = "node(s) were unschedulable"
CORDON_TAINT = "node.kubernetes.io/unschedulable"
PRESSURE_REASONS = {
    "MemoryPressure": "node(s) had memory pressure",
    "PIDPressure": "node(s) had pid pressure",
    "DiskPressure": "node(s) had disk pressure",
}


def _by_status(view: View, key: str, reasons_of: Callable[[ConditionKey], Sequence[str]]) -> PredicateResult:
    """Evaluate a rule once per distinct (conditions, unschedulable) and map the results to the nodes."""

    def compute() -> Codes | None:
        column = view.columns.status
        found = [tuple(reasons_of(status)) for status in column.values]
        if not any(found):
            return None
        codes = np.array([view.reasons.code(*r) if r else 0 for r in found], np.int16)
        return np.asarray(codes[column.ids], np.int16)

    return narrowed(view.memo(("status", key), compute), view)


class CheckNodeCondition:
    """Ready, disk, network and ``spec.unschedulable`` (predicates.CheckNodeConditionPredicate)."""

    scope = Scope.OBJECTS
    reads = Reads(node=("conditions", "unschedulable"))

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Append a reason for each bad condition, in the node's own order."""
        return _by_status(view, "condition", condition_reasons)


def condition_reasons(status: ConditionKey) -> list[str]:
    """Return the reasons of CheckNodeCondition; a missing condition passes."""
    conditions, unschedulable = status
    reasons = [
        reason
        for condition in conditions
        for kind, fine, reason in CONDITION_REASONS
        if condition.type == kind and condition.status != fine
    ]
    return [*reasons, UNSCHEDULABLE] if unschedulable else reasons


class CheckNodePressure:
    """One pressure condition (predicates.CheckNodeMemoryPressurePredicate and its two siblings).

    Only the status True fails, and of a condition listed twice the last counts. Memory
    pressure keeps only best-effort pods away.
    """

    scope = Scope.OBJECTS
    reads = Reads(pod=("containers",), node=("conditions",))

    def __init__(self, condition: str, *, best_effort_only: bool = False) -> None:
        self.condition = condition
        self.best_effort_only = best_effort_only

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where the node is under this pressure."""
        if self.best_effort_only and not pod.best_effort:
            return FITS
        return _by_status(view, self.condition, self._reasons)

    def _reasons(self, status: ConditionKey) -> tuple[str, ...]:
        found = [condition.status for condition in status[0] if condition.type == self.condition]
        return (PRESSURE_REASONS[self.condition],) if found and found[-1] == "True" else ()


class CheckNodeLabelPresence:
    """A policy's ``labelsPresence`` (predicates.NodeLabelChecker.CheckNodeLabelPresence)."""

    scope = Scope.OBJECTS
    reads = Reads(node=("labels",))
    reason = "node(s) didn't have the requested labels"

    def __init__(self, labels: tuple[str, ...], *, presence: bool) -> None:
        self.labels = labels
        self.presence = presence

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where a label is missing (presence) or where one exists (absence)."""
        key = ("labels-presence", self.labels, self.presence)
        return narrowed(view.memo(key, lambda: self._codes(view)), view)

    def _codes(self, view: View) -> Codes | None:
        wrong = np.zeros(view.columns.size, np.bool_)
        for label in self.labels:
            wrong |= (view.columns.label(label).ids >= 0) != self.presence
        return np.where(wrong, np.int16(view.reasons.code(self.reason)), np.int16(0)) if wrong.any() else None


def _condition(kind: str, fine: str) -> Explain:
    """Return what sets the node's condition to the status that passes."""

    def explain(pod: Pod, node: Node) -> ReasonFacts:  # noqa: ARG001
        name = node.meta.name
        status = next((c.status for c in node.conditions if c.type == kind and c.status != fine), "")

        def mutate(document: Manifest) -> None:
            for entry in part(document, "status").get("conditions") or ():
                if entry.get("type") == kind:
                    entry["status"] = fine

        words = f"repair node {name} until its condition {kind} is {fine}"
        return ReasonFacts(
            (f"condition {kind} is {status}",), ((SuggestedChange("Node", words, "condition", mutate),),)
        )

    return explain


def _cordon(pod: Pod, node: Node) -> ReasonFacts:  # noqa: ARG001
    """Uncordon the node; this also removes the taint that the node controller sets with it."""
    name = node.meta.name

    def mutate(document: Manifest) -> None:
        spec = part(document, "spec")
        spec.pop("unschedulable", None)
        if spec.get("taints"):
            spec["taints"] = [entry for entry in spec["taints"] if entry.get("key") != CORDON_TAINT]

    change = SuggestedChange("Node", f"uncordon node {name}", "uncordon", mutate)
    return ReasonFacts((f"node {name} is cordoned (spec.unschedulable)",), ((change,),))


CORDONED = Reason(UNSCHEDULABLE, resolvable=False, explain=_cordon)

_TAINTED = "such a node has a taint today, which TaintToleration reads"

RULES = (
    Rule(
        key="CheckNodeCondition",
        check=CheckNodeCondition(),
        text=(
            "The node is Ready, its network is configured, it has disk left, and it is not "
            "cordoned (spec.unschedulable)."
        ),
        v1_11=OrderPlace(10, "Conditions of the whole node come first: if they fail, nothing else matters."),
        proposal=OrderPlace(
            10, "A node that accepts no pods needs no other check.", "CheckNodeConditionPredicate"
        ),
        default=True,
        mandatory=True,
        converted_to="NodeUnschedulable",
        reasons=(
            Reason("node(s) were not ready", resolvable=False, explain=_condition("Ready", "True")),
            Reason("node(s) were out of disk space", explain=_condition("OutOfDisk", "False")),
            Reason(
                "node(s) had unavailable network",
                resolvable=False,
                explain=_condition("NetworkUnavailable", "False"),
            ),
            CORDONED,
            Reason("node(s) had unknown conditions", resolvable=False),
        ),
        aspect="conditions",
        invalidated_by=(
            "node-update-conditions",
            "node-update-unschedulable",
            "node-update-unschedulable-key",
        ),
    ),
    Rule(
        key="CheckNodeLabelPresence",
        made=CheckNodeLabelPresence,
        argument=PolicyArgument(
            "labelsPresence",
            ("labels", "presence"),
            "{labels: [zone], presence: true}",
            CheckNodeLabelPresence,
        ),
        text="The node has, or lacks, the labels that the policy's argument lists.",
        v1_11=OrderPlace(110, "Labels are read quickly; only a policy asks for it."),
        proposal=OrderPlace(90, "Labels are easy to check, so it stands before what is not."),
        plugin=FilterPlugin("NodeLabel"),
        reasons=(Reason(CheckNodeLabelPresence.reason, resolvable=False, finding="labels_present"),),
        invalidated_by=("node-update-labels",),
    ),
    Rule(
        key="CheckNodeMemoryPressure",
        check=CheckNodePressure("MemoryPressure", best_effort_only=True),
        text="The node is not under memory pressure, for pods of the class BestEffort.",
        v1_11=OrderPlace(180, "Cheap, but it is seldom true."),
        proposal=OrderPlace(140, "Pressure does not happen often.", "CheckNodeMemoryPressurePredicate"),
        default=True,
        not_converted=_TAINTED,
        reasons=(Reason(PRESSURE_REASONS["MemoryPressure"], explain=_condition("MemoryPressure", "False")),),
        aspect="memory pressure",
        invalidated_by=("node-update-conditions",),
    ),
    Rule(
        key="CheckNodePIDPressure",
        check=CheckNodePressure("PIDPressure"),
        text="The node is not running out of process ids.",
        v1_11=OrderPlace(190, "Cheap, but it is seldom true."),
        default=True,
        not_converted=_TAINTED,
        reasons=(Reason(PRESSURE_REASONS["PIDPressure"], explain=_condition("PIDPressure", "False")),),
        aspect="PID pressure",
        invalidated_by=("node-update-conditions",),
    ),
    Rule(
        key="CheckNodeDiskPressure",
        check=CheckNodePressure("DiskPressure"),
        text="The node is not running out of disk.",
        v1_11=OrderPlace(200, "Cheap, but it is seldom true."),
        proposal=OrderPlace(150, "Pressure does not happen often.", "CheckNodeDiskPressurePredicate"),
        default=True,
        not_converted=_TAINTED,
        reasons=(Reason(PRESSURE_REASONS["DiskPressure"], explain=_condition("DiskPressure", "False")),),
        aspect="disk pressure",
        invalidated_by=("node-update-conditions",),
    ),
)
