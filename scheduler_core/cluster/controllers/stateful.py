"""StatefulSet: pods name-0 … name-(n-1) in order, each with claims that outlive it.

Source: ``pkg/controller/statefulset/stateful_set_control.go``, ``updateStatefulSet``. OrderedReady waits for
each pod to be Running and ready before the next; updates proceed from the highest ordinal down to the
partition, one pod at a time; pods below the partition keep the template before the update, and are recreated
with it.
"""

from __future__ import annotations

from scheduler_core.cluster.controllers.changes import Change, Reconciliation
from scheduler_core.cluster.controllers.owned import ordinal_of
from scheduler_core.cluster.controllers.replicas import BURST
from scheduler_core.cluster.controllers.revisions import begun, completed, is_current, marked, updating
from scheduler_core.cluster.controllers.workloads import as_stateful, claims_of
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import Pod, Workload


def reconcile(owner: Workload, store: Store, now: float) -> Reconciliation:
    """Take the next step: create missing pods, delete surplus ones, replace outdated ones."""
    if owner.template is None or owner.meta.deletion_timestamp is not None:
        return ()
    if (known := begun(owner)) is not None:
        return (known,)
    made = _make_up(owner, store, now)
    if made is not None:
        return made
    if len(store.owned(key_of(owner)).members) > owner.replicas:
        surplus = [pod for pod in store.pods_of(owner) if ordinal_of(pod) >= owner.replicas]
        surplus.sort(key=ordinal_of, reverse=True)
        if surplus:
            going = surplus if owner.parallel else surplus[:1]
            return [Change("delete", pod, "SuccessfulDelete") for pod in going]
    return _update(owner, store) if updating(owner) else ()


def _name(owner: Workload, ordinal: int) -> str:
    return f"{owner.meta.name}-{ordinal}"


def _make_up(owner: Workload, store: Store, now: float) -> Reconciliation | None:
    """Return the changes that complete the pods, ``()`` while waiting for one, ``None`` if all exist."""
    changes: list[Change] = []
    waiting = False
    for ordinal in range(store.steady(owner), owner.replicas):
        pod = store.member(owner, _name(owner, ordinal))
        if pod is not None and not pod.terminal:
            if pod.available:
                continue
            waiting = True
            if owner.parallel:
                continue
            return ()
        if pod is not None:
            changes.append(Change("delete", pod, "RecreatingFailedPod"))
        elif store.pods + len(changes) >= store.options.most_pods:
            break  # the number of ordinals may be any 32-bit integer
        else:
            changes += _create(owner, store, now, ordinal)
        if not owner.parallel or len(changes) >= BURST:
            return changes
    return changes or (() if waiting else None)


def _create(owner: Workload, store: Store, now: float, ordinal: int) -> list[Change]:
    name, namespace = _name(owner, ordinal), owner.meta.namespace
    if ("Pod", f"{namespace}/{name}") in store.objects:
        return []  # a pod of that name belongs to another owner
    assert owner.template is not None
    current = owner.status.current or owner.template
    template = current if ordinal < owner.strategy.partition else owner.template
    claims = [
        Change("create", claim, "SuccessfulCreate")
        for claim in claims_of(owner, name)
        if ("PersistentVolumeClaim", claim.meta.key) not in store.objects
    ]
    pod = as_stateful(owner, store.new_pod(owner, name, now, template=template))
    return [*claims, Change("create", marked(pod, store.revision(owner, template)), "SuccessfulCreate")]


def _ordered(owner: Workload, store: Store) -> list[Pod]:
    """Return the pods from the highest ordinal down to the partition, including terminated ones."""
    found = [store.objects[key] for key in store.owned(key_of(owner)).members]
    wanted = range(owner.strategy.partition, owner.replicas)
    pods = [
        pod
        for pod in found
        if isinstance(pod, Pod)
        and ordinal_of(pod) in wanted
        and pod.meta.name == _name(owner, ordinal_of(pod))
    ]
    return sorted(pods, key=ordinal_of, reverse=True)


def _update(owner: Workload, store: Store) -> Reconciliation:
    """Delete the highest outdated pod, once those above it are available, so that it is recreated."""
    if owner.strategy.type == "OnDelete":
        return ()
    for pod in _ordered(owner, store):
        if not is_current(owner, store, pod):
            return (Change("delete", pod, "RollingUpdate"),)
        if not pod.available:
            return ()
    if any(not is_current(owner, store, pod) for pod in store.pods_of(owner)):
        return ()  # those below the partition are outdated
    return completed(owner)
