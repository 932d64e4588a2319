"""Balanced placement (gate TASBalancedPlacement): preferred pods in equal parts over few domains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log2

from msgspec import Struct

from scheduler_core.cluster.kueue.topology.choice import NotFitError, by_room, by_room_with_leader
from scheduler_core.cluster.kueue.topology.rooms import DomainRoom, PlacementDemand, Rooms, descendants, total


class Balance(Struct, frozen=True):
    """Sibling domains that can hold a demand, and how many slices each of those used gets at least."""

    siblings: list[DomainRoom]
    threshold: int


class _Greedy(Struct, frozen=True):
    """The number of domains that a greedy choice takes, and the least room of the last ones taken."""

    domains: int
    least: tuple[int, ...]


def find_balance(rooms: Rooms, demand: PlacementDemand) -> Balance | None:
    """Return the siblings with the highest threshold, of equal ones those that need fewer domains.

    What holds fewer slices than a set's threshold is pruned from it. Sets that are equal in both are taken in
    the order of their values (map order in v0.17.0).
    """
    best: Balance | None = None
    best_domains = 0
    for siblings in _sibling_sets(rooms, demand.level):
        threshold = _threshold(_parts(siblings, demand), demand)
        if threshold is None or threshold < (best.threshold if best else 0):
            continue
        _prune(siblings, threshold, demand)
        greedy = _choose_greedily(siblings, demand)
        domains = greedy.domains if greedy else 0
        if threshold > (best.threshold if best else 0) or (best is not None and domains < best_domains):
            best, best_domains = Balance(siblings, threshold), domains
    return best


def _sibling_sets(rooms: Rooms, level: int) -> list[list[DomainRoom]]:
    if level == 0:
        return [rooms.levels[0]]
    return [parent.children for parent in rooms.levels[level - 1]]


def _parts(siblings: list[DomainRoom], demand: PlacementDemand) -> list[DomainRoom]:
    """Return the domains among which slices are divided: a level lower, unless that is below the slices."""
    return list(descendants(siblings)) if demand.level < demand.slice_level else siblings


def _threshold(parts: Sequence[DomainRoom], demand: PlacementDemand) -> int | None:
    greedy = _choose_greedily(parts, demand)
    if greedy is None or not greedy.domains:
        return None
    return min(demand.slices // greedy.domains, *greedy.least)


def _choose_greedily(parts: Sequence[DomainRoom], demand: PlacementDemand) -> _Greedy | None:
    """Take the roomiest domains, a leader's first, until they hold the demand; ``None`` if they do not."""
    missing, leaders = demand.slices, demand.leaders
    rest = by_room_with_leader(parts, least_free=False) if leaders else list(parts)
    with_leader: list[DomainRoom] = []
    while leaders > 0 and rest and rest[0].leaders > 0:
        room = rest.pop(0)
        with_leader.append(room)
        leaders, missing = leaders - room.leaders, missing - room.slices_with_leader
    alone: list[DomainRoom] = []
    for room in by_room(rest, least_free=False):
        if missing <= 0 or room.slices <= 0:
            break
        alone.append(room)
        missing -= room.slices
    if leaders > 0 or missing > 0:
        return None
    least = tuple(room.slices_with_leader for room in (*with_leader[-1:], *alone[-1:]))
    return _Greedy(len(with_leader) + len(alone), least)


def _prune(siblings: Iterable[DomainRoom], threshold: int, demand: PlacementDemand) -> None:
    for child in descendants(siblings):
        if child.slices_with_leader < threshold:
            _clear(child)
    for room in siblings:
        _recount(room, demand.level, demand)
        if room.slices_with_leader < threshold:
            _clear(room)


def _clear(room: DomainRoom) -> None:
    room.pods = room.slices = room.leaders = room.pods_with_leader = room.slices_with_leader = 0
    for child in room.children:
        _clear(child)


def _recount(room: DomainRoom, depth: int, demand: PlacementDemand) -> None:
    for child in room.children:
        _recount(child, depth + 1, demand)
    total(room, depth, demand)


def place_balanced(balance: Balance, demand: PlacementDemand) -> tuple[int, list[DomainRoom]]:
    """Return the level and the domains with what each is assigned.

    Raises:
        NotFitError: The rounding to whole domains leaves something over; nothing else is tried then.
    """
    level, parts = demand.level, balance.siblings
    if level < demand.slice_level:
        fewest = _fewest(sorted(parts, key=_evenness, reverse=True), demand)
        level, parts = level + 1, list(descendants(fewest))
    return level, _share_out(_fewest(parts, demand), balance.threshold, demand)


def _evenness(room: DomainRoom) -> tuple[int, int, float, tuple[str, ...]]:
    """Order by room, then by how evenly it is spread over the children; of equal ones the last by values."""
    spread = _entropy([child.pods for child in room.children])
    return room.leaders, room.slices_with_leader, spread, room.values


def _entropy(sizes: Sequence[int]) -> float:
    whole = sum(sizes)
    return sum(-(size / whole) * log2(size / whole) for size in sizes if size > 0) if whole else 0.0


def _fewest(parts: Sequence[DomainRoom], demand: PlacementDemand) -> list[DomainRoom]:
    """Return as few domains as a greedy choice takes that leave the least room over.

    Of each number of domains, leaders and pods that are left the first found combination is kept.
    """
    greedy = _choose_greedily(parts, demand)
    if greedy is None:
        raise NotFitError("TAS Balanced Placement: Cannot find optimal domain set to fit the request")
    found: list[dict[tuple[int, int], list[DomainRoom]]] = [{} for _ in range(greedy.domains + 1)]
    found[0][demand.leaders, demand.slices * demand.slice_size] = []
    for room in parts:
        for used in range(greedy.domains, 0, -1):
            _extend(found[used], sorted(found[used - 1].items(), key=lambda row: row[0]), room)
    ends = [pods for leaders, pods in found[-1] if leaders == 0 and pods <= 0]
    return found[-1][0, max(ends)] if ends else _none_found()


def _none_found() -> list[DomainRoom]:
    raise NotFitError("TAS Balanced Placement: Cannot find optimal domain set to fit the request")


def _extend(
    found: dict[tuple[int, int], list[DomainRoom]],
    smaller: Iterable[tuple[tuple[int, int], list[DomainRoom]]],
    room: DomainRoom,
) -> None:
    """Add a domain to the combinations of one domain fewer, with a leader and without."""
    for (leaders, pods), taken in smaller:
        if leaders <= 0 and pods <= 0:
            continue
        if leaders > 0 and room.leaders > 0:
            found.setdefault((leaders - room.leaders, pods - room.pods_with_leader), [*taken, room])
        if room.slices > 0:
            found.setdefault((leaders, pods - room.pods), [*taken, room])


def _share_out(parts: Sequence[DomainRoom], threshold: int, demand: PlacementDemand) -> list[DomainRoom]:
    """Give each domain the threshold, and what is over in the order of their room."""
    extra, leaders = demand.slices - len(parts) * threshold, demand.leaders
    if extra < 0:
        raise NotFitError("TAS Balanced Placement: Not enough slices to meet the threshold")
    ordered = by_room_with_leader(parts, least_free=False)
    for room in ordered:
        room_for_more = room.slices_with_leader if leaders > 0 else room.slices
        more = min(room_for_more - threshold, extra) if leaders > 0 or extra > 0 else 0
        room.leaders, leaders = int(leaders > 0), max(0, leaders - 1)
        room.slices = room.slices_with_leader = threshold + more
        room.pods = room.slices * demand.slice_size
        room.pods_with_leader = room.pods - room.leaders
        extra -= more
    if extra > 0 or leaders > 0:
        raise NotFitError("TAS Balanced Placement: Not all slices or leaders could be placed")
    return ordered
