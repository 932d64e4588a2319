"""The fields of a pod that the registered rules read: those of the pods' class key."""

from __future__ import annotations

from scheduler_core.schedulers.columns.reads import class_fields
from scheduler_core.schedulers.v1_11.predicates import RULES
from scheduler_core.schedulers.v1_11.priorities import RULES as PRIORITY_RULES


def declared_fields() -> tuple[str, ...]:
    """Return the fields of a pod that any rule declares, including those always in the class key."""
    return class_fields([*(rule.reads for rule in RULES), *(rule.reads for rule in PRIORITY_RULES)])
