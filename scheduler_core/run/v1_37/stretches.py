"""Stretches of plain cycles of v1.37: each binds a pod to the node decided, and does nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scheduler_core.record.cycle import Decision
from scheduler_core.schedulers.columns.placements import holds_resources_only, place_all
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.v1_37.repeats import repeat
from scheduler_core.schedulers.v1_37.run import SchedulerRun

MOST = 1_000  # cycles of a stretch, between two looks at the bounds


def is_plain(decision: Decision) -> bool:
    """Return whether a decision does nothing but place its pod."""
    others = decision.victims or decision.cleared or decision.further or decision.nominated
    return decision.result == "scheduled" and decision.node is not None and not others


def bind_all(
    run: SchedulerRun,
    pods: Mapping[str, PodState],
    decisions: Sequence[Decision],
    may_try: Callable[[str], bool],
) -> int:
    """Bind the pods of the first decisions in v1.37's cluster, if they may be tried; return their number."""
    for number, decision in enumerate(decisions):
        head, pod = run.queue.active.first(), pods.get(decision.pod)
        if head is None or head.key != decision.pod or not may_try(head.key) or not is_plain(decision):
            return number
        if pod is None or not holds_resources_only(pod.info) or not repeat(run, head, str(decision.node)):
            return number
    return len(decisions)


def place(cluster: Cluster, decisions: Sequence[Decision]) -> None:
    """Place the pods of decisions in the typed cluster."""
    pods = [cluster.own(cluster.pods[decision.pod]) for decision in decisions]
    nodes = [str(decision.node) for decision in decisions]
    for pod in pods:
        pod.nominated = ""
    if cluster.counts_pods:
        place_all(cluster, pods, nodes)
    else:
        for pod, node in zip(pods, nodes):
            cluster.assume(pod, node)
