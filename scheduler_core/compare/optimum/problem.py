"""A cluster as an optimization problem: nodes, pods that are alike, and the hard rules between them.

The rules are those that a final placement has to satisfy, whatever the order in which pods arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.model import (
    HostPort,
    LabelSelector,
    Node,
    Pod,
    PodAffinityTerm,
    Requirement,
)
from scheduler_core.kubernetes.selectors import matches, node_selected, tolerates

HARD = ("NoSchedule", "NoExecute")
ANY_IP = "0.0.0.0"  # noqa: S104 - the address that a port without one has
SPREAD = "topologySpreadConstraints"
UNREAD_OF_SPREAD = ("minDomains", "matchLabelKeys", "nodeTaintsPolicy", "nodeAffinityPolicy")
Counts = Mapping[str, int]


class SpreadLimit(Struct, frozen=True):
    """A spreading constraint with DoNotSchedule."""

    key: str
    skew: int
    selector: LabelSelector


class InterchangeablePods(Struct, frozen=True):
    """Pods that no rule tells apart, pending ones and those that may move; ``home`` is where the latter are.

    ``request`` has ``pods: 1``; ``nodes`` are the places of the nodes that its own rules allow. Pods that are
    ``evictable`` may end without a node, where a pending pod of higher priority takes their room.
    """

    pods: tuple[Pod, ...]
    home: Counts
    request: Counts
    nodes: frozenset[int]
    spreads: tuple[SpreadLimit, ...]
    evictable: bool = False

    @property
    def first(self) -> Pod:
        """The pod that stands for all."""
        return self.pods[0]

    @property
    def bound(self) -> int:
        """How many of them run and must stay placed."""
        return 0 if self.evictable else self.running

    @property
    def running(self) -> int:
        """How many of them run."""
        return sum(self.home.values())

    @property
    def preempts(self) -> bool:
        """Whether they wait and may take the room of pods of lower priority."""
        return not self.home and self.first.preempts


class PackingProblem(Struct, frozen=True):
    """Nodes with what fixed pods leave free, the classes of the others, and what is left out, by name.

    ``fixed`` are the pods that stay where they are, by the place of their node.
    """

    nodes: tuple[Node, ...]
    free: tuple[Counts, ...]
    classes: tuple[InterchangeablePods, ...]
    fixed: tuple[tuple[Pod, int], ...]
    left_out: tuple[str, ...]

    def domain(self, place: int, key: str) -> str | None:
        """Return a node's value of a topology key."""
        return self.nodes[place].meta.labels.get(key)

    def domains(self, key: str) -> dict[str, list[int]]:
        """Return the places of the nodes in each domain of a topology key."""
        found: dict[str, list[int]] = {}
        for place in range(len(self.nodes)):
            value = self.domain(place, key)
            if value is not None:
                found.setdefault(value, []).append(place)
        return found


def problem_of(
    nodes: Iterable[Node], pods: Iterable[Pod], *, move: bool = False, evict: bool = False
) -> PackingProblem:
    """Return the problem of a cluster; ``move``: running pods may go to other nodes.

    ``evict``: those of lower priority than a pending pod that preempts may be evicted for it.
    """
    listed = tuple(nodes)
    index = {node.meta.name: place for place, node in enumerate(listed)}
    alive = [pod for pod in pods if not pod.terminal and (not pod.node_name or pod.node_name in index)]
    waiting = [pod.priority for pod in alive if not pod.node_name and pod.preempts]
    highest = max(waiting, default=0) if evict else None
    victims = {pod.meta.key for pod in alive if pod.node_name and waiting and _is_below(pod, highest)}
    stays = [pod for pod in alive if pod.node_name and not move and pod.meta.key not in victims]
    fixed = tuple((pod, index[pod.node_name]) for pod in stays)
    groups: dict[Any, list[Pod]] = {}
    for pod in alive:
        if move or not pod.node_name or pod.meta.key in victims:
            victim = pod.meta.key in victims
            here = pod.node_name if victim and not move else ""
            waits = evict and not pod.node_name
            groups.setdefault((victim, waits, here, _alike(pod)), []).append(pod)
    free = [dict(node.allocatable) for node in listed]
    for pod, place in fixed:
        for name, amount in request_of(pod).items():
            free[place][name] = free[place].get(name, 0) - amount
    classes = tuple(
        _class(tuple(members), listed, evictable=victim, only=index.get(here))
        for (victim, _, here, _), members in groups.items()
    )
    return PackingProblem(listed, tuple(free), classes, fixed, tuple(_left_out(alive)))


def _is_below(pod: Pod, priority: int | None) -> bool:
    return priority is not None and pod.priority < priority


def _alike(pod: Pod) -> Any:
    """Return what pods of one class have in common."""
    return (
        pod.meta.namespace,
        frozenset(pod.meta.labels.items()),
        frozenset(pod.node_selector.items()),
        repr(pod.affinity),
        pod.tolerations,
        frozenset(request_of(pod).items()),
        ports_of(pod),
        pod.priority,
        repr(_written(pod).get(SPREAD)),
        repr(pod.volumes),
    )


def request_of(pod: Pod) -> dict[str, int]:
    """Return what a pod requests: its containers, or a larger init container, and overhead; ``pods`` is 1."""
    found: dict[str, int] = {}
    for container in pod.containers:
        for name, amount in container.requests.items():
            found[name] = found.get(name, 0) + amount
    for container in pod.init_containers:
        for name, amount in container.requests.items():
            found[name] = max(found.get(name, 0), amount)
    for name, amount in pod.overhead.items():
        found[name] = found.get(name, 0) + amount
    return {name: amount for name, amount in found.items() if amount} | {"pods": 1}


def ports_of(pod: Pod) -> tuple[HostPort, ...]:
    """Return the ports of the node that a pod occupies."""
    return tuple(port for one in pod.containers for port in one.ports_taken(host_network=pod.host_network))


def ports_conflict(one: Pod, other: Pod) -> bool:
    """Return whether two pods cannot share a node because of a host port."""
    return any(
        (a.protocol, a.port) == (b.protocol, b.port) and (a.ip == b.ip or ANY_IP in (a.ip, b.ip))
        for a in ports_of(one)
        for b in ports_of(other)
    )


def selects(term: PodAffinityTerm, of: Pod, other: Pod) -> bool:
    """Return whether an affinity term of a pod selects another pod."""
    return other.meta.namespace in (term.namespaces or (of.meta.namespace,)) and matches(
        term.selector, other.meta.labels
    )


def _class(
    pods: tuple[Pod, ...], nodes: Sequence[Node], *, evictable: bool, only: int | None
) -> InterchangeablePods:
    """Return a class of pods; ``only`` is the node that they do not leave but by being evicted."""
    first = pods[0]
    allowed = frozenset(place for place, node in enumerate(nodes) if _allows(node, first))
    allowed = allowed if only is None else frozenset({only})
    home: dict[str, int] = {}
    for pod in pods:
        if pod.node_name:
            home[pod.node_name] = home.get(pod.node_name, 0) + 1
    spreads = tuple(_spreads(first))
    return InterchangeablePods(pods, home, request_of(first), allowed, spreads, evictable)


def _allows(node: Node, pod: Pod) -> bool:
    return (
        not node.unschedulable
        and node_selected(pod, node)
        and all(taint.effect not in HARD or tolerates(pod.tolerations, taint) for taint in node.taints)
    )


def _written(pod: Pod) -> Mapping[str, Any]:
    """Return the ``spec`` of the manifest or template that a pod was made from."""
    written = pod.meta.written
    spec = written.document.get("spec") if written is not None else None
    return spec if isinstance(spec, Mapping) else {}


def _constraints(pod: Pod) -> Iterator[Mapping[str, Any]]:
    for one in _written(pod).get(SPREAD) or ():
        if one.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule":
            yield one


def _spreads(pod: Pod) -> Iterator[SpreadLimit]:
    for one in _constraints(pod):
        selector = one.get("labelSelector") or {}
        expressions = tuple(
            Requirement(part["key"], part["operator"], tuple(part.get("values") or ()))
            for part in selector.get("matchExpressions") or ()
        )
        labels = LabelSelector(selector.get("matchLabels") or {}, expressions)
        yield SpreadLimit(str(one["topologyKey"]), int(one.get("maxSkew", 1)), labels)


def _left_out(pods: Iterable[Pod]) -> Iterator[str]:
    """Yield what the problem does not know of and the pods have."""
    found: dict[str, int] = {}
    for pod in pods:
        for name in _unmodelled(pod):
            found[name] = found.get(name, 0) + 1
    for name, count in found.items():
        yield f"{name} ({count:,} {'pod' if count == 1 else 'pods'})"


def _unmodelled(pod: Pod) -> Iterator[str]:
    if any(volume.claim or volume.gce_pd or volume.aws_ebs or volume.azure_disk for volume in pod.volumes):
        yield "volumes: limits, zones and bindings"
    if _written(pod).get("resourceClaims"):
        yield "devices of resourceClaims"
    for one in _constraints(pod):
        yield from (f"{SPREAD}.{name}" for name in UNREAD_OF_SPREAD if one.get(name) is not None)
    affinity = _written(pod).get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        for term in (affinity.get(kind) or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ():
            for name in ("namespaceSelector", "matchLabelKeys", "mismatchLabelKeys"):
                if term.get(name) is not None:
                    yield f"{kind}.{name}"
    if pod.pod_group:
        yield "PodGroups: a gang may be placed in part"
