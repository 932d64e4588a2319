"""The predicates and priorities of kube-scheduler v1.11's algorithm providers. Tables only."""

from __future__ import annotations

from scheduler_core.predicates import RULES

MANDATORY_PREDICATES = tuple(rule.key for rule in RULES if rule.mandatory)
"""The predicates that always run, whether or not a policy names them."""

DEFAULT_PREDICATES = tuple(rule.key for rule in RULES if rule.default)
"""The predicates of both providers, in v1.11's order."""

DEFAULT_PRIORITIES = (
    ("SelectorSpreadPriority", 1),
    ("InterPodAffinityPriority", 1),
    ("LeastRequestedPriority", 1),
    ("BalancedResourceAllocation", 1),
    ("NodePreferAvoidPodsPriority", 10_000),
    ("NodeAffinityPriority", 1),
    ("TaintTolerationPriority", 1),
)
"""Name and weight; NodePreferAvoidPodsPriority outweighs all others together."""

DEFAULT_HARD_POD_AFFINITY_WEIGHT = 1
"""The weight of a required affinity term of an existing pod in InterPodAffinityPriority."""

PROVIDERS = {
    "DefaultProvider": DEFAULT_PRIORITIES,
    "ClusterAutoscalerProvider": tuple(
        ("MostRequestedPriority" if name == "LeastRequestedPriority" else name, weight)
        for name, weight in DEFAULT_PRIORITIES
    ),
}
"""v1.11's algorithm providers with their priorities; both run :data:`DEFAULT_PREDICATES`.

A scenario without a Policy runs the first. The other, which packs nodes so that an autoscaler can remove
empty ones, is expressed as a Policy.
"""
