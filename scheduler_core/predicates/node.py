"""Predicates on a node's own fields: conditions, pressures, labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.reads import Reads
from scheduler_core.cluster.reasons import Codes
from scheduler_core.cluster.view import Scope, View
from scheduler_core.objects.model import NodeCondition
from scheduler_core.predicates.base import FITS, Outcome, narrowed

ConditionKey = tuple[tuple[NodeCondition, ...], bool]

# Condition type, the status that passes, the reason for any other status.
CONDITION_REASONS = (
    ("Ready", "True", "node(s) were not ready"),
    ("OutOfDisk", "False", "node(s) were out of disk space"),
    ("NetworkUnavailable", "False", "node(s) had unavailable network"),
)
UNSCHEDULABLE = "node(s) were unschedulable"
PRESSURE_REASONS = {
    "MemoryPressure": "node(s) had memory pressure",
    "PIDPressure": "node(s) had pid pressure",
    "DiskPressure": "node(s) had disk pressure",
}


def _by_status(view: View, key: str, reasons_of: Callable[[ConditionKey], Sequence[str]]) -> Outcome:
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

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Outcome:  # noqa: ARG002
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

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Outcome:  # noqa: ARG002
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

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> Outcome:  # noqa: ARG002
        """Fail where a label is missing (presence) or where one exists (absence)."""
        key = ("labels-presence", self.labels, self.presence)
        return narrowed(view.memo(key, lambda: self._codes(view)), view)

    def _codes(self, view: View) -> Codes | None:
        wrong = np.zeros(view.columns.size, np.bool_)
        for label in self.labels:
            wrong |= (view.columns.label(label).ids >= 0) != self.presence
        return np.where(wrong, np.int16(view.reasons.code(self.reason)), np.int16(0)) if wrong.any() else None
