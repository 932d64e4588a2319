"""What the scheduling queue sorts by: PrioritySort, or a plugin in its place."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

from scheduler_core.schedulers.v1_37.entities import Entity, QueuedPodInfo


class QueueSort(Protocol):
    """A QueueSort plugin."""

    def rank(self, entity: Entity) -> tuple[Any, ...]:
        """Return what is compared of an entity: the least is tried first."""
        ...

    def shown(self, waiting: QueuedPodInfo) -> tuple[tuple[float | str, ...], str]:
        """Return what is compared of a pod, priority and seconds first, and whose time it is."""
        ...


class ByExpiry(Struct, frozen=True):
    """The order of the backoff queue, in which a plugin breaks ties."""

    sort: QueueSort

    def rank(self, entity: Entity) -> tuple[Any, ...]:
        """Return the end of its backoff, then what the plugin compares."""
        return (entity.backoff_expires or 0, *self.sort.rank(entity))


def by_order(entity: Entity) -> tuple[Any, ...]:
    """Return what PrioritySort compares."""
    return entity.order


def by_expiry(entity: Entity) -> tuple[Any, ...]:
    """Return the end of the backoff, then what PrioritySort compares."""
    return (entity.backoff_expires or 0, *entity.order)
