"""Watches of the API server: who hears of which writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import ClassVar, NamedTuple

from scheduler_core.cluster.v1_37.objects import Manifest, controller_of, key_of
from scheduler_core.forks import Copier, Forkable, Memo, copied, emptied


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
    kinds: tuple[str, ...]
    """The kinds of objects; all if it is empty."""
    owner: str
    """Of the pods with a controller, those whose controller is of this kind; all if it is ""."""

    def wants(self, kind: str, *owners: str) -> bool:
        """Return whether it is called for a write of a kind; ``owners``: kinds of a pod's controllers."""
        return (not self.kinds or kind in self.kinds) and (
            not self.owner or not owners or self.owner in owners
        )


def _rebound(watches: list[_Watch], memo: Memo) -> list[_Watch]:
    """Copy watches, of which only the observers are copied."""
    return [_Watch(copied(observe, memo), kinds, owner) for observe, kinds, owner in watches]


class Watches(Forkable):
    """Observers in their order, each with what it is called for."""

    FORKED: ClassVar[Mapping[str, Copier]] = {"_routes": emptied, "_watches": _rebound}

    def __init__(self) -> None:
        self._watches: list[_Watch] = []
        self._held: list[_Watch] | None = None
        """Those who wait until a control plane starts, ``None`` while nobody has to."""
        self._routes: dict[tuple[str, ...], list[Observer]] = {}
        """Whom a write is reported to, by its kind and the kinds of a pod's controllers."""

    def add(self, observe: Observer, kinds: Collection[str], owner: str) -> None:
        """Have every write reported, or only those of some kinds of objects.

        ``owner``: of the pods that had or have a controller, those with one of this kind.
        """
        watch = _Watch(observe, tuple(kinds), owner)
        (self._watches if self._held is None else self._held).append(watch)
        self._routes.clear()

    def hold(self) -> None:
        """Have observers that are added from now on wait for :meth:`release`."""
        self._held = []

    def release(self, objects: Mapping[str, Iterable[Manifest]]) -> None:
        """Report the stored objects to the observers that wait, as creations, by kind in their order."""
        held, self._held = self._held or [], None
        self._watches += held
        self._routes.clear()
        for watch in held:
            for kind in watch.kinds or objects:
                for obj in objects.get(kind, ()):
                    write = StoredWrite(kind, key_of(obj), None, obj, "")
                    if watch.wants(*_route(write)):
                        watch.observe(write)

    def report(self, write: StoredWrite) -> None:
        """Call whom a write concerns."""
        route = _route(write)
        observers = self._routes.get(route)
        if observers is None:
            found = [one.observe for one in self._watches if one.wants(*route)]
            observers = self._routes[route] = found
        for observe in observers:
            observe(write)


def _route(write: StoredWrite) -> tuple[str, ...]:
    """Return a write's kind; of a pod that never lacks a controller, the kinds of those before and after."""
    kind, old, new = write.kind, write.old, write.new
    if kind != "Pod":
        return (kind,)
    after = None if new is None else controller_of(new)
    if old is None or new is None:
        owner = after if old is None else controller_of(old)
        return (kind,) if owner is None else (kind, owner["kind"])
    owners = old["metadata"].get("ownerReferences")
    before = after if owners is new["metadata"].get("ownerReferences") else controller_of(old)
    return (kind,) if before is None or after is None else (kind, before["kind"], after["kind"])
