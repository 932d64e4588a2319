"""How pods are distributed from the chosen domains down to the leaves, over as few domains as possible."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from scheduler_core.cluster.kueue.topology.choice import (
    Measure,
    best_fit,
    by_room,
    slices_beside_leader,
    slices_of,
)
from scheduler_core.cluster.kueue.topology.rooms import DomainRoom, PlacementDemand, Rooms, descendants
from scheduler_core.cluster.kueue.topology.usage import quotient


def distribute(
    rooms: Rooms, demand: PlacementDemand, level: int, chosen: list[DomainRoom], *, balanced: bool
) -> list[DomainRoom]:
    """Return the leaves with what each is assigned; rooms become what is assigned to them.

    Above the level of slices the children of all chosen domains are taken together, from there down, and in
    a balanced placement everywhere, each parent passes on its own.
    """
    chosen = assign(chosen, demand, demand.count, demand.leaders, demand.slice_size, by_slices=True)
    lowest = len(rooms.levels) - 1
    while level < min(lowest, demand.slice_level) and not balanced:
        below = by_room(descendants(chosen), least_free=demand.least_free)
        chosen = assign(below, demand, demand.count, demand.leaders, demand.slice_size, by_slices=True)
        level += 1
    while level < lowest:
        size = 1 if level >= demand.slice_level else demand.slice_size
        chosen = [child for parent in chosen for child in _pass_on(parent, demand, size)]
        level += 1
    return chosen


def _pass_on(parent: DomainRoom, demand: PlacementDemand, size: int) -> list[DomainRoom]:
    """Distribute a domain's pods over its children, in slices of a size."""
    below = by_room(parent.children, least_free=demand.least_free)
    if size > 1:
        for child in below:
            child.slices = quotient(child.pods, size)
            child.slices_with_leader = quotient(child.pods_with_leader, size)
    return assign(below, demand, parent.pods, parent.leaders, size, by_slices=size > 1)


class _Rest(Struct):
    """What is still to be assigned: slices or pods, and leaders."""

    units: int
    leaders: int


class _Unit(Struct, frozen=True):
    """Whether slices or single pods are assigned, and how a room's are read."""

    size: int
    is_slice: bool
    alone: Measure
    beside_leader: Measure

    def give(self, room: DomainRoom, units: int) -> None:
        """Assign units to a room."""
        room.pods = units * self.size
        if self.is_slice:
            room.slices = units


def _pods(room: DomainRoom) -> int:
    return room.pods


def _pods_beside_leader(room: DomainRoom) -> int:
    return room.pods_with_leader


def assign(
    rooms: Sequence[DomainRoom],
    demand: PlacementDemand,
    count: int,
    leaders: int,
    size: int,
    *,
    by_slices: bool,
) -> list[DomainRoom]:
    """Assign ``count`` pods to rooms in their order, the last by best fit, and return those that got any.

    If the rooms do not suffice nothing is assigned, and no reason given (updateCountsToMinimumGeneric).
    """
    unit = _Unit(size, True, slices_of, slices_beside_leader)
    if not by_slices:
        unit = _Unit(1, False, _pods, _pods_beside_leader)
    rest = _Rest(count // unit.size, leaders)
    taken: list[DomainRoom] = []
    for index in range(len(rooms)):
        step = _assign_with_leader if rest.leaders > 0 else _assign_alone
        room, is_done = step(rooms[index:], unit, rest, demand)
        taken.append(room)
        if is_done:
            return taken
    return []


def _assign_alone(
    rooms: Sequence[DomainRoom], unit: _Unit, rest: _Rest, demand: PlacementDemand
) -> tuple[DomainRoom, bool]:
    """Assign to the first room or the best fit, and return it with whether that was all."""
    room = rooms[0]
    if not demand.least_free and unit.alone(room) >= rest.units:
        room = best_fit(rooms, rest.units, unit.alone)
    room.leaders = 0
    is_done = unit.alone(room) >= rest.units
    got = rest.units if is_done else unit.alone(room)
    unit.give(room, got)
    rest.units -= got
    return room, is_done


def _assign_with_leader(
    rooms: Sequence[DomainRoom], unit: _Unit, rest: _Rest, demand: PlacementDemand
) -> tuple[DomainRoom, bool]:
    """Assign as :func:`_assign_alone` does, with a leader in the room that can take one."""
    room = rooms[0]
    if not demand.least_free and _suffices(room, unit, rest):
        room = best_fit(rooms, rest.units, unit.beside_leader)
    if _suffices(room, unit, rest):
        unit.give(room, rest.units)
        room.leaders = rest.leaders
        return room, True
    _assign_part(room, unit, rest)
    return room, False


def _suffices(room: DomainRoom, unit: _Unit, rest: _Rest) -> bool:
    return unit.beside_leader(room) >= rest.units and room.leaders >= rest.leaders


def _assign_part(room: DomainRoom, unit: _Unit, rest: _Rest) -> None:
    """Assign a leader's room without which the others are needed too.

    Slices beside the leader are given. Of single pods the room keeps as many as it holds alone, and the
    leader is in the end assigned nowhere: so does v0.17.0 (consumeWithLeadersGeneric).
    """
    beside, leaders = unit.beside_leader(room), room.leaders
    if unit.is_slice:
        beside, leaders = min(beside, rest.units), min(leaders, rest.leaders)
        room.pods = beside * unit.size
    rest.units -= beside
    rest.leaders -= leaders
    room.leaders = leaders if unit.is_slice else min(leaders, rest.leaders)
