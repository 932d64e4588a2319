"""A policy's ``labelPreference``: prefer nodes with, or without, a label."""

from __future__ import annotations

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.policy_argument import PolicyArgument
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.priority import MAX_PRIORITY, MapOnly, Mapped
from scheduler_core.schedulers.v1_11.priorities.line import EVERY, Description, FormulaLine, LineQuestion
from scheduler_core.schedulers.v1_11.priorities.rule import TENTHS, PriorityRule, ScorePlugin


class LabelPreference(MapOnly):
    """Score 10 if the label's existence is as wanted (priorities.NodeLabelPrioritizer)."""

    scope = Scope.OBJECTS
    reads = Reads(node=("labels",))

    def __init__(self, label: str, *, presence: bool) -> None:
        self.label = label
        self.presence = presence

    def map(self, pod: PodInfo, view: View) -> IntVector:  # noqa: ARG002
        """Return 10 where the label's presence is as configured, otherwise 0."""
        exists = view.take(view.columns.label(self.label).ids) >= 0
        return np.where(exists == self.presence, MAX_PRIORITY, 0)


def _describe(asked: LineQuestion, rule: LabelPreference) -> Description:
    """Describe whether the node has the label."""
    has = rule.label in asked.cluster.columns.nodes[asked.node].meta.labels
    wanted = "with" if rule.presence else "without"
    finding = "the node has the label" if has else "the node does not have the label"
    line = FormulaLine(rule.label, finding, "", EVERY if has == rule.presence else "0")
    return Description(f"Nodes {wanted} the label {rule.label}.", (line,))


RULES = (
    PriorityRule(
        name="labelPreference",
        place=210,
        made=LabelPreference,
        argument=PolicyArgument(
            "labelPreference",
            ("label", "presence"),
            "{label: disk, presence: true}",
            lambda label, presence: Mapped(LabelPreference(label, presence=presence)),
        ),
        formula="10 if the node has the label (has it not, for presence: false), else 0.",
        plugins=(ScorePlugin("NodeLabel", TENTHS),),
        describe=_describe,
    ),
)
