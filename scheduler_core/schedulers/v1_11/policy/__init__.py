"""Policies: the predicates with their order, and the priorities with their weights."""

from scheduler_core.schedulers.v1_11.policy.profile import Profile, compile_policy
from scheduler_core.schedulers.v1_11.policy.reading import WeightedPriority

__all__ = ["Profile", "WeightedPriority", "compile_policy"]
