"""Pods of one template: they share all but name and uid, and so whatever is derived from the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter, is_

from msgspec.structs import astuple

from scheduler_core.kubernetes.model import KubernetesObject, Pod

specification = attrgetter(*(name for name in Pod.__struct_fields__ if name != "meta"))
"""Return a pod's fields but ``meta``."""

Shared = tuple[str, tuple[object, ...], tuple[object, ...]]


def _shared(pod: Pod) -> Shared:
    """Return a pod's fields but name, uid and ``written``."""
    meta, rest = astuple(pod.meta), astuple(pod)[1:]  # by position, as there may be a million pods
    return meta[1], meta[3:-1], rest


def is_replica(pod: Pod, other: Pod) -> bool:
    """Return whether two pods have the same objects as all typed fields but their names and uids.

    False is inconclusive: equal fields may be different objects.
    """
    (namespace, meta, rest), (other_namespace, other_meta, other_rest) = _shared(pod), _shared(other)
    same_meta = namespace is other_namespace and all(map(is_, meta, other_meta))
    return same_meta and all(map(is_, rest, other_rest))


MOST = 1_000  # originals that are remembered at once

Replica = tuple[Pod, Pod]
"""A pod, and one before it with the same objects as all fields but name and uid."""


def with_replicas_of_any(
    objects: Iterable[KubernetesObject],
) -> Iterator[tuple[KubernetesObject, list[Replica]]]:
    """Yield each object that is no replica of one before, with the replicas that follow it, of any original.

    In order, each object once. Pods of several templates may be mixed, as where each is written.
    """
    originals: dict[tuple[int, int], tuple[Pod, Shared]] = {}
    first: KubernetesObject | None = None
    replicas: list[Replica] = []
    for obj in objects:
        if isinstance(obj, Pod):
            shared, key = _shared(obj), (id(obj.containers), id(obj.meta.labels))
            known = originals.get(key)
            if known is not None and shared == known[1]:
                replicas.append((obj, known[0]))
                continue
            if len(originals) >= MOST:
                originals.clear()
            originals[key] = obj, shared
        if first is not None:
            yield first, replicas
        first, replicas = obj, []
    if first is not None:
        yield first, replicas


def with_replicas(objects: Iterable[KubernetesObject]) -> Iterator[tuple[KubernetesObject, list[Pod]]]:
    """Yield each object with the pods that follow it and are its replicas; in order, each object once."""
    first: KubernetesObject | None = None
    replicas: list[Pod] = []
    known: Shared | None = None
    for obj in objects:
        if known is not None and isinstance(obj, Pod) and _shared(obj) == known:
            replicas.append(obj)
            continue
        if first is not None:
            yield first, replicas
        first, replicas = obj, []
        known = _shared(obj) if isinstance(obj, Pod) else None
    if first is not None:
        yield first, replicas
