"""StatefulSet: pods name-0 … name-(n-1) in order, each with claims that outlive it.

Source: ``pkg/controller/statefulset/stateful_set_control.go``, ``updateStatefulSet``. OrderedReady waits for
each pod to be Running and ready before the next; updates go from the highest ordinal down to the partition,
one pod at a time; pods below the partition keep, and come back with, the template before the update.
"""

from __future__ import annotations

from scheduler_core.controllers.changes import Answers, Change
from scheduler_core.controllers.replicas import BURST
from scheduler_core.controllers.revisions import begun, completed, is_current, marked
from scheduler_core.controllers.store import Store
from scheduler_core.objects.model import Pod, Workload
from scheduler_core.workloads import as_stateful, claims_of


def reconcile(owner: Workload, store: Store, now: float) -> Answers:
    """Take the next step: create what is missing, take away what is too much, replace what is out of date."""
    if owner.template is None or owner.meta.deletion_timestamp is not None:
        return ()
    if (known := begun(owner)) is not None:
        return (known,)
    pods = {pod.meta.name: pod for pod in _listed(owner, store)}
    made = _make_up(owner, store, now, pods)
    if made is not None:
        return made
    surplus = sorted((_ordinal(owner, pod) for pod in pods.values()), reverse=True)
    surplus = [ordinal for ordinal in surplus if ordinal >= owner.replicas]
    if surplus:
        going = surplus if owner.parallel else surplus[:1]
        return [Change("delete", pods[_name(owner, ordinal)], "SuccessfulDelete") for ordinal in going]
    return _update(owner, store, pods)


def _name(owner: Workload, ordinal: int) -> str:
    return f"{owner.meta.name}-{ordinal}"


def _ordinal(owner: Workload, pod: Pod) -> int:
    """Return a pod's ordinal, -1 if its name has none."""
    text = pod.meta.name.removeprefix(f"{owner.meta.name}-")
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def _listed(owner: Workload, store: Store) -> list[Pod]:
    """Return the set's pods, finished ones too: they stand in the way of their names."""
    keys = store.owned(("StatefulSet", owner.meta.key)).members
    found = [store.objects[key] for key in keys]
    return [pod for pod in found if isinstance(pod, Pod) and _ordinal(owner, pod) >= 0]


def _make_up(owner: Workload, store: Store, now: float, pods: dict[str, Pod]) -> Answers | None:
    """Return what makes the pods complete, ``()`` to wait for one, ``None`` if all are there."""
    changes: list[Change] = []
    waiting = False
    for ordinal in range(owner.replicas):
        pod = pods.get(_name(owner, ordinal))
        if pod is not None and not pod.terminal:
            if pod.available:
                continue
            waiting = True
            if owner.parallel:
                continue
            return ()
        if pod is not None:
            changes.append(Change("delete", pod, "RecreatingFailedPod"))
        elif store.pods + len(changes) < store.options.most_pods:
            changes += _create(owner, store, now, ordinal)
        if changes and (not owner.parallel or len(changes) >= BURST):
            return changes
    return changes or (() if waiting else None)


def _create(owner: Workload, store: Store, now: float, ordinal: int) -> list[Change]:
    name, namespace = _name(owner, ordinal), owner.meta.namespace
    if ("Pod", f"{namespace}/{name}") in store.objects:
        return []  # somebody else's
    assert owner.template is not None
    former = owner.status.current or owner.template
    template = former if ordinal < owner.strategy.partition else owner.template
    claims = [
        Change("create", claim, "SuccessfulCreate")
        for claim in claims_of(owner, name)
        if ("PersistentVolumeClaim", claim.meta.key) not in store.objects
    ]
    pod = as_stateful(owner, store.new_pod(owner, name, now, template=template))
    return [*claims, Change("create", marked(pod, store.revision(owner, template)), "SuccessfulCreate")]


def _update(owner: Workload, store: Store, pods: dict[str, Pod]) -> Answers:
    """Replace the highest pod that is out of date, once those above it are available."""
    if owner.strategy.type == "OnDelete":
        return ()
    for ordinal in range(owner.replicas - 1, owner.strategy.partition - 1, -1):
        pod = pods.get(_name(owner, ordinal))
        if pod is None:
            continue
        if not is_current(owner, store, pod):
            return (Change("delete", pod, "RollingUpdate"),)
        if not pod.available:
            return ()
    if owner.strategy.partition and any(not is_current(owner, store, pod) for pod in pods.values()):
        return ()
    return completed(owner)
