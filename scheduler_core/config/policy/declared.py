"""The fields of a pod that the registered rules read: those of the pods' class key."""

from __future__ import annotations

from scheduler_core.cluster.reads import Reads, class_fields
from scheduler_core.predicates import RULES
from scheduler_core.priorities import PRIORITIES, LabelPreference, ServiceAntiAffinity

WITH_ARGUMENTS: tuple[Reads, ...] = (LabelPreference.reads, ServiceAntiAffinity.reads)
"""The declarations of priorities that are created from a policy's arguments, and so are in no table."""


def declared_fields() -> tuple[str, ...]:
    """Return the fields of a pod that any rule declares, including those always in the class key."""
    predicates = (rule.reads for rule in RULES)
    priorities = (rule.reads for rule in PRIORITIES.values())
    return class_fields([*predicates, *priorities, *WITH_ARGUMENTS])
