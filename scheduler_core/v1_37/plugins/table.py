"""The plugins by their keys."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.v1_37.plugins.base import Plugin
from scheduler_core.v1_37.plugins.dynamic_resources import DynamicResources
from scheduler_core.v1_37.plugins.image_locality import ImageLocality
from scheduler_core.v1_37.plugins.inter_pod_affinity import InterPodAffinity
from scheduler_core.v1_37.plugins.node_affinity import NodeAffinity
from scheduler_core.v1_37.plugins.node_declared_features import NodeDeclaredFeatures
from scheduler_core.v1_37.plugins.node_name import NodeName
from scheduler_core.v1_37.plugins.node_ports import NodePorts
from scheduler_core.v1_37.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from scheduler_core.v1_37.plugins.node_resources_fit import NodeResourcesFit
from scheduler_core.v1_37.plugins.node_unschedulable import NodeUnschedulable
from scheduler_core.v1_37.plugins.node_volume_limits import NodeVolumeLimits
from scheduler_core.v1_37.plugins.pod_topology_spread import PodTopologySpread
from scheduler_core.v1_37.plugins.taint_toleration import TaintToleration
from scheduler_core.v1_37.plugins.volume_binding import VolumeBinding
from scheduler_core.v1_37.plugins.volume_restrictions import VolumeRestrictions
from scheduler_core.v1_37.plugins.volume_zone import VolumeZone

PLUGINS: Mapping[str, Plugin] = {
    plugin.key: plugin
    for plugin in (
        NodeName(),
        NodeUnschedulable(),
        TaintToleration(),
        NodeAffinity(),
        NodePorts(),
        NodeResourcesFit(),
        VolumeRestrictions(),
        NodeVolumeLimits(),
        VolumeBinding(),
        VolumeZone(),
        PodTopologySpread(),
        InterPodAffinity(),
        DynamicResources(),
        NodeResourcesBalancedAllocation(),
        ImageLocality(),
        NodeDeclaredFeatures(),
    )
}
"""Those that filter or score; queue and binding plugins have no code here."""
