"""Priorities: (pod, feasible nodes) to scores. Policies choose from the table below.

Each module declares its own as ``RULES``; a new module in this package is found by that alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from scheduler_core.schedulers.profiles.priority import Mapped, Priority
from scheduler_core.schedulers.v1_11.priorities.inter_pod_affinity import InterPodAffinityPriority
from scheduler_core.schedulers.v1_11.priorities.label_preference import LabelPreference
from scheduler_core.schedulers.v1_11.priorities.line import Description, LineQuestion
from scheduler_core.schedulers.v1_11.priorities.resource_allocation import FunctionShape, ResourceAllocation
from scheduler_core.schedulers.v1_11.priorities.rule import PriorityRule
from scheduler_core.schedulers.v1_11.priorities.service_anti_affinity import ServiceAntiAffinity


def _declared() -> tuple[PriorityRule, ...]:
    """Return the declarations of all modules by their places."""
    names = sorted(module.name for module in iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    found: list[PriorityRule] = [rule for module in modules for rule in getattr(module, "RULES", ())]
    for what, counted in (
        ("name", Counter(rule.name for rule in found)),
        ("place", Counter(rule.place for rule in found)),
    ):
        twice = [one for one, times in counted.items() if times > 1]
        if twice:
            raise ValueError(f"two priorities have the same {what}: {twice}")
    return tuple(sorted(found, key=lambda rule: rule.place))


RULES: tuple[PriorityRule, ...] = _declared()
"""Every priority's declaration, by place."""

PRIORITIES: Mapping[str, Priority] = {rule.name: rule.run for rule in RULES if rule.run is not None}
"""The priorities that a policy can name without an argument, by name."""

DESCRIPTIONS: Mapping[type, Callable[[LineQuestion, Any], Description]] = {
    rule.steps: rule.describe for rule in RULES if rule.describe is not None
}
"""The function that describes a score, by the class of the priority's steps or its nearest base class."""


def describe(priority: Priority, asked: LineQuestion) -> Description:
    """Describe how a priority's score on one feasible node is computed.

    A description reads the values in the Cycle and the cluster as it was before the cycle; it decides
    nothing, and tests verify that its last line equals the score.
    """
    steps = priority.steps if isinstance(priority, Mapped) else priority
    return next(DESCRIPTIONS[kind] for kind in type(steps).__mro__ if kind in DESCRIPTIONS)(asked, steps)


__all__ = [
    "DESCRIPTIONS",
    "PRIORITIES",
    "RULES",
    "FunctionShape",
    "InterPodAffinityPriority",
    "LabelPreference",
    "PriorityRule",
    "ResourceAllocation",
    "ServiceAntiAffinity",
    "describe",
]
