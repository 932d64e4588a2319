"""kube-scheduler v1.11's algorithm providers: the predicates and priorities that declare them."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.schedulers.v1_11.predicates import RULES
from scheduler_core.schedulers.v1_11.priorities import RULES as PRIORITY_RULES
from scheduler_core.schedulers.v1_11.priorities.rule import AUTOSCALER_PROVIDER, DEFAULT_PROVIDER

MANDATORY_PREDICATES = tuple(rule.key for rule in RULES if rule.mandatory)
"""The predicates that always run, whether or not a policy names them."""

DEFAULT_PREDICATES = tuple(rule.key for rule in RULES if rule.default)
"""The predicates of both providers, in v1.11's order."""

PROVIDERS: Mapping[str, tuple[tuple[str, int], ...]] = {
    provider: tuple(
        (rule.name, rule.weights[provider]) for rule in PRIORITY_RULES if provider in rule.weights
    )
    for provider in (DEFAULT_PROVIDER, AUTOSCALER_PROVIDER)
}
"""v1.11's algorithm providers with their priorities; both run :data:`DEFAULT_PREDICATES`.

A scenario without a Policy runs the first. The other, which packs nodes so that an autoscaler can remove
empty ones, is expressed as a Policy.
"""

DEFAULT_PRIORITIES = PROVIDERS[DEFAULT_PROVIDER]
"""Name and weight; NodePreferAvoidPodsPriority outweighs all others together."""

"""The weight of a required affinity term of an existing pod in InterPodAffinityPriority."""
