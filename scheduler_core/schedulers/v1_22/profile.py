"""Filter and Score as the engine runs them: the predicates and priorities that became plugins."""

from __future__ import annotations

from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.schedulers.profiles.priority import MAX_PRIORITY
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.policy.compiler import compile_policy
from scheduler_core.schedulers.v1_11.predicates.storage import CheckVolumeBinding

MAX_NODE_SCORE = 100
OWN = ("LeastRequestedPriority", "BalancedResourceAllocation")
"""Priorities that the framework scores itself, with 1.22's finer granularity: by NodeResourcesFit, and by
NodeResourcesBalancedAllocation."""
WEIGHTS = {"SelectorSpreadPriority": 2}  # its successor, PodTopologySpread, has weight 2


class Scheduling(Struct, frozen=True):
    """``profile`` has predicates and priorities; the weights belong to the plugins that replaced :data:`OWN`.

    A priority of ``own`` that the profile lists is scored with these weights instead. ``round_robin`` breaks
    ties among the best nodes in turn, as v1.11 does; without it the first node is taken.
    """

    profile: Profile
    fit_weight: int = 1  # NodeResourcesFit
    balanced_weight: int = 1  # NodeResourcesBalancedAllocation
    own: tuple[str, ...] = OWN
    round_robin: bool = False

    @property
    def scale(self) -> int:
        """Return the factor that scales the priorities' scores, 0 to 10, to those of ``own``."""
        return MAX_NODE_SCORE // MAX_PRIORITY if self.own else 1

    @property
    def others(self) -> Profile:
        """Return the profile without the priorities in ``own``."""
        rest = tuple(priority for priority in self.profile.priorities if priority.name not in self.own)
        return replace(self.profile, priorities=rest)


@cache
def default_scheduling() -> Scheduling:
    """Return the default plugins. A node with a bad condition is filtered out, as by its taints."""
    profile = compile_policy(None)
    weighted = tuple(
        replace(priority, weight=WEIGHTS.get(priority.name, priority.weight))
        for priority in profile.priorities
    )
    return Scheduling(in_framework(replace(profile, priorities=weighted)))


def in_framework(profile: Profile) -> Profile:
    """Return a Policy's profile for the framework: with the framework's preemption and with provisioning."""
    predicates = tuple(
        CheckVolumeBinding(provisions=True) if isinstance(one, CheckVolumeBinding) else one
        for one in profile.predicates
    )
    return replace(profile, predicates=predicates, framework_preemption=True)
