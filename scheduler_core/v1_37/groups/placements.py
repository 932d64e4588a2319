"""Where a group may be placed as a whole, and the best of several placements (topology-aware plugins)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.v1_37.change import Manifest
from scheduler_core.v1_37.config import Profile
from scheduler_core.v1_37.groups.outcome import GroupResult
from scheduler_core.v1_37.hints.common import labels, status
from scheduler_core.v1_37.podgroups import topology_key
from scheduler_core.v1_37.pods import Pod
from scheduler_core.v1_37.requests import amounts
from scheduler_core.v1_37.state import Cluster

COUNT = "PodGroupPodsCount"
FIT = "NodeResourcesFit"
_DEFAULT_RESOURCES = ({"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1})
_PROPORTION = 100
_UNKNOWN_DOMAIN = "cannot determine domain for already scheduled pods"


class Placement(Struct, frozen=True):
    """A set of nodes, in the order in which the scheduler walks them."""

    name: str
    nodes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """Return the record's form."""
        return {"name": self.name, "nodes": list(self.nodes)}


def node_names(cluster: Cluster) -> list[str]:
    """Return the names of all nodes in the scheduler's order."""
    cluster.nodes.refresh()
    return [cluster.nodes.name(int(row)) for row in cluster.nodes.order]


def generate(cluster: Cluster, group: Manifest, bound: Sequence[Pod]) -> list[Placement]:
    """Return the placements in name order: one for each value of the topology label, or one of all nodes.

    Bound members fix the value. Raises ValueError if they do not sit under one value.
    """
    names = node_names(cluster)
    key = topology_key(group)
    if key is None:
        return [Placement("", tuple(names))]
    domain = {name: labels(cluster.objects["Node"][name]).get(key) for name in names}
    fixed = _fixed_domain(domain, bound)
    values = {value for value in domain.values() if value is not None and fixed in (None, value)}
    return [
        Placement(value, tuple(name for name in names if domain[name] == value)) for value in sorted(values)
    ]


def _fixed_domain(domain: Mapping[str, str | None], bound: Sequence[Pod]) -> str | None:
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
    cluster: Cluster, profile: Profile, bound: int, results: Sequence[tuple[Placement, GroupResult]]
) -> tuple[int, list[dict[str, Any]]]:
    """Return the index of the best of several placements, and all scores; the first name wins a tie."""
    counts = [bound + len(result.placed) for _, result in results]
    most = max(counts)
    rows: list[dict[str, Any]] = []
    totals: list[int] = []
    for (placement, result), count in zip(results, counts):
        scores: dict[str, int] = {}
        if profile.has(FIT, "placementScore"):
            scores[FIT] = _most_allocated(cluster, profile, placement, result)
        if profile.has(COUNT, "placementScore"):
            scores[COUNT] = _PROPORTION * count // most if most else 0
        totals.append(sum(scores.values()))
        rows.append({"name": placement.name, "scores": scores, "total": totals[-1]})
    return totals.index(max(totals)), rows


def _most_allocated(cluster: Cluster, profile: Profile, placement: Placement, result: GroupResult) -> int:
    """Return the allocation of the placement's nodes together, in percent, with the placed members."""
    nodes = set(placement.nodes)
    pods = [pod for pod in cluster.present() if pod.node in nodes]
    pods += [attempt.pod for attempt in result.placed]
    strategy = (profile.arguments.get(FIT) or {}).get("scoringStrategy") or {}
    total = weights = 0
    allocatable = [
        amounts(status(cluster.objects["Node"][name]).get("allocatable")) for name in placement.nodes
    ]
    resources: Sequence[Mapping[str, Any]] = strategy.get("resources") or _DEFAULT_RESOURCES
    for resource in resources:
        name, weight = str(resource["name"]), int(resource.get("weight") or 1)
        available = sum(own.get(name, 0) for own in allocatable)
        if available == 0:
            continue
        used = sum(_counted(pod, name) for pod in pods)
        total += weight * (min(used, available) * _PROPORTION // available)
        weights += weight
    return total // weights if weights else 0


def _counted(pod: Pod, resource: str) -> int:
    if resource == "cpu":
        return pod.held_nonzero[0]
    if resource == "memory":
        return pod.held_nonzero[1]
    return pod.held.get(resource, 0)
