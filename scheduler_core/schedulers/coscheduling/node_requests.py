"""The requests of the pods on each node, kept up to date for repeated resource checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scheduler_core.kubernetes.model import Resources
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.coscheduling.resource_check import PODS, NodeResources, pod_requests


class RequestedByNode:
    """Sums by node, computed on first use and recomputed only for nodes whose pods changed."""

    def __init__(self) -> None:
        self._generation = -1
        self._position = 0  # how many entries of the cluster's ``touched`` were processed
        self._sums: dict[int, Resources] = {}

    def nodes(self, cluster: Cluster, members: Sequence[PodState]) -> Iterator[NodeResources]:
        """Yield the nodes in order, each with the requests of its pods except those of ``members``."""
        columns = cluster.columns
        self._follow(cluster)
        own: dict[int, list[PodState]] = {}
        for state in members:
            own.setdefault(state.node, []).append(state)
        for place, node in enumerate(columns.nodes):
            requested = self._sums.get(place)
            if requested is None:
                requested = self._sums[place] = _sum(cluster.residents[place].values())
            if place in own:
                requested = _less(requested, own[place])
            yield NodeResources(node.meta.name, node.allocatable, requested)

    def _follow(self, cluster: Cluster) -> None:
        touched = cluster.touched
        if self._generation != cluster.generation or len(touched) < self._position:
            self._generation = cluster.generation
            self._sums.clear()
        else:
            for place in touched[self._position :]:
                self._sums.pop(place, None)
        self._position = len(touched)


def _sum(states: Iterable[PodState]) -> dict[str, int]:
    requested = {PODS: 0}
    for state in states:
        _add(requested, state, 1)
    return requested


def _less(requested: Resources, states: Iterable[PodState]) -> dict[str, int]:
    left = dict(requested)
    for state in states:
        _add(left, state, -1)
    return left


def _add(requested: dict[str, int], state: PodState, sign: int) -> None:
    requested[PODS] += sign
    for resource, amount in pod_requests(state.pod).items():
        requested[resource] = requested.get(resource, 0) + sign * amount
