"""What all registered rules read of a pod together: the fields that make a class of pods."""

from __future__ import annotations

from scheduler_core.cluster.reads import Reads, class_fields
from scheduler_core.predicates import PREDICATES, CheckNodeLabelPresence, CheckServiceAffinity
from scheduler_core.predicates.configured import AddedNodeAffinity, CheckNodeUnschedulable
from scheduler_core.priorities import PRIORITIES, LabelPreference, ServiceAntiAffinity

WITH_ARGUMENTS: tuple[Reads, ...] = (
    CheckNodeLabelPresence.reads,
    CheckServiceAffinity.reads,
    CheckNodeUnschedulable.reads,
    AddedNodeAffinity.reads,
    LabelPreference.reads,
    ServiceAntiAffinity.reads,
)
"""Of the rules that are made of a policy's arguments and so are in none of the tables."""


def declared_fields() -> tuple[str, ...]:
    """Return the fields of a pod that some rule declares, those that always make a class included."""
    predicates = (rule.reads for rule in PREDICATES.values())
    priorities = (rule.reads for rule in PRIORITIES.values())
    return class_fields([*predicates, *priorities, *WITH_ARGUMENTS])
