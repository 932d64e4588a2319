"""Draining nodes: the pods of a cordoned node are evicted, as their PodDisruptionBudgets allow.

The annotation ``podstep/drain`` begins a drain, and goes with its end: ``true`` acts as ``kubectl drain
--ignore-daemonsets``, ``force`` as with ``--force``, too. The pods on the node at that moment are evicted in
order of their names, and those that a budget refuses again every 5 s. Pods of DaemonSets and static pods
stay; without ``force``, a pod without a controller ends the drain before anything is evicted.

Source: ``k8s.io/kubectl/pkg/drain`` and ``pkg/registry/core/pod/storage/eviction.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation, Wake
from scheduler_core.cluster.controllers.disruption import health_of
from scheduler_core.cluster.store import DRAIN, Store
from scheduler_core.kubernetes.model import Node, Pod, PodDisruptionBudget

FORCE = "force"
ALWAYS = "AlwaysAllow"
RETRY_SECONDS = 5.0
STAYING = ("DaemonSet", "Node")  # kinds of the controllers whose pods a drain leaves


def reconcile(node: Node, store: Store, now: float) -> Reconciliation:
    """Evict what may be evicted; end the drain once no pod of its beginning is left."""
    name = node.meta.name
    if name not in store.draining_since:
        return ()
    since, tried = store.draining_since[name], store.evictions_tried.get(name)
    pods = [pod for pod in _pods_at(node, store, since) if _owner(pod) not in STAYING]
    bare = [pod.meta.key for pod in pods if not _owner(pod)]
    if bare and tried is None and node.meta.annotations[DRAIN] != FORCE:
        text = f"{', '.join(bare)} declare no controller: drain with force to delete them"
        return (_ended(node, "DrainFailed", text),)
    if pods and tried is not None and now < (due := _next_try(since, tried, now)):
        return (Wake(due, f"evictions from {name} are tried again"),)
    store.evictions_tried[name] = now
    changes = list(_evictions(pods, store, first=tried is None))
    evicted = sum(change.action == "delete" for change in changes)
    return changes if evicted < len(pods) else [*changes, _ended(node, "Drained", "no pod is left to evict")]


def _next_try(since: float, tried: float, now: float) -> float:
    """Return the next moment, from ``now`` on, at which a refused eviction is tried again."""
    at = round(since + RETRY_SECONDS * ceil(round((now - since) / RETRY_SECONDS, 9)), 6)
    return at if at > tried else tried + RETRY_SECONDS


def _pods_at(node: Node, store: Store, since: float) -> list[Pod]:
    """Return the node's pods that were bound when its drain began, by name."""
    bound = store.index.bound_since
    return sorted(
        (pod for pod in store.pods_on(node.meta.name) if bound[pod.meta.key] <= since),
        key=lambda pod: pod.meta.key,
    )


def _owner(pod: Pod) -> str:
    controller = pod.meta.controller
    return "" if controller is None else controller.kind


def _ended(node: Node, reason: str, message: str) -> Change:
    left = {key: value for key, value in node.meta.annotations.items() if key != DRAIN}
    return Change("update", replace(node, meta=replace(node.meta, annotations=left)), reason, message)


def _evictions(pods: list[Pod], store: Store, *, first: bool) -> Iterator[Change]:
    """Yield an eviction of each pod, or at the ``first`` attempt the answer that refuses it."""
    taken: dict[str, int] = {}  # disruptions by budget, whose status follows
    for pod in pods:
        refusal = refusal_of(pod, store, taken)
        if not refusal:
            yield Change("delete", pod, "EvictionByEvictionAPI")
        elif first:
            yield Change("update", pod, "EvictionRefused", refusal)


def refusal_of(pod: Pod, store: Store, taken: dict[str, int]) -> str:
    """Return why a pod may not be evicted now, "" if it may; count it for its budget."""
    names = store.budgets.of(pod)
    if pod.phase == "Pending" or not names:
        return ""
    if len(names) > 1:
        return "it has more than one PodDisruptionBudget, which the eviction API does not support"
    budget = store.objects["PodDisruptionBudget", names[0]]
    assert isinstance(budget, PodDisruptionBudget)
    healthy, desired = health_of(budget, store)
    if not pod.ready and (budget.unhealthy_pod_eviction_policy == ALWAYS or healthy >= desired > 0):
        return ""
    if budget.disruptions_allowed <= taken.get(names[0], 0):
        return f"its PodDisruptionBudget {budget.meta.name} needs {desired} healthy pods and has {healthy}"
    taken[names[0]] = taken.get(names[0], 0) + 1
    return ""
