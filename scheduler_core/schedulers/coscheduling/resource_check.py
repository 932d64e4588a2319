"""The cluster resource check of PreFilter: minResources against the free resources of all nodes together.

It is a sum over nodes: fragmentation, taints and affinity are not considered, and an overcommitted node
*increases* the need (core.CheckClusterResource).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from scheduler_core.kubernetes.model import Node, Pod, Resources
from scheduler_core.kubernetes.resources import is_scalar

PODS = "pods"


class NodeResources(Struct, frozen=True):
    """A node's allocatable and requested resources, by name, excluding the group's own members.

    cpu is in millicores, the others in base units; ``requested["pods"]`` is the number of pods.
    """

    name: str
    allocatable: Resources
    requested: Resources

    def left(self, resource: str) -> int:
        """Return allocatable minus requested; negative if the node is overcommitted."""
        if resource not in _BASIC and (resource not in self.allocatable or not is_scalar(resource)):
            return 0  # not offered, or of a name that no node accounts for: neither free nor missing
        return self.allocatable.get(resource, 0) - self.requested.get(resource, 0)


_BASIC = frozenset({"cpu", "memory", "ephemeral-storage", PODS})


class ResourceRow(Struct, frozen=True, rename="camel"):
    """One resource that was still needed when its node was checked."""

    resource: str
    allocatable: int
    requested: int
    left: int
    need_before: int
    need_after: int  # 0 or less: met, and removed from the need


class NodeRow(Struct, frozen=True):
    """The check of one node: a row for each resource still needed."""

    node: str
    resources: tuple[ResourceRow, ...]


class ResourceCheck(Struct, frozen=True):
    """The numbers of a check. ``gap`` is the need that remains after all nodes; empty means enough."""

    need: Resources
    rows: tuple[NodeRow, ...] = ()
    gap: Resources = field(default_factory=dict)

    @property
    def enough(self) -> bool:
        """Return whether no need remains, after at least one node."""
        return bool(self.rows) and not self.gap


def check_cluster_resources(nodes: Iterable[NodeResources], need: Mapping[str, int]) -> ResourceCheck:
    """Subtract each node's free resources from the need, in turn, until no need remains.

    Even a need that is empty or without a positive amount is only met at the first node: a cluster without
    nodes never has enough.
    """
    missing = dict(need)
    rows: list[NodeRow] = []
    for node in nodes:
        resources: list[ResourceRow] = []
        for resource, before in sorted(missing.items()):
            left = node.left(resource)
            after = before - left
            resources.append(
                ResourceRow(
                    resource,
                    node.allocatable.get(resource, 0),
                    node.requested.get(resource, 0),
                    left,
                    before,
                    after,
                )
            )
            if after > 0:
                missing[resource] = after
            else:
                del missing[resource]
        rows.append(NodeRow(node.name, tuple(resources)))
        if not missing:
            break
    return ResourceCheck(dict(need), tuple(rows), missing)


def node_resources(
    nodes: Iterable[Node], pods: Mapping[str, Iterable[Pod]], group: str
) -> Iterator[NodeResources]:
    """Yield each node with the requests of its pods, except those of the group with this key.

    ``pods`` maps a node's name to the pods on it, including assumed ones. With the key "" the pods without
    a group are excluded, as the plugin compares keys.
    """
    for node in nodes:
        requested: dict[str, int] = {PODS: 0}
        for pod in pods.get(node.meta.name, ()):
            key = f"{pod.meta.namespace}/{pod.pod_group}" if pod.pod_group else ""
            if key == group:
                continue
            requested[PODS] += 1
            for resource, amount in pod_requests(pod).items():
                requested[resource] = requested.get(resource, 0) + amount
        yield NodeResources(node.meta.name, node.allocatable, requested)


def pod_requests(pod: Pod) -> dict[str, int]:
    """Return a pod's requests: the larger of its containers' sum and any init container, plus overhead.

    The rule of NodeInfo in Kubernetes 1.22 (framework.calculateResource).
    """
    total: dict[str, int] = {}
    for container in pod.containers:
        for resource, amount in container.requests.items():
            total[resource] = total.get(resource, 0) + amount
    for container in pod.init_containers:
        for resource, amount in container.requests.items():
            total[resource] = max(total.get(resource, 0), amount)
    for resource, amount in pod.overhead.items():
        total[resource] = total.get(resource, 0) + amount
    return total
