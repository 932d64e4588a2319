"""Watches of the API server: who hears of which writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from scheduler_core.cluster.v1_37.objects import Manifest, controller_of


class EvictionOutcome(NamedTuple):
    """What an eviction or a drain came to, where a write says so: the reason and the message of its event."""

    reason: str
    message: str


class StoredWrite(NamedTuple):
    """One write that changed the store: ``old`` is ``None`` for a creation, ``new`` for a removal."""

    kind: str
    key: str
    old: Manifest | None
    new: Manifest | None
    by: str
    """The client."""
    outcome: EvictionOutcome | None = None


Observer = Callable[[StoredWrite], None]


class _Watch(NamedTuple):
    """An observer, and what it is called for."""

    observe: Observer
    kinds: frozenset[str]
    """The kinds of objects; all if it is empty."""
    owner: str
    """Of the pods with a controller, those whose controller is of this kind; all if it is ""."""

    def wants(self, kind: str, owners: tuple[str, ...]) -> bool:
        """Return whether it is called for a write of a kind; ``owners``: kinds of a pod's controllers."""
        return (not self.kinds or kind in self.kinds) and (
            not self.owner or not owners or self.owner in owners
        )


class Watches:
    """Observers in their order, each with what it is called for."""

    def __init__(self) -> None:
        self._watches: list[_Watch] = []
        self._routes: dict[tuple[str, ...], list[Observer]] = {}
        """Whom a write is reported to, by its kind and the kinds of a pod's controllers."""

    def add(self, observe: Observer, kinds: Collection[str], owner: str) -> None:
        """Have every write reported, or only those of some kinds of objects.

        ``owner``: of the pods that had or have a controller, those with one of this kind.
        """
        self._watches.append(_Watch(observe, frozenset(kinds), owner))
        self._routes.clear()

    def report(self, write: StoredWrite) -> None:
        """Call whom a write concerns."""
        route = write.kind, *(_owner_kinds(write) if write.kind == "Pod" else ())
        observers = self._routes.get(route)
        if observers is None:
            kind, *owners = route
            found = [one.observe for one in self._watches if one.wants(kind, tuple(owners))]
            observers = self._routes[route] = found
        for observe in observers:
            observe(write)


def _owner_kinds(write: StoredWrite) -> Iterator[str]:
    """Yield the kinds of a pod's controllers before and after a write, unless it was or is without one."""
    owners = [controller_of(pod) for pod in (write.old, write.new) if pod is not None]
    if None not in owners:
        yield from (one["kind"] for one in owners if one is not None)
