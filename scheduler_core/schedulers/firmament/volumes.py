"""What Poseidon makes of persistent volumes: expressions of the pod, or a pod that is left alone."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scheduler_core.kubernetes.model import Affinity, NodeSelectorTerm, PersistentVolume, Pod, Requirement
from scheduler_core.schedulers.columns.storage import Storage


def unbound_claim(pod: Pod, storage: Storage) -> str:
    """Return the first claim of a pod that is not bound, "" if all are."""
    for volume in pod.volumes:
        if volume.claim is not None:
            key = f"{pod.meta.namespace}/{volume.claim}"
            claim = storage.claims.get(key)
            if claim is None or not claim.volume_name:
                return key
    return ""


def with_volumes(pod: Pod, storage: Storage) -> Pod:
    """Return a pod with the node affinity of its volumes in its first node selector term."""
    added = tuple(_expressions(pod, storage))
    if not added:
        return pod
    affinity = pod.affinity or Affinity()
    first, *others = affinity.node_required or (NodeSelectorTerm(),)
    merged = replace(first, match_expressions=(*first.match_expressions, *added))
    return replace(pod, affinity=replace(affinity, node_required=(merged, *others)))


def _expressions(pod: Pod, storage: Storage) -> Iterator[Requirement]:
    for volume in pod.volumes:
        claim = storage.claims.get(f"{pod.meta.namespace}/{volume.claim}") if volume.claim else None
        bound: PersistentVolume | None = storage.volumes.get(claim.volume_name) if claim else None
        for term in (bound.node_affinity or ()) if bound is not None else ():
            yield from term.match_expressions
