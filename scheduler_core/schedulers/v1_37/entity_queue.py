"""Entities in the order of their ranks, from which any can be removed by its key."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any

from scheduler_core.schedulers.v1_37.entities import Entity

QueueEntry = tuple[tuple[Any, ...], int, str]
"""The rank, the number of arrival, which no two entries share, and the entity's key."""
Numbered = tuple[int, Entity]
"""An entity with the number of its arrival."""

FEW = 8  # that come are put in their places one by one; more are sorted
PASSED = 1_000  # places of removed entities before the head that are kept


class EntityQueue:
    """Entities by rank, lowest first. A rank is taken when the entity is added."""

    def __init__(self, rank: Callable[[Entity], tuple[Any, ...]]) -> None:
        self._rank = rank
        self.entities: dict[str, Numbered] = {}
        """By key."""
        self._ranked: list[QueueEntry] = []  # ascending; those of removed entities are passed over
        self._head = 0  # all before it are removed
        self._fresh: list[QueueEntry] = []  # they came since the queue was read last
        self._added = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> EntityQueue:
        """Copy the entities; ranks and keys never change."""
        out = EntityQueue(deepcopy(self._rank, memo))
        out.entities = {key: (number, deepcopy(one, memo)) for key, (number, one) in self.entities.items()}
        out._ranked, out._fresh = self._ranked[self._head :], self._fresh.copy()
        out._added = self._added
        return out

    def __len__(self) -> int:
        return len(self.entities)

    def __iter__(self) -> Iterator[Entity]:
        return (entity for _, entity in self.entities.values())

    def get(self, key: str) -> Entity | None:
        """Return the entity of that key."""
        found = self.entities.get(key)
        return None if found is None else found[1]

    def rank_by(self, rank: Callable[[Entity], tuple[Any, ...]]) -> None:
        """Rank all entities again; those of equal rank stay in order of arrival."""
        self._rank = rank
        self._ranked, self._head = [], 0
        self._fresh = [(rank(one), number, key) for key, (number, one) in self.entities.items()]

    def add(self, entity: Entity) -> None:
        """Add an entity, or update its rank."""
        self.add_ranked(((self._rank(entity), entity.key, entity),))

    def add_ranked(self, ranked: Iterable[tuple[tuple[Any, ...], str, Entity]]) -> None:
        """Add entities, each with its rank and key."""
        entities, fresh, number = self.entities, self._fresh, self._added
        for rank, key, entity in ranked:
            number += 1
            entities[key] = number, entity
            fresh.append((rank, number, key))
        self._added = number

    def remove(self, key: str) -> Entity | None:
        """Remove an entity and return it; its place is passed over later."""
        found = self.entities.pop(key, None)
        return None if found is None else found[1]

    def first(self) -> Entity | None:
        """Return the entity of the lowest rank."""
        if not self.entities:
            return None
        self._pass_removed()
        return self.entities[self._ranked[self._head][2]][1]

    def ranked(self) -> Iterator[Entity]:
        """Yield the entities by rank."""
        return (entity for _, (_, entity) in self.entries())

    def entries(self) -> Iterator[tuple[QueueEntry, Numbered]]:
        """Yield the entries by rank, each with its entity."""
        self._pass_removed()
        for place in range(self._head, len(self._ranked)):
            entry = self._ranked[place]
            found = self._found(entry)
            if found is not None:
                yield entry, found

    def pop(self) -> Entity | None:
        """Remove and return the entity of the lowest rank."""
        entity = self.first()
        if entity is not None:
            del self.entities[entity.key]
        return entity

    def pop_all(self, entries: Sequence[QueueEntry]) -> None:
        """Remove the first entities, which have these entries."""
        self._pass_removed()
        for _, _, key in entries:
            del self.entities[key]
        self._head = bisect_right(self._ranked, entries[-1], self._head)

    def put_back(self, entries: Sequence[QueueEntry], entities: Iterable[Numbered]) -> None:
        """Put entities that were the first ones in their places again."""
        self._pass_removed()
        self.entities.update(zip([key for _, _, key in entries], entities))
        self._ranked[: self._head] = entries
        self._head = 0

    def _found(self, entry: QueueEntry) -> Numbered | None:
        """Return the entity of an entry, ``None`` once it is removed or has another rank."""
        found = self.entities.get(entry[2])
        return found if found is not None and found[0] == entry[1] else None

    def _pass_removed(self) -> None:
        """Put what has come in its place, and the head at an entity that is there."""
        if self._fresh:
            self._sort_in()
        ranked, head = self._ranked, self._head
        while head < len(ranked) and self._found(ranked[head]) is None:
            head += 1
        if head > PASSED:
            del ranked[:head]
            head = 0
        self._head = head

    def _sort_in(self) -> None:
        ranked, fresh = self._ranked, self._fresh
        if len(fresh) > FEW:
            ranked[self._head :] = sorted(ranked[self._head :] + fresh)
        else:
            for entry in fresh:
                insort(ranked, entry, self._head)
        fresh.clear()
