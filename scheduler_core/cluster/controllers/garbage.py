"""Garbage collection: objects with their last owner, pods with their node, and old terminated pods.

Source: ``pkg/controller/garbagecollector`` (background deletion) and ``pkg/controller/podgc``.
"""

from __future__ import annotations

from itertools import islice

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation
from scheduler_core.cluster.controllers.claims import released
from scheduler_core.cluster.controllers.owned import key_in
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import KubernetesObject, Node, PersistentVolumeClaim


def collect(gone: KubernetesObject, store: Store, now: float) -> Reconciliation:
    """Return the changes that follow from an object's deletion."""
    key = key_of(gone)
    if key in store.objects:
        return ()  # recreated in the meantime: the dependents are the new object's
    if isinstance(gone, Node):
        pods = [store.objects[("Pod", name)] for name in store.index.on.get(gone.meta.name, {})]
        waiting = [p for owner in store.daemon_sets for p in store.daemons(owner, gone.meta.name)]
        found = {key_of(pod): pod for pod in (*pods, *waiting)}
        return [Change("delete", pod, "DeletingOrphanedPod") for pod in found.values()]
    if isinstance(gone, PersistentVolumeClaim):
        return released(gone, store, now)
    changes = []
    for dependent in store.dependents(key):
        rest = tuple(r for r in dependent.meta.owner_references if key_in(dependent, r) != key)
        if any(key_in(dependent, reference) in store.objects for reference in rest):
            kept = replace(dependent, meta=replace(dependent.meta, owner_references=rest))
            changes.append(Change("update", kept, "OwnerDeleted"))
        else:
            changes.append(Change("delete", dependent, "GarbageCollected"))
    return changes


def terminated(store: Store) -> list[Change]:
    """Return the deletions of the oldest terminated pods beyond ``Options.terminated_pods``."""
    surplus = len(store.index.finished) - store.options.terminated_pods
    names = islice(store.index.finished, max(0, surplus))
    return [Change("delete", store.objects[("Pod", name)], "PodGC") for name in names]
