"""Explanations of each priority's score on one node, in words and with the node's numbers.

The table below has one row per kind of rule. A description reads the values in the Cycle and the
cluster as it was before the cycle; it decides nothing, and tests verify that its last line equals the score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from scheduler_core.priorities import RULES
from scheduler_core.priorities.balanced_allocation import BalancedResourceAllocation
from scheduler_core.priorities.base import Mapped, Priority
from scheduler_core.priorities.describe import preferences, resources, spreading
from scheduler_core.priorities.equal import Equal
from scheduler_core.priorities.image_locality import ImageLocality
from scheduler_core.priorities.inter_pod_affinity import InterPodAffinity
from scheduler_core.priorities.label_preference import LabelPreference
from scheduler_core.priorities.line import Description, Line, LineQuestion, as_dict
from scheduler_core.priorities.node_affinity import NodeAffinity
from scheduler_core.priorities.prefer_avoid_pods import NodePreferAvoidPods
from scheduler_core.priorities.resource_allocation import ResourceAllocation
from scheduler_core.priorities.resource_limits import ResourceLimits
from scheduler_core.priorities.selector_spreading import SelectorSpread
from scheduler_core.priorities.service_anti_affinity import ServiceAntiAffinity
from scheduler_core.priorities.taint_toleration import TaintToleration

DESCRIPTIONS: Mapping[type, Callable[[LineQuestion, Any], Description]] = {
    SelectorSpread: spreading.selector_spread,
    ServiceAntiAffinity: spreading.service_anti_affinity,
    InterPodAffinity: spreading.inter_pod_affinity,
    ResourceAllocation: resources.resource_allocation,
    BalancedResourceAllocation: resources.balanced,
    ResourceLimits: resources.resource_limits,
    ImageLocality: resources.image_locality,
    NodeAffinity: preferences.node_affinity,
    TaintToleration: preferences.taint_toleration,
    NodePreferAvoidPods: preferences.prefer_avoid_pods,
    LabelPreference: preferences.label_preference,
    Equal: preferences.equal,
}
"""The function that describes a rule, by the rule's class or its nearest base class."""


def describe(priority: Priority, asked: LineQuestion) -> Description:
    """Describe how a priority's score on one feasible node is computed."""
    rule = priority.steps if isinstance(priority, Mapped) else priority
    table = {**DESCRIPTIONS, **_declared()}
    return next(table[kind] for kind in type(rule).__mro__ if kind in table)(asked, rule)


@cache
def _declared() -> Mapping[type, Callable[[LineQuestion, Any], Description]]:
    """Return the functions that rules declare themselves, by the class of their steps."""
    return {
        type(rule.run.steps if isinstance(rule.run, Mapped) else rule.run): rule.describe
        for rule in RULES
        if rule.run is not None and rule.describe is not None
    }


__all__ = ["DESCRIPTIONS", "Description", "Line", "LineQuestion", "as_dict", "describe"]
