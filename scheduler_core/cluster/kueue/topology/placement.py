"""The placement of a workload's pod sets in the topology of their flavor (TASFlavorSnapshot of v0.17.0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.cluster.kueue.objects import Amounts, TopologyRequest
from scheduler_core.cluster.kueue.topology.balance import find_balance, place_balanced
from scheduler_core.cluster.kueue.topology.choice import NotFitError, choose
from scheduler_core.cluster.kueue.topology.distribution import distribute
from scheduler_core.cluster.kueue.topology.rooms import DomainRoom, PlacementDemand, count_rooms
from scheduler_core.cluster.kueue.topology.tree import TopologyTree, add
from scheduler_core.cluster.kueue.topology.usage import TopologyUsage
from scheduler_core.cluster.kueue.workload import TopologyAssignment


class PlacedPodSet(Struct, frozen=True):
    """A pod set that a topology is to place: ``requests`` and ``spec`` of one of its pods.

    ``is_implied``: it asks for nothing, but its queue has only flavors with a topology.
    """

    name: str
    count: int
    requests: Amounts
    spec: Mapping[str, Any]
    topology: TopologyRequest | None = None
    is_implied: bool = False


class TopologyGates(Struct, frozen=True):
    """Kueue's feature gates of topology-aware scheduling, as they are by default."""

    mixed_profile: bool = True
    balanced_placement: bool = False


class TopologyPlacement(Struct):
    """The assignments by pod set; with a failure those after it are missing."""

    assignments: dict[str, TopologyAssignment] = field(default_factory=dict)
    failed: str = ""
    reason: str = ""


def place(
    tree: TopologyTree, used: TopologyUsage, pod_sets: Iterable[PlacedPodSet], gates: TopologyGates
) -> TopologyPlacement:
    """Place pod sets of one flavor in order, each beside those before it; ``used`` by other workloads."""
    placement = TopologyPlacement()
    assumed: TopologyUsage = {}
    for group in _groups(pod_sets):
        leader, workers = _leader_of(group)
        try:
            found = place_group(tree, (used, assumed), workers, leader, gates)
        except NotFitError as error:
            placement.failed, placement.reason = group[0].name, str(error)
            return placement
        placement.assignments |= found
        for pod_set in group:
            assume(assumed, pod_set, found[pod_set.name])
    return placement


def _groups(pod_sets: Iterable[PlacedPodSet]) -> list[list[PlacedPodSet]]:
    groups: dict[str | int, list[PlacedPodSet]] = {}
    for index, pod_set in enumerate(pod_sets):
        name = pod_set.topology.group if pod_set.topology else ""
        groups.setdefault(name or index, []).append(pod_set)
    return list(groups.values())


def _leader_of(group: Sequence[PlacedPodSet]) -> tuple[PlacedPodSet | None, PlacedPodSet]:
    """Return the leader, the smaller pod set of a group of two, and the workers."""
    if len(group) == 1:
        return None, group[0]
    first, second = group[:2]
    return (first, second) if second.count > first.count else (second, first)


def assume(assumed: TopologyUsage, pod_set: PlacedPodSet, assignment: TopologyAssignment) -> None:
    """Count what a pod set of the same workload takes: its requests, but not its number of pods."""
    for key, count in assignment.domains:
        add(assumed.setdefault(key, {}), pod_set.requests, count)


def place_group(
    tree: TopologyTree,
    usage: tuple[TopologyUsage, TopologyUsage],
    workers: PlacedPodSet,
    leader: PlacedPodSet | None,
    gates: TopologyGates,
    within: str = "",
) -> dict[str, TopologyAssignment]:
    """Place workers, perhaps with their leader, in a domain or anywhere. Raises :class:`NotFitError`."""
    demand = replace(demand_of(tree, workers, leader, gates), within=within)
    rooms = count_rooms(tree, demand, *usage)
    balance = None
    if gates.balanced_placement and not demand.is_required and not demand.is_unconstrained:
        balance = find_balance(rooms, demand)
    level, chosen = place_balanced(balance, demand) if balance else choose(tree, rooms, demand)
    leaves = distribute(rooms, demand, level, chosen, balanced=balance is not None)
    found = {workers.name: _assignment(tree, leaves, lambda room: room.pods)}
    if leader is not None:
        found[leader.name] = _assignment(tree, leaves, lambda room: room.leaders)
    return found


def demand_of(
    tree: TopologyTree, workers: PlacedPodSet, leader: PlacedPodSet | None, gates: TopologyGates
) -> PlacementDemand:
    """Read what a pod set asks of a topology. Raises :class:`NotFitError` for a level that it lacks."""
    request = workers.topology or TopologyRequest()
    slice_size = _slice_size(request)
    level, slice_level = _levels(tree, request, is_implied=workers.is_implied)
    unconstrained = request.unconstrained or workers.is_implied or _is_slices_only(request)
    return PlacementDemand(
        count=workers.count,
        requests=_with_pod(workers.requests),
        spec=workers.spec,
        level=level,
        slice_level=slice_level,
        slice_size=slice_size,
        leader=None if leader is None else _with_pod(leader.requests),
        is_required=bool(request.required),
        is_unconstrained=unconstrained,
        least_free=unconstrained and gates.mixed_profile,
    )


def _with_pod(requests: Amounts) -> Amounts:
    return {**requests, "pods": requests.get("pods", 0) + 1}


def _is_slices_only(request: TopologyRequest) -> bool:
    return bool(request.slice_level) and not request.required and not request.preferred


def _slice_size(request: TopologyRequest) -> int:
    if not request.slice_level:
        return 1
    if request.slice_size is None:
        raise NotFitError("slice topology requested, but slice size not provided")
    return request.slice_size


def level_of(tree_levels: Sequence[str], request: TopologyRequest) -> str:
    """Return the level at which a request wants its pods together, "" if it names none."""
    if request.required or request.preferred:
        return request.required or request.preferred
    if request.slice_level:
        return tree_levels[0]
    return tree_levels[-1] if request.unconstrained else ""


def _levels(tree: TopologyTree, request: TopologyRequest, *, is_implied: bool) -> tuple[int, int]:
    key = level_of(tree.levels, request) or (tree.levels[-1] if is_implied else "")
    slice_key = request.slice_level or tree.levels[-1]
    if not key:
        raise NotFitError("topology level not specified")
    level, slice_level = tree.level(key), tree.level(slice_key)
    if level is None:
        raise NotFitError(f"no requested topology level: {key}")
    if slice_level is None:
        raise NotFitError(f"no requested topology level for slices: {slice_key}")
    if level > slice_level:
        raise NotFitError(f"podset slice topology {slice_key} is above the podset topology {key}")
    return level, slice_level


def _assignment(tree: TopologyTree, leaves: Iterable[DomainRoom], count: Any) -> TopologyAssignment:
    ordered = sorted(leaves, key=lambda room: room.values)
    domains = tuple((room.domain.key, count(room)) for room in ordered if count(room))
    return TopologyAssignment(tree.assigned_levels, domains)
