"""Garbage collection: dependents of objects that are gone, or that wait for them.

Source: ``pkg/controller/garbagecollector``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scheduler_core.cluster.v1_37.controller import Controller
from scheduler_core.cluster.v1_37.loop import QueueWorker, StatusError, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    is_deleting,
    key_of,
    owners_of,
    uid_of,
    with_meta,
)
from scheduler_core.cluster.v1_37.server import FOREGROUND, ORPHAN, ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite


class Item(NamedTuple):
    """An object of the graph."""

    kind: str
    key: str
    uid: str


class GarbageCollector(Controller):
    """One worker that deletes, and one that orphans."""

    name = "gc"

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self._orphaning = QueueWorker(self.loop, self._orphan).queue
        self.unlisted: set[str] = set()
        """Uids of owners that a dump lacks: they count as there."""

    def observe(self, write: StoredWrite) -> None:
        """Queue the dependents of what is gone, and what waits for its own."""
        old, new = write.old, write.new
        if new is None:
            assert old is not None
            self._queue_dependents(uid_of(old))
            self._queue_waiting_owners(old)
            return
        if self._absent(new):
            self.queue.add(_item(new))
        if old is not None:
            self._queue_unblocked(old, new)
        if not is_deleting(new):
            return
        if _begins(ORPHAN, old, new):
            self._orphaning.add(_item(new))
        elif _begins(FOREGROUND, old, new):
            self._queue_dependents(uid_of(new))
            self.queue.add(_item(new))

    def _queue_unblocked(self, old: Manifest, new: Manifest) -> None:
        """Queue the owners that an object no longer blocks (addUnblockedOwnersToDeleteQueue)."""
        if owners_of(old) is owners_of(new):
            return
        blocked = {one["uid"] for one in owners_of(new) if one.get("blockOwnerDeletion")}
        for reference in owners_of(old):
            owner = self.server.referenced(old, reference)
            if reference.get("blockOwnerDeletion") and reference["uid"] not in blocked and owner is not None:
                self.queue.add(_item(owner))

    def _queue_dependents(self, uid: str) -> None:
        for found in self._dependents(uid):
            self.queue.add(_item(found))

    def _dependents(self, uid: str) -> list[Manifest]:
        return [self.server.objects[kind][key] for kind, key in sorted(self.server.dependents.get(uid, ()))]

    def _queue_waiting_owners(self, gone: Manifest) -> None:
        for reference in owners_of(gone):
            owner = self.server.referenced(gone, reference)
            if owner is not None and is_deleting(owner) and _has(owner, FOREGROUND):
                self.queue.add(_item(owner))

    def _absent(self, obj: Manifest) -> bool:
        for reference in owners_of(obj):
            if self.server.referenced(obj, reference) is None and reference["uid"] not in self.unlisted:
                return True
        return False

    def sync(self, key: Item) -> Work:
        """Delete an object without owners, or take off those that are gone (attemptToDeleteItem)."""
        obj = self.server.get(key.kind, key.key)
        if obj is None or uid_of(obj) != key.uid:
            return
        waits = is_deleting(obj) and _has(obj, FOREGROUND)
        if is_deleting(obj) and not waits:
            return
        if waits:
            yield from self._wait(obj)
            return
        solid, dangling, waiting = self._classify(obj)
        if solid:
            if dangling or waiting:
                yield from self._take_off(obj, {one["uid"] for one in (*dangling, *waiting)})
        elif waiting and self._dependents(uid_of(obj)):
            yield self.client.delete(obj, propagation="Foreground")
        elif waiting or dangling:
            yield self.client.delete(obj, propagation=_propagation(obj))

    def _classify(self, obj: Manifest) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the owners that stay, those that are gone, and those that wait for this object."""
        solid, dangling, waiting = [], [], []
        for reference in owners_of(obj):
            owner = self.server.referenced(obj, reference)
            if owner is None and reference["uid"] not in self.unlisted:
                dangling.append(reference)
            elif owner is not None and is_deleting(owner) and _has(owner, FOREGROUND):
                waiting.append(reference)
            else:
                solid.append(reference)
        return solid, dangling, waiting

    def _wait(self, obj: Manifest) -> Work:
        """Let an object go once nothing blocks it (processDeletingDependentsItem)."""
        blocking = [one for one in self._dependents(uid_of(obj)) if _blocks(one, obj)]
        if blocking:
            for one in blocking:
                if not is_deleting(one):
                    self.queue.add(_item(one))
            return
        yield self.client.patch(obj, lambda one: _without(one, FOREGROUND))

    def _take_off(self, obj: Manifest, uids: set[str]) -> Work:
        def patch(one: Manifest) -> Manifest:
            kept = [reference for reference in owners_of(one) if reference["uid"] not in uids]
            return with_meta(one, ownerReferences=kept or None)

        yield self.client.patch(obj, patch)

    def _orphan(self, key: Item) -> Work:
        """Take an object off its dependents, then let it go (attemptToOrphan)."""
        owner = self.server.get(key.kind, key.key)
        if owner is None or uid_of(owner) != key.uid:
            return
        for one in self._dependents(key.uid):
            try:
                yield from self._take_off(one, {key.uid})
            except StatusError as error:
                if error.code != 404:
                    raise
        yield self.client.patch(owner, lambda one: _without(one, ORPHAN))


def _item(obj: Manifest) -> Item:
    return Item(obj["kind"], key_of(obj), uid_of(obj))


def _finalizers(obj: Manifest) -> Sequence[str]:
    return obj["metadata"].get("finalizers") or ()


def _has(obj: Manifest, finalizer: str) -> bool:
    return finalizer in _finalizers(obj)


def _propagation(obj: Manifest) -> str:
    """Return how an object without owners goes: as its finalizers have it."""
    return "Orphan" if _has(obj, ORPHAN) else "Foreground" if _has(obj, FOREGROUND) else "Background"


def _begins(finalizer: str, old: Manifest | None, new: Manifest) -> bool:
    """Return whether an object that goes begins to wait for dependents (deletionStartsWithFinalizer)."""
    if not _has(new, finalizer):
        return False
    return old is None or not is_deleting(old) or not _has(old, finalizer)


def _without(obj: Manifest, finalizer: str) -> Manifest:
    return with_meta(obj, finalizers=[one for one in _finalizers(obj) if one != finalizer] or None)


def _blocks(obj: Manifest, owner: Manifest) -> bool:
    return any(one["uid"] == uid_of(owner) and one.get("blockOwnerDeletion") for one in owners_of(obj))
