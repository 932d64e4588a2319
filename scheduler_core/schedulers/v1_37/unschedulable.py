"""The entities that wait for an event, with an index by the plugin that gates them."""

from __future__ import annotations

from collections.abc import Collection

from scheduler_core.schedulers.v1_37.entities import Entity


class UnschedulableEntities:
    """Rejected and gated entities by key, in order of filing (unschedulableEntities).

    The gate of an entity does not change while it is here.
    """

    def __init__(self) -> None:
        self.entities: dict[str, Entity] = {}
        """By key."""
        self._by_gate: dict[str | None, dict[str, Entity]] = {}
        self._oldest: int | None = None

    def __len__(self) -> int:
        return len(self.entities)

    def get(self, key: str) -> Entity | None:
        """Return the entity of that key."""
        return self.entities.get(key)

    def values(self) -> Collection[Entity]:
        """Return all entities."""
        return self.entities.values()

    def put(self, entity: Entity) -> None:
        """File an entity; one that is here keeps its place."""
        self._unlink(entity.key)
        self.entities[entity.key] = entity
        self._by_gate.setdefault(entity.gated_by, {})[entity.key] = entity

    def oldest(self) -> int | None:
        """Return since when the first entity waits that no plugin gates, ``None`` without one."""
        if self._oldest is None:
            self._oldest = min((entity.since for entity in self.rejected()), default=None)
        return self._oldest

    def pop(self, key: str) -> Entity | None:
        """Remove an entity and return it."""
        self._unlink(key)
        return self.entities.pop(key, None)

    def _unlink(self, key: str) -> None:
        self._oldest = None
        for gate, gated in list(self._by_gate.items()):
            if gated.pop(key, None) is not None and not gated:
                del self._by_gate[gate]

    def rejected(self) -> Collection[Entity]:
        """Return the entities that no plugin gates."""
        return self._by_gate.get(None, {}).values()

    def reached(self, registered: frozenset[str]) -> list[Entity]:
        """Return the entities that are not gated, or by one of these plugins, in order of filing."""
        gates = {gate for gate in self._by_gate if gate is None or gate in registered}
        if not gates:
            return []
        return [entity for entity in self.entities.values() if entity.gated_by in gates]
