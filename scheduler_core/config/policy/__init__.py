"""Policies: which predicates run in which order, which priorities with which weight."""

from scheduler_core.config.policy.profile import PolicyError, Profile, compile_policy
from scheduler_core.config.policy.reading import WeightedPriority

__all__ = ["PolicyError", "Profile", "WeightedPriority", "compile_policy"]
