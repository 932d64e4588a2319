"""A cycle of a PodGroup on the view of a kube-scheduler v1.37: decided at once, written as it arrives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scheduler_core.run.several.v1_37_view import V1_37View
from scheduler_core.schedulers.v1_37.batches import InCycle
from scheduler_core.schedulers.v1_37.entities import QueuedGroup, QueuedPodInfo
from scheduler_core.schedulers.v1_37.groups.conditions import group_conditions, write_condition
from scheduler_core.schedulers.v1_37.groups.cycle import GroupCycle, run_cycle
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.run import Ran, SchedulerRun

Place = Callable[[QueuedPodInfo, PodAttempt], bool]
"""What assumes a pod on the node of its attempt and sends its binding; False if an extender refuses it."""


def is_leaving(group: QueuedGroup) -> bool:
    """Return whether all waiting members are being deleted: no cycle is about them."""
    return all(member.pod.terminating for member in group.members)


def schedule_group(view: V1_37View, group: QueuedGroup, place: Place) -> Ran:
    """Schedule the waiting members of a group, as :meth:`.SchedulerRun.cycle` does (scheduleOnePodGroup).

    Members that were placed are bound in turn; the others are filed again with their group, or wait in it.
    """
    run, first = view.scheduler_run, group.members[0].key
    waiting = {member.key: member for member in group.members}
    hints = InCycle(run.batching, run.queue.popped, run.clock.now)
    cycle = run_cycle(run.scheduling, run.nominations, run.configuration, group, hints)
    assert cycle is not None  # some member stays
    for change in cycle.changes:
        view.write_manifest(change)
    _fail(run, cycle)
    written = write_condition(run.cluster, group.key, cycle.status)
    if written is not None:
        view.write_manifest(written)
    victims = [pod for pod in cycle.victims if not pod.terminating]
    members = [member.key for member, _ in cycle.failed]
    run.rules.preempting |= set(members) if victims else set()
    run.file(group, [member for member, _ in cycle.failed], cycle.evaluation)
    _nominate(view, cycle)
    refused = [one for one in cycle.placed if not place(waiting[one.pod.key], one)]
    if refused:
        run.file_refused(group, [waiting[one.pod.key] for one in refused])
    bound = {one.pod.key: str(one.node) for one in cycle.placed if one.error is None}
    deleted = [pod.key for pod in victims]
    view.preempt(members, deleted, ())
    for waiting_member, attempt in cycle.failed:
        view.report(waiting_member.key, attempt)
    document = cycle.record.document(group_conditions(run.cluster.objects["PodGroup"][group.key]))
    return Ran(group.key, first, cycle.record.attempts, bound, deleted, [], document)


def _fail(run: SchedulerRun, cycle: GroupCycle) -> None:
    for waiting, attempt in cycle.failed:
        waiting.failed(run.clock.now, attempt.unschedulable_plugins, attempt.pending_plugins)


def _nominate(view: V1_37View, cycle: GroupCycle) -> None:
    """Nominate the members that found no node, or keep what they were nominated to (AddNominatedPod)."""
    run = view.scheduler_run
    for waiting, attempt in cycle.failed:
        if attempt.nominated is None:
            run.nominations.put(run.cluster.pods[waiting.key])
        else:
            view.nominate(waiting.key, attempt.nominated)


def failures(ran: Ran) -> Sequence[tuple[str, str]]:
    """Return the pods that a cycle did not place, each with its message."""
    over = (one for one in ran.attempts if one.result not in ("tried", "waiting"))
    failed = (one for one in over if one.pod.key not in ran.bound)
    return [(one.pod.key, one.message or "") for one in failed]
