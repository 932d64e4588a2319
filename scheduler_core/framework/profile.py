"""Filter and Score plugins as what the engine runs: the predicates and priorities that they took over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from scheduler_core.framework.registry import REGISTRY
from scheduler_core.policy import Profile, compile_policy
from scheduler_core.predicates import PREDICATES

FIT, BALANCED = "NodeResourcesFit", "NodeResourcesBalancedAllocation"
OWN = frozenset({REGISTRY[FIT].priority, REGISTRY[BALANCED].priority})
"""Priorities that the framework scores itself, in 1.22's finer steps."""


@dataclass(frozen=True, slots=True)
class Scheduling:
    """``profile`` has predicates, and the priorities besides :data:`OWN`, whose weights are here."""

    profile: Profile
    fit_weight: int = 1
    balanced_weight: int = 1


@cache
def default_scheduling() -> Scheduling:
    """Return the default plugins. A node in a bad condition is left out, as its taints would have it."""
    profile = compile_policy(None)
    weights = {row.priority: row.weight for row in REGISTRY.values() if row.priority}
    rest = tuple(
        replace(priority, weight=weights.get(priority.name, priority.weight))
        for priority in profile.priorities
        if priority.name not in OWN
    )
    return Scheduling(replace(profile, priorities=rest))


def scheduling_of(points: Mapping[str, Mapping[str, int]]) -> Scheduling:
    """Compile the Filter and Score plugins of a profile's extension points, as a Policy would be."""
    predicates = [
        {"name": predicate}
        for name in points.get("filter", ())
        for predicate in REGISTRY[name].predicates
        if predicate in PREDICATES
    ]
    scores = points.get("score", {})
    priorities: list[dict[str, Any]] = [
        {"name": REGISTRY[name].priority, "weight": weight}
        for name, weight in scores.items()
        if REGISTRY[name].priority and REGISTRY[name].priority not in OWN
    ]
    profile = compile_policy({"predicates": predicates, "priorities": priorities})
    return Scheduling(profile, scores.get(FIT, 0), scores.get(BALANCED, 0))
