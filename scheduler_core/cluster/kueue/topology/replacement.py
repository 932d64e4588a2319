"""The replacement of a failed node in a placement that stands: its pods go elsewhere, the others stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from scheduler_core.cluster.kueue.objects import TopologyRequest
from scheduler_core.cluster.kueue.topology.choice import NotFitError
from scheduler_core.cluster.kueue.topology.placement import (
    PlacedPodSet,
    TopologyGates,
    TopologyPlacement,
    assume,
    level_of,
    place_group,
)
from scheduler_core.cluster.kueue.topology.rooms import joined
from scheduler_core.cluster.kueue.topology.tree import TopologyTree
from scheduler_core.cluster.kueue.topology.usage import TopologyUsage
from scheduler_core.cluster.kueue.workload import TopologyAssignment

Standing = tuple[PlacedPodSet, TopologyAssignment]
"""A pod set with the placement that it has."""


def replace_node(
    tree: TopologyTree,
    used: TopologyUsage,
    standing: Iterable[Standing],
    node: str,
    gates: TopologyGates,
) -> TopologyPlacement:
    """Return the placements of pod sets without a failed node (findReplacementAssignment).

    Pods of a required domain stay in it, those of a broken slice in the slice's.
    """
    placement = TopologyPlacement()
    assumed: TopologyUsage = {}
    for pod_set, old in standing:
        try:
            new = _replacement(tree, (used, assumed), pod_set, old, node, gates)
        except NotFitError as error:
            placement.failed, placement.reason = pod_set.name, str(error)
            return placement
        assume(assumed, pod_set, new)
        placement.assignments[pod_set.name] = _merged(tree, new, _without(old, node))
    return placement


def _without(assignment: TopologyAssignment, node: str) -> TopologyAssignment:
    return replace(assignment, domains=tuple(row for row in assignment.domains if row[0][-1] != node))


def _replacement(
    tree: TopologyTree,
    usage: tuple[TopologyUsage, TopologyUsage],
    pod_set: PlacedPodSet,
    old: TopologyAssignment,
    node: str,
    gates: TopologyGates,
) -> TopologyAssignment:
    kept = _without(old, node)
    stale = next((key for key, _ in kept.domains if key not in tree.leaves), None)
    if stale is not None:
        raise NotFitError(
            "Cannot replace the node, because the existing topologyAssignment is invalid, "
            f"as it contains the stale domain {stale[0]}"
        )
    count = sum(number for key, number in old.domains if key[-1] == node)
    wanted = replace(pod_set, count=count)
    within = _required_domain(tree, wanted, kept)
    if within and _breaks_slice(wanted):
        wanted = replace(wanted, topology=_without_slices(wanted.topology or TopologyRequest()))
    found = place_group(tree, usage, wanted, None, gates, within)[pod_set.name]
    if not found.domains:
        raise NotFitError(f"cannot find replacement assignment for unhealthy node: {node}")
    return found


def _without_slices(request: TopologyRequest) -> TopologyRequest:
    return replace(request, slice_level="", slice_size=1)


def _breaks_slice(pod_set: PlacedPodSet) -> bool:
    """Return whether the failed node had part of a slice."""
    request = pod_set.topology
    if request is None or not request.slice_level or request.slice_size is None:
        return False
    return pod_set.count % request.slice_size != 0


def _required_domain(tree: TopologyTree, pod_set: PlacedPodSet, kept: TopologyAssignment) -> str:
    """Return the domain that the replaced pods have to be in, its values joined; "" if any will do."""
    request = pod_set.topology or TopologyRequest()
    key = level_of(tree.levels, request) or (tree.levels[-1] if pod_set.is_implied else "")
    level = tree.level(key)
    if level is None or not kept.domains:
        return ""
    if _breaks_slice(pod_set):
        return _broken_slice(tree, pod_set.count, request, kept)
    return _name(tree, kept.domains[0][0], level) if request.required else ""


def _broken_slice(
    tree: TopologyTree, missing: int, request: TopologyRequest, kept: TopologyAssignment
) -> str:
    """Return the domain whose slices the missing pods complete."""
    level = tree.level(request.slice_level)
    if level is None:
        return ""
    counts: Counter[str] = Counter()
    for key, count in kept.domains:
        counts[_name(tree, key, level)] += count
    size = request.slice_size or 1
    return next((name for name, count in counts.items() if (count + missing) % size == 0), "")


def _name(tree: TopologyTree, key: tuple[str, ...], level: int) -> str:
    """Return the name of a leaf's domain at a level; a node's is its host name alone."""
    if level == len(tree.levels) - 1:
        return joined(key)
    return joined(tree.leaves[key].values[: level + 1])


def _merged(tree: TopologyTree, new: TopologyAssignment, kept: TopologyAssignment) -> TopologyAssignment:
    counts: Counter[tuple[str, ...]] = Counter()
    for key, count in (*new.domains, *kept.domains):
        counts[key] += count
    ordered = sorted(counts.items(), key=lambda row: joined(tree.leaves[row[0]].values))
    return TopologyAssignment(new.levels, tuple(ordered))
