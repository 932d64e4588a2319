"""DaemonSet: one pod for each eligible node.

Source: ``pkg/controller/daemon``. Since 1.12 the pod is Pending with a node affinity to its node's name, and
the scheduler binds it; ``Options.bind_daemons`` selects the controller of v1.11, which checks resources and
binds the pod itself (:mod:`scheduler_core.cluster.controllers.daemon_admission`). Pods that do not tolerate a
NoExecute taint of their node are deleted. An update replaces pods, with at most ``maxUnavailable`` (1)
unavailable at a time.
"""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation
from scheduler_core.cluster.controllers.daemon_admission import (
    daemon_node,
    fits_daemon,
    with_daemon_affinity,
    with_daemon_tolerations,
)
from scheduler_core.cluster.controllers.deployment import share
from scheduler_core.cluster.controllers.revisions import begun, completed, is_current, marked, updating
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import Node, Pod, Workload
from scheduler_core.kubernetes.selectors import node_selected, tolerates

DaemonPairs = list[tuple[Workload, Node]]


def reconcile(owner: Workload, store: Store, now: float) -> Reconciliation:
    """Reconcile a DaemonSet on all nodes: it is new or changed, or an update is in progress."""
    if owner.template is None or owner.meta.deletion_timestamp is not None:
        return ()
    if (known := begun(owner)) is not None:
        return (known,)
    return _place(store, [(owner, node) for node in store.nodes.values()], now) or update(owner, store, now)


def on_node(node: Node, store: Store, now: float) -> Reconciliation:
    """Reconcile all DaemonSets on one node."""
    owners = [store.objects[key] for key in store.daemon_sets]
    pairs = [(o, node) for o in owners if isinstance(o, Workload) and o.status.current is not None]
    return _place(store, pairs, now)


def _place(store: Store, pairs: DaemonPairs, now: float) -> list[Change]:
    changes: list[Change] = []
    names = {key_of(owner): store.fresh_names(owner) for owner, _ in pairs}
    made = 0
    for owner, node in pairs:
        pods = store.daemons(key_of(owner), node.meta.name)
        changes += [Change("delete", pod, "FailedDaemonPod") for pod in pods if pod.terminal]
        alive = [pod for pod in pods if not pod.terminal]
        runs, stays = _eligible(owner, store, node)
        if runs and not alive:
            if store.pods + made < store.options.most_pods:
                name = next(names[key_of(owner)])
                changes.append(Change("create", _pod(owner, store, node, name, now), "SuccessfulCreate"))
                made += 1
        else:
            alive.sort(key=lambda pod: not pod.node_name)
            changes += [Change("delete", pod, "SuccessfulDelete") for pod in alive[1 if stays else 0 :]]
    return changes


def _eligible(owner: Workload, store: Store, node: Node) -> tuple[bool, bool]:
    """Return whether the node should run a pod, and whether an existing pod continues to run.

    Source: ``NodeShouldRunDaemonPod``.
    """
    assert owner.template is not None
    pod = with_daemon_tolerations(owner.template)
    if pod.node_name not in ("", node.meta.name) or not node_selected(pod, node):
        return False, False
    refused = [taint for taint in node.taints if not tolerates(pod.tolerations, taint)]
    stays = not any(taint.effect == "NoExecute" for taint in refused)
    runs = stays and not any(taint.effect == "NoSchedule" for taint in refused)
    if runs and store.options.bind_daemons:
        runs = fits_daemon(pod, node, store.pods_on(node.meta.name))
    return runs, stays


def _pod(owner: Workload, store: Store, node: Node, name: str, now: float) -> Pod:
    assert owner.template is not None
    pod = with_daemon_tolerations(store.new_pod(owner, name, now))
    pod = marked(pod, store.revision(owner, owner.template))
    if store.options.bind_daemons:
        return replace(pod, node_name=node.meta.name)
    return with_daemon_affinity(pod, node.meta.name)


def update(owner: Workload, store: Store, now: float) -> Reconciliation:
    """Delete pods of an old template: unavailable ones at once, others as ``maxUnavailable`` permits."""
    del now
    if owner.strategy.type == "OnDelete" or not updating(owner):
        return ()
    pods = store.pods_of(owner)
    old = [pod for pod in pods if not is_current(owner, store, pod)]
    if not old:
        return completed(owner)
    wanted = 1 if owner.strategy.max_unavailable is None else owner.strategy.max_unavailable
    nodes = len({daemon_node(pod) for pod in pods})
    allowed = max(1, share(wanted, nodes, up=True))
    missing = [pod for pod in old if not pod.available]
    serving = [pod for pod in old if pod.available]
    spare = max(0, allowed - (nodes - sum(pod.available for pod in pods)))
    return [Change("delete", pod, "RollingUpdate") for pod in (*missing, *serving[:spare])]
