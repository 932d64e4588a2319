"""Priorities: (pod, feasible nodes) to scores. Policies choose from the table below.

Each module declares its own as ``RULES``; a new module in this package is found by that alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from scheduler_core.priorities.base import Mapped, Priority, Scored
from scheduler_core.priorities.inter_pod_affinity import InterPodAffinity
from scheduler_core.priorities.label_preference import LabelPreference
from scheduler_core.priorities.resource_allocation import ResourceAllocation, Shape
from scheduler_core.priorities.rule import PriorityRule
from scheduler_core.priorities.service_anti_affinity import ServiceAntiAffinity


def _declared() -> tuple[PriorityRule, ...]:
    """Return the declarations of all modules by their places."""
    names = sorted(module.name for module in iter_modules(__path__) if not module.ispkg)
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

__all__ = [
    "PRIORITIES",
    "RULES",
    "InterPodAffinity",
    "LabelPreference",
    "Mapped",
    "Priority",
    "PriorityRule",
    "ResourceAllocation",
    "Scored",
    "ServiceAntiAffinity",
    "Shape",
]
