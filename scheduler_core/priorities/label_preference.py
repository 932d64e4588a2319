"""A policy's ``labelPreference``: prefer nodes with, or without, a label."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.reads import Reads
from scheduler_core.cluster.view import Scope, View
from scheduler_core.objects.arrays import IntVector
from scheduler_core.priorities.base import MAX_PRIORITY, MapOnly
from scheduler_core.priorities.rule import TENTHS, PriorityRule, ScorePlugin


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


RULES = (
    PriorityRule(
        name="labelPreference",
        place=200,
        made=LabelPreference,
        argument="labelPreference: {label: disk, presence: true}",
        formula="10 if the node has the label (has it not, for presence: false), else 0.",
        plugins=(ScorePlugin("NodeLabel", TENTHS),),
    ),
)
