"""What is in use when it is deleted stays until it is not: Kueue's finalizer, and who takes it away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from scheduler_core.cluster.kueue.cache import Cache
from scheduler_core.cluster.v1_37.objects import Manifest, with_meta

IN_USE = "kueue.x-k8s.io/resource-in-use"


def guarded(obj: Manifest) -> Manifest:
    """Return an object as it is created: with the finalizer, if its kind has it."""
    held = obj["metadata"].get("finalizers") or ()
    if obj["kind"] not in _USERS or IN_USE in held:
        return obj
    return with_meta(obj, finalizers=[*held, IN_USE])


def freed(obj: Manifest) -> Manifest:
    """Return an object without the finalizer."""
    return with_meta(
        obj, finalizers=[one for one in obj["metadata"].get("finalizers") or () if one != IN_USE]
    )


def is_used(cache: Cache, kind: str, name: str) -> bool:
    """Return whether a Workload holds quota of a ClusterQueue, or something else names an object."""
    return any(True for _ in _USERS[kind](cache, name))


def _of_queue(cache: Cache, name: str) -> Iterator[object]:
    yield from cache.reserving.get(name, ())


def _of_flavor(cache: Cache, name: str) -> Iterator[object]:
    for queue in cache.queues.values():
        yield from (one for group in queue.groups for one in group.flavors if one.name == name)


def _of_check(cache: Cache, name: str) -> Iterator[object]:
    yield from (one for one in cache.queues.values() if name in one.checks)


def _of_topology(cache: Cache, name: str) -> Iterator[object]:
    yield from (one for one in cache.flavors.values() if one.topology == name)


_USERS: Mapping[str, Callable[[Cache, str], Iterator[object]]] = {
    "AdmissionCheck": _of_check,
    "ClusterQueue": _of_queue,
    "ResourceFlavor": _of_flavor,
    "Topology": _of_topology,
}
"""What uses an object, by its kind."""
