"""A heap of entities from which any can be removed by its key."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any

from scheduler_core.schedulers.v1_37.entities import Entity


class EntityHeap:
    """Entities by rank, lowest first. A rank is taken when the entity is added."""

    def __init__(self, rank: Callable[[Entity], tuple[Any, ...]]) -> None:
        self._rank = rank
        self.entities: dict[str, tuple[int, Entity]] = {}
        """Each with the number of its arrival, by key."""
        self._heap: list[tuple[tuple[Any, ...], int, str]] = []
        self._added = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> EntityHeap:
        """Copy the entities; ranks and keys never change."""
        out = EntityHeap(deepcopy(self._rank, memo))
        out.entities = {key: (number, deepcopy(one, memo)) for key, (number, one) in self.entities.items()}
        out._heap, out._added = self._heap.copy(), self._added
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
        self._heap = [(rank(one), number, key) for key, (number, one) in self.entities.items()]
        heapq.heapify(self._heap)

    def add(self, entity: Entity) -> None:
        """Add an entity, or update its rank."""
        self.add_ranked(((self._rank(entity), entity.key, entity),))

    def add_ranked(self, ranked: Iterable[tuple[tuple[Any, ...], str, Entity]]) -> None:
        """Add entities, each with its rank and key."""
        entities, heap, number = self.entities, self._heap, self._added
        for rank, key, entity in ranked:
            number += 1
            entities[key] = number, entity
            heapq.heappush(heap, (rank, number, key))
        self._added = number

    def remove(self, key: str) -> Entity | None:
        """Remove an entity and return it; its place in the heap is skipped later."""
        found = self.entities.pop(key, None)
        return None if found is None else found[1]

    def first(self) -> Entity | None:
        """Return the entity of the lowest rank."""
        while self._heap:
            _, number, key = self._heap[0]
            found = self.entities.get(key)
            if found is not None and found[0] == number:
                return found[1]
            heapq.heappop(self._heap)
        return None

    def ranked(self) -> Iterator[Entity]:
        """Yield the entities by rank; the first few without sorting the others."""
        heap, at = self._heap, [(self._heap[0], 0)] if self._heap else []
        while at:
            (_, number, key), place = heapq.heappop(at)
            found = self.entities.get(key)
            if found is not None and found[0] == number:
                yield found[1]
            for child in (2 * place + 1, 2 * place + 2):
                if child < len(heap):
                    heapq.heappush(at, (heap[child], child))

    def pop(self) -> Entity | None:
        """Remove and return the entity of the lowest rank."""
        entity = self.first()
        if entity is not None:
            self.remove(entity.key)
        return entity
