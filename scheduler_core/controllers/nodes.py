"""Nodes that fail: the taints that follow from the condition Ready, and the pods that these drive away.

Source: ``pkg/controller/nodelifecycle`` and its ``NoExecuteTaintManager``. Ready False taints the node
``not-ready``, Unknown ``unreachable``: NoSchedule at once, NoExecute after the grace period (40 s). Its pods
are not ready from the beginning; each is deleted when its own tolerations end (300 s by default).

=======================  =============================================================
``podstep/fails-at``     a node's annotation: virtual seconds at which it stops to answer
``podstep/recovers-at``  and at which it answers again
=======================  =============================================================
"""

from __future__ import annotations

import math
from dataclasses import replace

from scheduler_core.controllers.altered import altered
from scheduler_core.controllers.changes import Answers, Change, Wake
from scheduler_core.controllers.running import seconds
from scheduler_core.controllers.store import Store, evicts, ready_status
from scheduler_core.objects.model import Node, NodeCondition, Pod, Taint
from scheduler_core.objects.selectors import tolerates

FAILS, RECOVERS = "podstep/fails-at", "podstep/recovers-at"
_LATENCY = 1.0  # what is bound to a tainted node goes no sooner, or its controller would make it anew at once
TAINTS = {"False": "node.kubernetes.io/not-ready", "Unknown": "node.kubernetes.io/unreachable"}


def with_ready(node: Node, status: str) -> Node:
    """Return the node with another status of its condition Ready."""
    others = tuple(condition for condition in node.conditions if condition.type != "Ready")
    return replace(node, conditions=(*others, NodeCondition("Ready", status)))


def lifecycle(node: Node, store: Store, now: float) -> Answers:
    """Let the node fail or recover by its annotations, and taint it as its condition says."""
    fails, recovers = _written(node, FAILS), _written(node, RECOVERS)
    status = ready_status(node)
    planned = status
    if fails is not None and fails <= now < (math.inf if recovers is None else recovers):
        planned = "Unknown"
    elif recovers is not None and now >= recovers > (fails or 0.0):
        planned = "True" if status == "Unknown" else status
    if planned != status:
        told = "NodeNotReady" if planned == "Unknown" else "NodeReady"
        return (Change("update", with_ready(node, planned), told),)
    changed = replace(node, taints=_taints(node, store, now))
    changes: list[Change | Wake] = []
    if changed.taints != node.taints:
        changes.append(Change("update", changed, "TaintsChanged"))
    moments = [at for at in (fails, recovers, _grace_ends(node, store)) if at is not None and at > now]
    if moments:
        changes.append(Wake(min(moments), f"node {node.meta.name}"))
    if status != "True":
        changes += [
            Change("update", altered(pod, ready=False), "NodeNotReady")
            for pod in store.pods_on(node.meta.name)
            if pod.phase == "Running" and pod.ready
        ]
    return changes


def _written(node: Node, annotation: str) -> float | None:
    text = node.meta.annotations.get(annotation)
    return seconds(text) if text is not None else None


def _grace_ends(node: Node, store: Store) -> float | None:
    since = store.failing_since.get(node.meta.name)
    return None if since is None else round(since + store.options.grace_seconds, 6)


def _taints(node: Node, store: Store, now: float) -> tuple[Taint, ...]:
    """Return the taints that the node should have: ours by its condition, the others as they are."""
    key = TAINTS.get(ready_status(node))
    kept = tuple(t for t in node.taints if t.key == key or t.key not in TAINTS.values())
    if key is None:
        return kept
    ends = _grace_ends(node, store)
    effects = ("NoSchedule", "NoExecute") if ends is not None and now >= ends else ("NoSchedule",)
    present = {(taint.key, taint.effect) for taint in kept}
    return (*kept, *(Taint(key, "", effect) for effect in effects if (key, effect) not in present))


def evict(pod: Pod, store: Store, now: float) -> Answers:
    """Delete a pod whose node has taints NoExecute that it tolerates no longer."""
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
        return (Wake(at, f"{pod.meta.key} tolerates its node's taint no longer"),)
    return (Change("delete", pod, "TaintManagerEviction"),)
