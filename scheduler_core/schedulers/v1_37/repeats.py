"""Plain cycles repeated as they were decided: a pod is bound, and nobody waits for that."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.clock import CYCLE
from scheduler_core.schedulers.v1_37.entities import Entity, QueuedPodInfo
from scheduler_core.schedulers.v1_37.interface import ClusterEvent
from scheduler_core.schedulers.v1_37.run import SchedulerRun

_BOUND = ClusterEvent("AssignedPod", "Add", None, None)


def calm_cycles(run: SchedulerRun) -> int | None:
    """Return how many plain cycles pass before time moves an entity, ``None`` for any number.

    0 if one may do more than bind its pod: somebody waits for that, or others are asked about it.
    """
    queue = run.queue
    asked = run.scheduling.extension is not None or queue.sort is not None or run.nominations.nodes()
    if asked or queue.flights or not queue.wakes_nobody(_BOUND) or not run.scheduling.walks.renew():
        return 0
    due = queue.next_due()
    return None if due is None else max(0, (due - run.clock.now - 1) // CYCLE)


def repeat(run: SchedulerRun, head: Entity, node: str) -> bool:
    """Bind the head of the active queue to a node, among calm cycles; return whether it is plain.

    The time of the cycle is left to pass.
    """
    if not isinstance(head, QueuedPodInfo) or head.pod.terminating or head.pod.nominated_node:
        return False
    pod, scheduling = head.pod, run.scheduling
    profile = scheduling.profile_of(pod)
    walk = None if profile is None else scheduling.walks.find(pod, profile)
    start = None if walk is None else walk.end(scheduling.start)
    if start is None or run.cluster.nodes.row(node) is None:
        return False
    scheduling.start = start
    run.queue.pop()
    run.queue.done()
    run.batching.drop(pod.scheduler_name)
    run.cluster.bind(pod, node)
    run.bound[pod.key] = node
    return True
