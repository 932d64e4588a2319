"""Plain cycles, which are repeated as they were decided: a pod is bound, and nobody waits for that."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.class_walks import ClassWalk
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


def walk_of(run: SchedulerRun, head: Entity) -> ClassWalk | None:
    """Return the walks of the class of the active queue's head.

    ``None`` if its cycle may do more, among calm ones, than bind its pod.
    """
    if not isinstance(head, QueuedPodInfo) or head.key in run.bound:
        return None
    pod = head.pod
    profile = run.scheduling.profile_of(pod)
    if profile is None or pod.terminating or pod.nominated_node:
        return None
    return run.scheduling.walks.find(pod, profile)
