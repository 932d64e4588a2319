"""Where a group may be placed as a whole, and the best of several placements (topology-aware plugins)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from scheduler_core.kubernetes.requests import is_scalar
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.groups.outcome import GroupResult
from scheduler_core.schedulers.v1_37.nodes import Ints
from scheduler_core.schedulers.v1_37.plugins.hints import labels
from scheduler_core.schedulers.v1_37.plugins.node_resources_fit import NONZERO, scored_resources
from scheduler_core.schedulers.v1_37.podgroups import topology_key
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.state import ClusterState

COUNT = "PodGroupPodsCount"
FIT = "NodeResourcesFit"
_PROPORTION = 100
_UNKNOWN_DOMAIN = "cannot determine domain for already scheduled pods"


class GroupPlacement(Struct, frozen=True):
    """A set of nodes, in the order in which the scheduler walks them."""

    name: str
    nodes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """Return the record's form."""
        return {"name": self.name, "nodes": list(self.nodes)}


def node_names(cluster: ClusterState) -> list[str]:
    """Return the names of all nodes in the scheduler's order."""
    cluster.nodes.refresh()
    return [cluster.nodes.name(int(row)) for row in cluster.nodes.order]


def generate(
    cluster: ClusterState, profile: KubeSchedulerProfile, group: Manifest, bound: Sequence[CompiledPod]
) -> list[GroupPlacement]:
    """Return the placements in name order: one for each value of the topology label, or one of all nodes.

    Bound members fix the value. Raises ValueError if they do not sit under one value.
    """
    names = node_names(cluster)
    key = topology_key(group) if profile.points["placementGenerate"] else None
    if key is None:
        return [GroupPlacement("", tuple(names))]
    domain = {name: labels(cluster.objects["Node"][name]).get(key) for name in names}
    fixed = _fixed_domain(domain, bound)
    values = {value for value in domain.values() if value is not None and fixed in (None, value)}
    return [
        GroupPlacement(value, tuple(name for name in names if domain[name] == value))
        for value in sorted(values)
    ]


def _fixed_domain(domain: Mapping[str, str | None], bound: Sequence[CompiledPod]) -> str | None:
    """Return the one value under which the bound members sit; None without any."""
    fixed: str | None = None
    for pod in bound:
        if pod.node not in domain:
            why = f'getting node for pod {pod.key}: nodeinfo not found for node name "{pod.node}"'
            raise ValueError(f"{_UNKNOWN_DOMAIN}: {why}")
        value = domain[pod.node]
        if value is None:
            raise ValueError(f"{_UNKNOWN_DOMAIN}: no topology domain found for pod {pod.key}")
        if fixed and fixed != value:
            raise ValueError(f"{_UNKNOWN_DOMAIN}: more than 1 domain found for pod group: {fixed}, {value}")
        fixed = value
    return fixed


def best(
    cluster: ClusterState,
    profile: KubeSchedulerProfile,
    bound: int,
    results: Sequence[tuple[GroupPlacement, GroupResult]],
) -> tuple[int, list[dict[str, Any]]]:
    """Return the index of the best of several placements, and all scores; the first name wins a tie.

    Raises ValueError if a plugin cannot score them.
    """
    columns = {
        plugin: [
            profile.placement_weights[plugin] * score
            for score in _SCORES[plugin](cluster, profile, bound, results)
        ]
        for plugin in profile.points["placementScore"]
    }
    rows: list[dict[str, Any]] = []
    for index, (placement, _) in enumerate(results):
        scores = {plugin: column[index] for plugin, column in columns.items()}
        rows.append({"name": placement.name, "scores": scores, "total": sum(scores.values())})
    totals = [row["total"] for row in rows]
    return totals.index(max(totals)), rows


def _counts(
    cluster: ClusterState,
    profile: KubeSchedulerProfile,
    bound: int,
    results: Sequence[tuple[GroupPlacement, GroupResult]],
) -> list[int]:
    """Score by how many members would be placed, of the most that are (PodGroupPodsCount)."""
    del cluster, profile
    counts = [bound + len(result.placed) for _, result in results]
    most = max(counts)
    if not most:
        raise ValueError(
            f"running NormalizePlacementScore on PlacementScore plugins: plugin {json.dumps(COUNT)} failed "
            "with: no pods from pod group are assigned to any of the candidate placements"
        )
    return [_PROPORTION * count // most for count in counts]


def _fits(
    cluster: ClusterState,
    profile: KubeSchedulerProfile,
    bound: int,
    results: Sequence[tuple[GroupPlacement, GroupResult]],
) -> list[int]:
    del bound
    return [_most_allocated(cluster, profile, placement, result) for placement, result in results]


def _most_allocated(
    cluster: ClusterState, profile: KubeSchedulerProfile, placement: GroupPlacement, result: GroupResult
) -> int:
    """Return the allocation of the placement's nodes together, in percent, with the placed members.

    Members count with what their containers request, with defaults. A scalar resource that none of them
    requests does not count, nor what is requested on a node that has nothing of a resource (scorePlacement).
    """
    nodes = cluster.nodes
    rows = np.array([nodes.rows[name] for name in placement.nodes], np.intp)
    strategy = (profile.arguments.get(FIT) or {}).get("scoringStrategy") or {}
    total = weights = 0
    for name, weight in scored_resources(strategy.get("resources")):
        own = sum(attempt.pod.scored_nonzero.get(name, 0) for attempt in result.placed)
        whole = nodes.column(nodes.allocatable, name)[rows]
        available = int(whole.sum())
        if not available or (own == 0 and is_scalar(name)):
            continue
        used = own + int(_requested(cluster, name)[rows][whole != 0].sum())
        total += weight * (min(used, available) * _PROPORTION // available)
        weights += weight
    return total // weights if weights else 0


def _requested(cluster: ClusterState, name: str) -> Ints:
    """Return what the pods of each row count for."""
    nodes = cluster.nodes
    if name in NONZERO:
        found: Ints = nodes.nonzero[NONZERO.index(name)]
        return found
    return nodes.column(nodes.requested, name)


_SCORES: Mapping[
    str,
    Callable[
        [ClusterState, KubeSchedulerProfile, int, Sequence[tuple[GroupPlacement, GroupResult]]], list[int]
    ],
] = {FIT: _fits, COUNT: _counts}
"""The PlacementScore plugins."""
