"""How many pods and slices each domain of a topology has room for, from the leaves upwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from scheduler_core.cluster.kueue.objects import Amounts
from scheduler_core.cluster.kueue.topology.tree import Domain, TopologyTree, subtract
from scheduler_core.cluster.kueue.topology.usage import TopologyUsage, count_in, quotient, remaining
from scheduler_core.cluster.v1_37.objects import Manifest, labels_of, taints_of, term_matches, tolerates


class DomainRoom(Struct, eq=False):
    """A domain's room for pods and slices; while they are assigned, how many it gets.

    ``leaders`` is 1 if the group's leader fits, and the counts with a leader are what is left beside it.
    """

    domain: Domain
    children: list[DomainRoom] = field(default_factory=list)
    pods: int = 0
    slices: int = 0
    leaders: int = 0
    pods_with_leader: int = 0
    slices_with_leader: int = 0

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the domain's levels, by which equal rooms are ordered."""
        return self.domain.values


class PlacementDemand(Struct, frozen=True):
    """What is to be placed together, and the rules of its placement, levels as depths.

    ``leader``: the requests of the pod that goes with the others. ``within``: the domain that a
    replacement has to be in, its values joined. ``least_free``: the fullest domains first, not the best fit.
    """

    count: int
    requests: Mapping[str, int]
    spec: Mapping[str, Any]
    level: int
    slice_level: int
    slice_size: int = 1
    leader: Mapping[str, int] | None = None
    is_required: bool = False
    is_unconstrained: bool = False
    least_free: bool = False
    within: str = ""

    @property
    def slices(self) -> int:
        """The number of slices."""
        return self.count // self.slice_size

    @property
    def leaders(self) -> int:
        """The number of leaders."""
        return int(self.leader is not None)


class Exclusions(Struct):
    """The leaves that hold no pod, counted by reason."""

    total: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        if not self.reasons:
            return ""
        listed = ", ".join(sorted(f"{reason}: {count}" for reason, count in self.reasons.items()))
        return f". Total nodes: {self.total}; excluded: {listed}"


class Rooms(Struct, frozen=True):
    """The rooms of all domains for one demand, those of each level in the order of their values."""

    levels: tuple[list[DomainRoom], ...]
    excluded: Exclusions


def count_rooms(
    tree: TopologyTree, demand: PlacementDemand, used: TopologyUsage, assumed: TopologyUsage
) -> Rooms:
    """Count the rooms of a tree; ``assumed`` is what earlier pod sets of the workload take."""
    rooms = Rooms(tuple([] for _ in tree.levels), Exclusions())
    context = _Leaves(tree, demand, (used, assumed), rooms)
    for root in tree.roots:
        context.count(root, 0)
    return rooms


class _Leaves(Struct, frozen=True):
    tree: TopologyTree
    demand: PlacementDemand
    used: tuple[TopologyUsage, TopologyUsage]
    rooms: Rooms

    def count(self, domain: Domain, depth: int) -> DomainRoom:
        room = DomainRoom(domain)
        self.rooms.levels[depth].append(room)
        if depth < len(self.tree.levels) - 1:
            room.children = [self.count(child, depth + 1) for child in domain.children]
        else:
            self._count_leaf(room)
        total(room, depth, self.demand)
        return room

    def _count_leaf(self, room: DomainRoom) -> None:
        excluded = self.rooms.excluded
        excluded.total += 1
        node, tolerations = room.domain.node, self.tree.tolerations
        reason = "" if node is None else _reason_against_node(node, self.demand.spec, tolerations)
        if not reason and not joined(room.values).startswith(self.demand.within):
            reason = "topologyDomain"
        if reason:
            excluded.reasons[reason] += 1
            return
        left = remaining(self.tree, room.domain.key, *self.used)
        room.pods, limiting = count_in(self.demand.requests, left)
        if room.pods == 0:
            excluded.reasons[f'resource "{limiting}"'] += 1
        self._seat_leader(room, left)

    def _seat_leader(self, room: DomainRoom, left: Amounts) -> None:
        leader = self.demand.leader
        if leader is not None and count_in(leader, left)[0] > 0:
            room.leaders = 1
            subtract(left, leader)
        room.pods_with_leader = count_in(self.demand.requests, left)[0]


def joined(values: Iterable[str]) -> str:
    """Return a domain's name as Kueue compares it, which "b1" of "b10" is a beginning of."""
    return ",".join(values)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _reason_against_node(
    node: Manifest, spec: Mapping[str, Any], tolerations: Iterable[Mapping[str, Any]]
) -> str:
    """Return why a pod may not run on a node, "" if it may."""
    tolerated = [*(spec.get("tolerations") or ()), *tolerations]
    for taint in taints_of(node):
        if taint.get("effect") in ("NoSchedule", "NoExecute") and not any(
            tolerates(one, taint) for one in tolerated
        ):
            return f'taint "{taint_text(taint)}"'
    labels = labels_of(node)
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return "nodeSelector"
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED)
    if required is not None and not any(
        term_matches(term, node) for term in required.get("nodeSelectorTerms") or ()
    ):
        return "affinity"
    return ""


def taint_text(taint: Mapping[str, Any]) -> str:
    """Return a taint as ``kubectl taint`` writes it (Taint.ToString)."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def total(room: DomainRoom, depth: int, demand: PlacementDemand) -> None:
    """Sum up the rooms of a domain's children, and make slices at the level of slices.

    A leader takes room of one child only: of the child that loses least by it.
    """
    if room.children:
        room.pods = sum(child.pods for child in room.children)
        room.slices = sum(child.slices for child in room.children)
        room.leaders = max(child.leaders for child in room.children)
        room.pods_with_leader = room.pods - min(c.pods - c.pods_with_leader for c in room.children)
        room.slices_with_leader = room.slices - min(c.slices - c.slices_with_leader for c in room.children)
    if depth == demand.slice_level:
        room.slices = quotient(room.pods, demand.slice_size)
        room.slices_with_leader = quotient(room.pods_with_leader, demand.slice_size)


def descendants(rooms: Iterable[DomainRoom]) -> Iterator[DomainRoom]:
    """Yield the children of rooms, parent by parent."""
    for room in rooms:
        yield from room.children
