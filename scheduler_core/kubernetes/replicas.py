"""Pods of one template: they share all but name and uid, and so whatever is derived from the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter, is_

from scheduler_core.kubernetes.model import KubernetesObject, ObjectMeta, Pod

_OWN = frozenset(("name", "uid", "written"))
_SPECIFIED = tuple(name for name in Pod.__struct_fields__ if name != "meta")
specification = attrgetter(*_SPECIFIED)
"""Return a pod's fields but ``meta``."""

_shared = attrgetter(
    *(f"meta.{name}" for name in ObjectMeta.__struct_fields__ if name not in _OWN), *_SPECIFIED
)


def is_replica(pod: Pod, other: Pod) -> bool:
    """Return whether two pods have the same objects as all typed fields but their names and uids.

    False is inconclusive: equal fields may be different objects.
    """
    return all(map(is_, _shared(pod), _shared(other)))


def with_replicas(objects: Iterable[KubernetesObject]) -> Iterator[tuple[KubernetesObject, list[Pod]]]:
    """Yield each object with the pods that follow it and are its replicas; in order, each object once."""
    first: KubernetesObject | None = None
    replicas: list[Pod] = []
    known: tuple[object, ...] = ()
    for obj in objects:
        if known and isinstance(obj, Pod) and all(map(is_, _shared(obj), known)):
            replicas.append(obj)
            continue
        if first is not None:
            yield first, replicas
        first, replicas = obj, []
        known = _shared(obj) if isinstance(obj, Pod) else ()
    if first is not None:
        yield first, replicas
