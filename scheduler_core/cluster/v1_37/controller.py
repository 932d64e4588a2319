"""What all controllers share: a client, a queue with one worker, and what they see of each write."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.loop import Loop, QueueWorker, StatusError, Work, WorkQueue, Write
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    is_deleting,
    key_of,
    labels_of,
    namespace_of,
    owners_of,
    reference_to,
    references_to,
    selects,
    spec_of,
    uid_of,
    with_meta,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite


class Controller:
    """A controller with a rate-limited queue of keys and one worker. ``name`` is that of its client."""

    name = ""
    backoff: tuple[float, float] = (0.005, 1000.0)
    """After how many seconds a key that failed is tried again, at first and at most."""

    watched: tuple[str, ...] = ()
    """The kinds of objects whose writes it observes, all of them without any."""
    owner_kind = ""
    """Of the pods with a controller it observes those whose controller is of this kind."""
    finalizer = ""
    """What an object gets that is adopted, and loses that is released, besides its owner."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.loop: Loop = server.loop
        self.client = Clientset(server, self.name)
        self.worker = QueueWorker(self.loop, self.sync, queue=WorkQueue(self.loop, *self.backoff))
        self.queue = self.worker.queue
        server.watch(self.observe, self.watched, self.owner_kind)

    @property
    def now(self) -> float:
        """Seconds since 1970."""
        return self.loop.wall_time

    def observe(self, write: StoredWrite) -> None:
        """Queue what a write concerns."""
        raise NotImplementedError

    def sync(self, key: Any) -> Work:
        """Bring one object to its desired state."""
        raise NotImplementedError

    def owner(self, obj: Manifest, kind: str) -> Manifest | None:
        """Return an object's controller if it is of this kind and exists with that uid."""
        reference = controller_of(obj)
        if reference is None or reference["kind"] != kind:
            return None
        return self.server.referenced(obj, reference)

    def queue_owner(self, write: StoredWrite, kind: str) -> Manifest | None:
        """Queue the controllers of an object before and after a write; return the present one."""
        old, new = write.old, write.new
        if old is None or new is None or owners_of(old) is not owners_of(new):
            before = self.owner(old, kind) if old is not None else None
            if before is not None:
                self.queue.add(key_of(before))
        owner = self.owner(new, kind) if new is not None else None
        if owner is not None:
            self.queue.add(key_of(owner))
        return owner

    def queue_adopters(self, write: StoredWrite, kind: str) -> None:
        """Queue the objects of a kind that may adopt one whose labels or owners changed."""
        for found in self.adopters(write, kind):
            self.queue.add(key_of(found))

    def adopters(self, write: StoredWrite, kind: str) -> list[Manifest]:
        """Return the objects of a kind that may adopt one whose labels or owners changed."""
        new, old = write.new, write.old
        if new is None or controller_of(new) is not None:
            return []
        if old is not None and labels_of(old) == labels_of(new) and owners_of(old) == owners_of(new):
            return []
        found = self.server.in_namespace(kind, namespace_of(new))
        return [one for one in found if selects(spec_of(one).get("selector"), labels_of(new))]

    def claim(self, owner: Manifest, found: Iterable[Manifest]) -> Work:
        """Adopt matching orphans, release what does not match, return the owned (ControllerRefManager)."""
        selector, uid = spec_of(owner).get("selector"), uid_of(owner)
        claimed, matches = [], dict[int, bool]()
        for obj in found:
            reference, labels = controller_of(obj), labels_of(obj)
            matching = matches.get(id(labels))  # pods of one template share them
            if matching is None:
                matching = matches[id(labels)] = selects(selector, labels)
            if reference is not None:
                if reference["uid"] != uid:
                    continue
                if matching:
                    claimed.append(obj)
                elif not is_deleting(owner):
                    yield from _ignore(self.client.patch(obj, _without_owner(owner, self.finalizer)), 404)
            elif matching and not is_deleting(owner) and not is_deleting(obj):
                adopted = yield from _ignore(self.client.patch(obj, owned_by(owner, self.finalizer)), 404)
                if adopted is not None:
                    claimed.append(adopted)
        return claimed


def _ignore(write: Write, code: int) -> Work:
    try:
        return (yield write)
    except StatusError as error:
        if error.code != code:
            raise
        return None


def owned_by(owner: Manifest, finalizer: str = "") -> Callable[[Manifest], Manifest]:
    """Return the patch by which an object gets a controller, and its finalizer."""

    def patch(obj: Manifest) -> Manifest:
        made = with_meta(obj, ownerReferences=[*owners_of(obj), reference_to(owner)])
        known = obj["metadata"].get("finalizers") or ()
        return (
            made if not finalizer or finalizer in known else with_meta(made, finalizers=[*known, finalizer])
        )

    return patch


def _without_owner(owner: Manifest, finalizer: str = "") -> Callable[[Manifest], Manifest]:
    def patch(obj: Manifest) -> Manifest:
        kept = [one for one in owners_of(obj) if one["uid"] != uid_of(owner)]
        made = with_meta(obj, ownerReferences=kept or None)
        known = obj["metadata"].get("finalizers") or ()
        if finalizer not in known:
            return made
        return with_meta(made, finalizers=[one for one in known if one != finalizer] or None)

    return patch


def pod_from(template: Manifest, owner: Manifest, **meta: Any) -> Manifest:
    """Return a pod of a template, not yet stored; ``meta`` are more fields of its metadata."""
    own = template.get("metadata") or {}
    fields: dict[str, Any] = {
        "namespace": namespace_of(owner),
        "labels": own.get("labels") or {},
        "annotations": own.get("annotations") or {},
        "ownerReferences": references_to(owner),
        **meta,
    }
    if not fields.get("name"):
        fields.setdefault("generateName", f"{owner['metadata']['name']}-")
    if own.get("finalizers") and "finalizers" not in fields:
        fields["finalizers"] = list(own["finalizers"])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": fields, "spec": spec_of(template)}


def slow_start(number: int, make: Callable[[int], Write]) -> Work:
    """Write in parallel batches of 1, 2, 4, … (slowStartBatch); the first error ends it, and is returned."""
    done, size = 0, 1
    while done < number:
        size = min(size, number - done)
        results = yield [make(place) for place in range(done, done + size)]
        failed = next((one for one in results if isinstance(one, StatusError)), None)
        if failed is not None:
            return failed
        done, size = done + size, size * 2
    return None


def pods_of(server: ApiServer, owner: Manifest, *, orphans: bool = True) -> list[Manifest]:
    """Return an owner's pods, then those of its namespace without controller (FilterPodsByOwner)."""
    return claimable(server, owner, "Pod") if orphans else server.controlled(owner, "Pod")


def claimable(server: ApiServer, owner: Manifest, kind: str) -> list[Manifest]:
    """Return the objects of a kind that an owner controls, then those that it may adopt."""
    own, selector = server.controlled(owner, kind), spec_of(owner).get("selector")
    return [*own, *server.adoptable(kind, selector, namespace_of(owner))]


def gone(error: object) -> bool:
    """Return whether a result says that the object does not exist."""
    return isinstance(error, StatusError) and error.code == 404
