"""Priorities: (pod, feasible nodes) to scores. Policies choose from the table below."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.priorities.balanced_allocation import BalancedResourceAllocation
from scheduler_core.priorities.base import Mapped, Priority, Scored
from scheduler_core.priorities.equal import Equal
from scheduler_core.priorities.image_locality import ImageLocality
from scheduler_core.priorities.inter_pod_affinity import InterPodAffinity
from scheduler_core.priorities.label_preference import LabelPreference
from scheduler_core.priorities.node_affinity import NodeAffinity
from scheduler_core.priorities.prefer_avoid_pods import NodePreferAvoidPods
from scheduler_core.priorities.resource_allocation import (
    ResourceAllocation,
    Shape,
    least_requested,
    most_requested,
)
from scheduler_core.priorities.resource_limits import ResourceLimits
from scheduler_core.priorities.selector_spreading import SelectorSpread, ServiceSpread
from scheduler_core.priorities.service_anti_affinity import ServiceAntiAffinity
from scheduler_core.priorities.taint_toleration import TaintToleration

PRIORITIES: Mapping[str, Priority] = {
    "SelectorSpreadPriority": Mapped(SelectorSpread()),
    "ServiceSpreadingPriority": Mapped(ServiceSpread()),
    "InterPodAffinityPriority": InterPodAffinity(),
    "LeastRequestedPriority": Mapped(ResourceAllocation(least_requested)),
    "MostRequestedPriority": Mapped(ResourceAllocation(most_requested)),
    "RequestedToCapacityRatioPriority": Mapped(ResourceAllocation(Shape())),
    "BalancedResourceAllocation": Mapped(BalancedResourceAllocation()),
    "NodePreferAvoidPodsPriority": Mapped(NodePreferAvoidPods()),
    "NodeAffinityPriority": Mapped(NodeAffinity()),
    "TaintTolerationPriority": Mapped(TaintToleration()),
    "ImageLocalityPriority": Mapped(ImageLocality()),
    "EqualPriority": Mapped(Equal()),
    "ResourceLimitsPriority": Mapped(ResourceLimits()),
}
"""The priorities that a policy can name without an argument, by name."""

__all__ = [
    "PRIORITIES",
    "InterPodAffinity",
    "LabelPreference",
    "Mapped",
    "Priority",
    "ResourceAllocation",
    "Scored",
    "ServiceAntiAffinity",
    "Shape",
]
