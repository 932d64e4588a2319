"""ReplicaSet and ReplicationController: as many active pods as wanted.

Source: ``pkg/controller/replicaset``, ``manageReplicas``, and ``ActivePods`` for the order of deletion.
"""

from __future__ import annotations

from itertools import islice

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation
from scheduler_core.cluster.controllers.workloads import reference_to
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import Pod, Workload

BURST = 500  # pods created per reconciliation; the rest in the next
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def reconcile(owner: Workload, store: Store, now: float) -> Reconciliation:
    """Adopt, create or delete pods to match the replica count."""
    if owner.template is None or owner.meta.deletion_timestamp is not None:
        return ()
    adopted = [
        Change(
            "update", replace(pod, meta=replace(pod.meta, owner_references=(reference_to(owner),))), "Adopted"
        )
        for pod in store.orphans(owner)
    ]
    if adopted:
        return adopted  # they count once the controller owns them
    missing = owner.replicas - store.owned(key_of(owner)).active
    if missing > 0:
        return create(owner, store, now, missing)
    return delete(store.pods_of(owner), -missing) if missing < 0 else ()


def create(owner: Workload, store: Store, now: float, number: int) -> list[Change]:
    """Return the creations of ``number`` pods, as far as the limits permit."""
    number = min(number, BURST, store.options.most_pods - store.pods)
    names = islice(store.fresh_names(owner), max(0, number))
    return [Change("create", store.new_pod(owner, name, now), "SuccessfulCreate") for name in names]


def delete(pods: list[Pod], number: int) -> list[Change]:
    """Return the deletions of ``number`` pods; ``pods`` are in order of creation.

    Pods without a node are deleted first, then Pending before Running, then not ready, then the youngest.
    """
    youngest_first = list(reversed(pods))
    youngest_first.sort(key=lambda pod: (bool(pod.node_name), _PHASES.get(pod.phase, 1), pod.ready))
    return [Change("delete", pod, "SuccessfulDelete") for pod in youngest_first[:number]]
