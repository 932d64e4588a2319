"""Predicates: (pod, view) to failure codes. Policies choose from the table below.

Each module declares its own as ``RULES``; a new module in this package is found by that alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from scheduler_core.schedulers.profiles.predicate import Predicate
from scheduler_core.schedulers.v1_11.predicates.node import CheckNodeLabelPresence
from scheduler_core.schedulers.v1_11.predicates.rule import Rule
from scheduler_core.schedulers.v1_11.predicates.service import CheckServiceAffinity


def _declared() -> tuple[Rule, ...]:
    """Return the declarations of all modules, in v1.11's order; those without a place in it come last."""
    names = sorted(module.name for module in iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    found: list[Rule] = [rule for module in modules for rule in getattr(module, "RULES", ())]
    keys = Counter(rule.key for rule in found)
    places = Counter(rule.v1_11.number for rule in found if rule.v1_11 is not None)
    for what, counted in (("key", keys), ("place in v1.11's order", places)):
        twice = [one for one, times in counted.items() if times > 1]
        if twice:
            raise ValueError(f"two predicates have the same {what}: {twice}")
    return tuple(sorted(found, key=lambda rule: (rule.v1_11 is None, rule.v1_11 or (0, "", ""))))


RULES: tuple[Rule, ...] = _declared()
"""Every predicate's declaration, in v1.11's order."""

PREDICATES: Mapping[str, Predicate] = {
    name: rule.check
    for rule in RULES
    if rule.check is not None and rule.registered
    for name in (rule.key, *rule.other_names)
}
"""The predicates registered in v1.11 with default feature gates, by key; a policy's arguments create more."""

__all__ = [
    "PREDICATES",
    "RULES",
    "CheckNodeLabelPresence",
    "CheckServiceAffinity",
    "Rule",
]
