"""Failing nodes: the taints that follow from the condition Ready, and the eviction of their pods.

Source: ``pkg/controller/nodelifecycle`` and its ``NoExecuteTaintManager``. A node that stops responding
(:func:`scheduler_core.cluster.controllers.running.outage`) is detected after the grace period of 40 s: its
condition Ready becomes Unknown. Ready False taints the node ``not-ready``, Unknown ``unreachable``, with both
NoSchedule and NoExecute at once, and its pods become not ready. Each pod is evicted when its own tolerations
expire, by default after 300 s.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation, Wake
from scheduler_core.cluster.controllers.running import outage
from scheduler_core.cluster.store import Store, evicts, ready_status
from scheduler_core.kubernetes.model import Node, NodeCondition, Pod, Taint
from scheduler_core.kubernetes.selectors import tolerates

_LATENCY = 1.0  # pods bound to a tainted node are evicted no sooner, or they would be recreated at once
EFFECTS = ("NoSchedule", "NoExecute")
TAINTS = {"False": "node.kubernetes.io/not-ready", "Unknown": "node.kubernetes.io/unreachable"}


def with_ready(node: Node, status: str) -> Node:
    """Return the node with this status of its condition Ready."""
    others = tuple(condition for condition in node.conditions if condition.type != "Ready")
    return replace(node, conditions=(*others, NodeCondition("Ready", status)))


def lifecycle(node: Node, store: Store, now: float) -> Reconciliation:
    """Fail or recover the node by its annotations, and taint it according to its condition Ready."""
    status = ready_status(node)
    planned, moments = _planned(node, status, store.options.grace_seconds, now)
    if planned != status:
        reason = "NodeNotReady" if planned == "Unknown" else "NodeReady"
        return (Change("update", with_ready(node, planned), reason),)
    changed = replace(node, taints=_taints(node))
    changes: list[Change | Wake] = []
    if changed.taints != node.taints:
        changes.append(Change("update", changed, "TaintsChanged"))
    if ahead := [at for at in moments if now < at < math.inf]:
        changes.append(Wake(min(ahead), f"node {node.meta.name}"))
    if status != "True":
        changes += [
            Change("update", replace(pod, ready=False), "NodeNotReady")
            for pod in store.pods_on(node.meta.name)
            if pod.phase == "Running" and pod.ready
        ]
    return changes


def _planned(node: Node, status: str, grace: float, now: float) -> tuple[str, tuple[float, ...]]:
    """Return the status that Ready should have by the node's annotations, and when to reconcile again."""
    silent = outage(node)
    if silent is None:
        return status, ()
    fails, recovers = silent
    found_out = round(fails + grace, 6)
    if found_out <= now < recovers:
        return "Unknown", (recovers,)
    if now >= recovers and status == "Unknown":
        return "True", ()
    return status, (found_out, recovers)


def _taints(node: Node) -> tuple[Taint, ...]:
    """Return the taints that the node should have: those of its condition, and all others unchanged."""
    key = TAINTS.get(ready_status(node))
    kept = tuple(t for t in node.taints if t.key == key or t.key not in TAINTS.values())
    if key is None:
        return kept
    present = {(taint.key, taint.effect) for taint in kept}
    return (*kept, *(Taint(key, "", effect) for effect in EFFECTS if (key, effect) not in present))


def evict(pod: Pod, store: Store, now: float) -> Reconciliation:
    """Evict a pod that no longer tolerates a NoExecute taint of its node."""
    node = store.nodes.get(pod.node_name)
    if node is None or pod.terminal or not evicts(node):
        return ()
    ends = math.inf
    for taint in node.taints:
        if taint.effect == "NoExecute":
            used = next((t for t in pod.tolerations if tolerates((t,), taint)), None)
            if used is None:
                ends = 0.0
            elif used.toleration_seconds is not None:
                ends = min(ends, max(0, used.toleration_seconds))
    if ends == math.inf:
        return ()
    tainted, bound = store.tainted_since[node.meta.name], store.index.bound_since[pod.meta.key]
    at = round(max(tainted + ends, bound + max(ends, _LATENCY if bound >= tainted else 0.0)), 6)
    if now < at:
        return (Wake(at, f"{pod.meta.key} no longer tolerates its node's taint"),)
    return (Change("delete", pod, "TaintManagerEviction"),)
