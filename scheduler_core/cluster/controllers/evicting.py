"""One eviction: a pod goes through the eviction API, once, if its PodDisruptionBudget allows it.

The annotation ``podstep/evict`` on a pod is what a client posts to its ``eviction`` subresource. It goes with
the answer, which is an event if a budget refuses: unlike a drain, nobody tries again.
"""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation
from scheduler_core.cluster.controllers.draining import refusal_of
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.model import Pod

EVICT = "podstep/evict"


def reconcile(pod: Pod, store: Store, now: float) -> Reconciliation:
    """Answer the eviction that a pod's annotation asks for."""
    del now
    if EVICT not in pod.meta.annotations:
        return ()
    refusal = refusal_of(pod, store, {})
    if not refusal:
        return (Change("delete", pod, "EvictionByEvictionAPI"),)
    left = {key: value for key, value in pod.meta.annotations.items() if key != EVICT}
    kept = replace(pod, meta=replace(pod.meta, annotations=left))
    return (Change("update", kept, "EvictionRefused", refusal),)
