"""The events that each plugin registered (EventsToRegister)."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.v1_37.hints import (
    default_preemption,
    dynamic_resources,
    gang_scheduling,
    inter_pod_affinity,
    node_affinity,
    node_declared_features,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    node_volume_limits,
    pod_topology_spread,
    scheduling_gates,
    taint_toleration,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from scheduler_core.v1_37.interface import Event, Registration

REGISTERED: Mapping[str, tuple[Registration, ...]] = {
    "SchedulingGates": scheduling_gates.EVENTS,
    "NodeUnschedulable": node_unschedulable.EVENTS,
    "TaintToleration": taint_toleration.EVENTS,
    "NodeAffinity": node_affinity.EVENTS,
    "NodePorts": node_ports.EVENTS,
    "NodeResourcesFit": node_resources_fit.EVENTS,
    "VolumeRestrictions": volume_restrictions.EVENTS,
    "NodeVolumeLimits": node_volume_limits.EVENTS,
    "VolumeBinding": volume_binding.EVENTS,
    "VolumeZone": volume_zone.EVENTS,
    "PodTopologySpread": pod_topology_spread.EVENTS,
    "InterPodAffinity": inter_pod_affinity.EVENTS,
    "DynamicResources": dynamic_resources.EVENTS,
    "DefaultPreemption": default_preemption.EVENTS,
    "NodeDeclaredFeatures": node_declared_features.EVENTS,
    "GangScheduling": gang_scheduling.EVENTS,
}
"""By plugin. One that is missing never rejects a pod."""


def registration_for(plugin: str, event: Event) -> Registration | None:
    """Return the plugin's registration that the event matches (framework.MatchClusterEvents)."""
    for row in REGISTERED.get(plugin, ()):
        if row.resource == event.resource and _acts(row.actions, event.action):
            return row
    return None


def _acts(registered: frozenset[str], action: str) -> bool:
    """Return whether an action is among those registered; the general Update receives every specific one."""
    return action in registered or (action.startswith("Update") and "Update" in registered)
