"""Stretches of plain cycles of v1.11: each places a pod, or finds no node, and changes nothing else.

A stretch is repeated, and undone, at once rather than cycle by cycle: a reader goes back and forth in a long
run without beginning again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.record.cycle import Decision
from scheduler_core.schedulers.columns.placements import (
    displace_all,
    holds_resources_only,
    place_all,
)
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.v1_11.queue import PriorityQueue

MOST = 50_000  # cycles of a stretch, between two looks at the bounds


def is_plain(pod: PodState, decision: Decision) -> bool:
    """Return whether a decision does nothing but place the pod, or leave it pending."""
    others = decision.victims or decision.cleared or decision.further or decision.nominated or pod.nominated
    return not others and holds_resources_only(pod.info)


def stretch(cluster: Cluster, queue: PriorityQueue, decisions: Iterable[Decision]) -> list[PodState]:
    """Return the pods of the first decisions that can be repeated at once, none if not even the first can."""
    if queue.seeks or not cluster.counts_pods:
        return []
    names = cluster.columns.index
    pods: list[PodState] = []
    for pod, decision in zip(queue.heads(), decisions):
        node = decision.node
        fits = node in names if node is not None else not pod.info.terms.required
        if pod.key != decision.pod or not fits or not is_plain(pod, decision):
            break
        pods.append(pod)
    return pods


def repeat(
    cluster: Cluster, queue: PriorityQueue, decisions: Sequence[Decision], pods: Sequence[PodState]
) -> None:
    """Apply decisions about the queue's next pods."""
    queue.pop_all(len(pods))
    placed = [pod for pod, decision in zip(pods, decisions) if decision.node is not None]
    place_all(cluster, placed, [decision.node for decision in decisions if decision.node is not None])
    failed = (pod for pod, decision in zip(pods, decisions) if decision.node is None)
    queue.fail_all(failed, moved=decisions[-1].node is not None)


def undo(cluster: Cluster, queue: PriorityQueue, decisions: Sequence[Decision]) -> None:
    """Undo the last decisions, all of them plain."""
    pods = [cluster.pods[decision.pod] for decision in reversed(decisions)]
    displace_all(cluster, [pod for pod in pods if pod.node_name])
    queue.put_back(pods)
