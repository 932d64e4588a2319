"""Filter and Score as what the engine runs: the predicates and priorities that the plugins took over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from scheduler_core.policy import Profile, compile_policy

OWN = frozenset({"LeastRequestedPriority", "BalancedResourceAllocation"})
"""Priorities that the framework scores itself, in 1.22's finer steps."""
WEIGHTS = {"SelectorSpreadPriority": 2}  # its heir, PodTopologySpread, weighs 2


@dataclass(frozen=True, slots=True)
class Scheduling:
    """``profile`` has predicates and priorities; the weights are those of what :data:`OWN` became.

    A priority of :data:`OWN` that the profile lists is left to these weights.
    """

    profile: Profile
    fit_weight: int = 1  # NodeResourcesFit
    balanced_weight: int = 1  # NodeResourcesBalancedAllocation

    @property
    def others(self) -> Profile:
        """Return the profile with the priorities besides :data:`OWN`."""
        rest = tuple(priority for priority in self.profile.priorities if priority.name not in OWN)
        return replace(self.profile, priorities=rest)


@cache
def default_scheduling() -> Scheduling:
    """Return the default plugins. A node in a bad condition is left out, as its taints would have it."""
    profile = compile_policy(None)
    weighted = tuple(
        replace(priority, weight=WEIGHTS.get(priority.name, priority.weight))
        for priority in profile.priorities
    )
    return Scheduling(replace(profile, priorities=weighted))
