"""Which flavors with a topology a pod set may be assigned, by what it and its queue say of topologies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.cluster.kueue.objects import ClusterQueue, PodSet, ResourceFlavor, ResourceGroup, Topology
from scheduler_core.cluster.kueue.topology.placement import level_of
from scheduler_core.kubernetes.requests import spec_requests


def is_topology_only(queue: ClusterQueue, flavors: Mapping[str, ResourceFlavor]) -> bool:
    """Return whether all flavors of a queue have a topology: it places what asks for nothing, too."""
    names = [flavor.name for group in queue.groups for flavor in group.flavors]
    return all(name in flavors and flavors[name].topology for name in names)


def is_explicit(pod_set: PodSet) -> bool:
    """Return whether a pod set asks for a topology."""
    return pod_set.topology is not None and pod_set.topology.is_explicit


def flavor_mismatch(
    pod_set: PodSet,
    flavor: ResourceFlavor,
    group: ResourceGroup,
    topologies: Mapping[str, Topology],
    *,
    topology_only: bool,
) -> str:
    """Return why a flavor is none for a pod set, "" if it may be (checkPodSetAndFlavorMatchForTAS)."""
    if not is_explicit(pod_set):
        supports_only = flavor.topology and not topology_only
        return f'Flavor "{flavor.name}" supports only TopologyAwareScheduling' if supports_only else ""
    if not flavor.topology:
        unused = not any(resource in group.covered for resource in spec_requests(pod_set.pod_spec))
        return "" if unused else f'Flavor "{flavor.name}" does not support TopologyAwareScheduling'
    topology = topologies.get(flavor.topology)
    if topology is None:
        return f'Flavor "{flavor.name}" information missing in TAS cache'
    if _has_levels(topology, pod_set):
        return ""
    return f'Flavor "{flavor.name}" does not contain the requested level'


def _has_levels(topology: Topology, pod_set: PodSet) -> bool:
    request = pod_set.topology
    if request is None:
        return False
    slice_level = request.slice_level or topology.levels[-1]
    return level_of(topology.levels, request) in topology.levels and slice_level in topology.levels


def only_flavor(assigned: Iterable[str], flavors: Mapping[str, ResourceFlavor]) -> str:
    """Return the one flavor with a topology among those that a pod set's resources are assigned.

    Raises:
        ValueError: There is none, or more than one.
    """
    names = sorted({name for name in assigned if name in flavors and flavors[name].topology})
    if not names:
        raise ValueError("no TAS flavor assigned")
    if len(names) > 1:
        raise ValueError(f"more than one TAS flavor assigned: {', '.join(names)}")
    return names[0]
