"""``gang``: jobs of which enough tasks have to be placed together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.kubernetes.model import PodGroupCondition
from scheduler_core.schedulers.kube_batch.model import JobInfo, TaskInfo
from scheduler_core.schedulers.kube_batch.plugin import Registration
from scheduler_core.schedulers.kube_batch.session import Session

UNSCHEDULABLE = "Unschedulable"  # the condition's type
NOT_ENOUGH_RESOURCES = "NotEnoughResources"


def open_session(session: Session, arguments: Mapping[str, str]) -> Registration:
    """Register readiness, the order of jobs, the victims, and the condition at close."""
    del arguments

    def evictable(evictor: TaskInfo, candidates: Sequence[TaskInfo]) -> list[TaskInfo]:
        """Return the candidates without which their job is still ready.

        Each is judged by the job as it is, so several of one job may pass that together break its gang.
        """
        del evictor
        return [one for one in candidates if _spares(session.jobs[one.job])]

    def closing() -> None:
        """Write the condition of every job that is not ready."""
        for job in session.jobs.values():
            if not job.ready:
                session.unschedulable.add(job.id)
                condition = PodGroupCondition(UNSCHEDULABLE, "True", NOT_ENOUGH_RESOURCES, message_of(job))
                job.conditions = with_condition(job.conditions, condition)

    return Registration(
        job_order=_not_ready_first,
        job_ready=lambda job: job.ready,
        job_pipelined=lambda job: job.pipelined,
        job_valid=_validity,
        preemptable=evictable,
        reclaimable=evictable,
        closing=closing,
    )


def with_condition(
    conditions: tuple[PodGroupCondition, ...], condition: PodGroupCondition
) -> tuple[PodGroupCondition, ...]:
    """Return the conditions with this one in place of the first of its type, or at the end
    (Session.UpdateJobCondition).
    """
    types = [one.type for one in conditions]
    place = types.index(condition.type) if condition.type in types else len(types)
    return (*conditions[:place], condition, *conditions[place + 1 :])


def _spares(job: JobInfo) -> bool:
    return job.min_available <= job.ready_tasks - 1 or job.min_available == 1


def _not_ready_first(left: JobInfo, right: JobInfo) -> int:
    return int(left.ready) - int(right.ready)


def _validity(job: JobInfo) -> str:
    """Return why a job has too few tasks, "" if it has enough.

    The original evaluates this before any plugin has registered, so that it never rejects a job.
    """
    if (valid := job.valid_tasks) >= job.min_available:
        return ""
    return f"Not enough valid tasks for gang-scheduling, valid: {valid}, min: {job.min_available}"


def message_of(job: JobInfo) -> str:
    """Return the message of the condition Unschedulable."""
    short = job.min_available - job.ready_tasks
    return f"{short}/{len(job.tasks)} tasks in gang unschedulable: {fit_error(job)}"


def fit_error(job: JobInfo) -> str:
    """Return what the last task that was pipelined lacked on its node (JobInfo.FitError)."""
    if not job.short_of:
        return "0 nodes are available"
    counts: dict[str, int] = {}
    for names in job.short_of.values():
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    reasons = sorted(f"{count} insufficient {name}" for name, count in counts.items())
    return f"0/{len(job.short_of)} nodes are available, {', '.join(reasons)}."
