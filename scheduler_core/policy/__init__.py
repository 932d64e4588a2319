"""Policies: which predicates run in which order, which priorities with which weight."""

from scheduler_core.policy.profile import PolicyError, Profile, WeightedPriority, compile_policy

__all__ = ["PolicyError", "Profile", "WeightedPriority", "compile_policy"]
