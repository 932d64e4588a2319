"""At which level of a topology, and in which of its domains, pods are placed: the nearest that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from scheduler_core.cluster.kueue.topology.rooms import DomainRoom, PlacementDemand, Rooms
from scheduler_core.cluster.kueue.topology.tree import TopologyTree

Measure = Callable[[DomainRoom], int]


class NotFitError(Exception):
    """Raised with the reason why a topology does not hold a pod set."""


def slices_of(room: DomainRoom) -> int:
    """Return the slices that a domain holds without a leader."""
    return room.slices


def slices_beside_leader(room: DomainRoom) -> int:
    """Return the slices that a domain holds beside a leader."""
    return room.slices_with_leader


def best_fit(rooms: Sequence[DomainRoom], needed: int, measure: Measure) -> DomainRoom:
    """Return the smallest room that suffices, of equal ones the first; without one the first of all."""
    best = rooms[0]
    for room in rooms:
        if needed <= measure(room) < measure(best):
            best = room
    return best


def by_room(rooms: Iterable[DomainRoom], *, least_free: bool) -> list[DomainRoom]:
    """Sort by slices, most first (or fewest), then by the fewest pods left over, then by values."""
    sign = 1 if least_free else -1
    return sorted(rooms, key=lambda room: (sign * room.slices, room.pods, room.values))


def by_room_with_leader(rooms: Iterable[DomainRoom], *, least_free: bool) -> list[DomainRoom]:
    """Sort as :func:`by_room` does, by what is left beside a leader, and rooms for a leader first."""
    sign = 1 if least_free else -1
    return sorted(
        rooms, key=lambda r: (-r.leaders, sign * r.slices_with_leader, r.pods_with_leader, r.values)
    )


def choose(tree: TopologyTree, rooms: Rooms, demand: PlacementDemand) -> tuple[int, list[DomainRoom]]:
    """Return the level and the domains that hold a demand: one, or several if none does alone.

    A preferred level that has no such domain is given up for the one above. Several domains are of the
    highest level, or of the lowest if nothing is asked for. Raises :class:`NotFitError`.
    """
    level = demand.level
    while True:
        if not rooms.levels[level]:
            raise NotFitError(f"no topology domains at level: {tree.levels[level]}")
        ordered = by_room_with_leader(rooms.levels[level], least_free=demand.least_free)
        one, is_enough = _one(ordered, demand)
        if is_enough:
            return level, [one]
        if demand.is_required:
            raise NotFitError(misfit(tree, rooms, demand, one.pods if demand.least_free else one.slices))
        if level == 0 or demand.is_unconstrained:
            return level, _several(tree, rooms, demand, ordered)
        level -= 1


def _one(ordered: Sequence[DomainRoom], demand: PlacementDemand) -> tuple[DomainRoom, bool]:
    """Return the best domain for everything, and whether it holds it.

    The best fit may be one that has no room for the leader, though others have.
    """
    if demand.least_free:
        alone = next((room for room in ordered if room.slices >= demand.slices), None)
        return alone or ordered[-1], alone is not None
    one = ordered[0]
    if _holds_all(one, demand):
        one = best_fit(ordered, demand.slices, slices_beside_leader if demand.leaders else slices_of)
    return one, _holds_all(one, demand)


def _holds_all(room: DomainRoom, demand: PlacementDemand) -> bool:
    return room.slices_with_leader >= demand.slices and room.leaders >= demand.leaders


def _several(
    tree: TopologyTree, rooms: Rooms, demand: PlacementDemand, ordered: Sequence[DomainRoom]
) -> list[DomainRoom]:
    """Return the domains that hold everything together: the leader's first, then by their room."""
    taken: list[DomainRoom] = []
    missing, leaders, at = demand.slices, demand.leaders, 0
    while leaders > 0 and at < len(ordered) and ordered[at].leaders > 0:
        room = _next(ordered[at:], missing, demand, slices_beside_leader)
        taken.append(room)
        leaders, missing, at = leaders - room.leaders, missing - room.slices_with_leader, at + 1
    if leaders > 0:
        raise NotFitError(misfit(tree, rooms, demand, demand.leaders - leaders))
    rest = by_room(ordered[at:], least_free=demand.least_free)
    for index in range(len(rest)):
        if missing <= 0:
            break
        room = _next(rest[index:], missing, demand, slices_of)
        taken.append(room)
        missing -= room.slices
    if missing > 0:
        raise NotFitError(misfit(tree, rooms, demand, demand.slices - missing))
    return taken


def _next(rooms: Sequence[DomainRoom], missing: int, demand: PlacementDemand, measure: Measure) -> DomainRoom:
    """Return the first room, or the best fit if the first holds all that is missing."""
    if demand.least_free or measure(rooms[0]) < missing:
        return rooms[0]
    return best_fit(rooms, missing, measure)


def misfit(tree: TopologyTree, rooms: Rooms, demand: PlacementDemand, room: int) -> str:
    """Return the reason that a topology has room for too few pods or slices."""
    unit = "pod" if demand.slice_size == 1 else "slice"
    verdict = (
        f"allows to fit only {room} out of {demand.slices}"
        if room
        else f"doesn't allow to fit any of {demand.slices}"
    )
    return f'topology "{tree.name}" {verdict} {unit}(s){rooms.excluded}'
