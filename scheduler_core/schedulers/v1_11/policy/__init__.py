"""Policies: the predicates with their order, and the priorities with their weights."""

from scheduler_core.schedulers.v1_11.policy.compiling import compile_policy

__all__ = ["compile_policy"]
