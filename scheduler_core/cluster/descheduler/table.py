"""The strategies of both editions. A strategy is a row here."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.cluster.descheduler.classic import anti_affinity as classic_anti_affinity
from scheduler_core.cluster.descheduler.classic import low_node_utilization as classic_low_node_utilization
from scheduler_core.cluster.descheduler.classic import node_affinity as classic_node_affinity
from scheduler_core.cluster.descheduler.classic import remove_duplicates as classic_remove_duplicates
from scheduler_core.cluster.descheduler.plugins import (
    anti_affinity,
    failed_pods,
    high_node_utilization,
    low_node_utilization,
    node_affinity,
    node_taints,
    pod_life_time,
    remove_duplicates,
    too_many_restarts,
    topology_spread,
)
from scheduler_core.cluster.descheduler.strategy import Strategy

PLUGINS: Mapping[str, Strategy] = {
    module.STRATEGY.name: module.STRATEGY
    for module in (
        remove_duplicates,
        low_node_utilization,
        high_node_utilization,
        anti_affinity,
        node_affinity,
        node_taints,
        topology_spread,
        pod_life_time,
        too_many_restarts,
        failed_pods,
    )
}
"""The plugins of the current edition."""

CLASSIC_STRATEGIES: Mapping[str, Strategy] = {
    module.STRATEGY.name: module.STRATEGY
    for module in (
        classic_remove_duplicates,
        classic_low_node_utilization,
        classic_anti_affinity,
        classic_node_affinity,
    )
}
"""The strategies of v0.9.0, in the order in which they run."""
