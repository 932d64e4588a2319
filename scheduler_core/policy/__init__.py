"""Policies: which predicates run in which order, which priorities with which weight."""

from scheduler_core.policy.profile import PolicyError, Profile, compile_policy
from scheduler_core.policy.reading import WeightedPriority

__all__ = ["PolicyError", "Profile", "WeightedPriority", "compile_policy"]
