"""``priority``: tasks and jobs by priority, and victims of jobs with a lower one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.schedulers.kube_batch.model import JobInfo, TaskInfo
from scheduler_core.schedulers.kube_batch.plugin import Registration
from scheduler_core.schedulers.kube_batch.session import Session


def open_session(session: Session, arguments: Mapping[str, str]) -> Registration:
    """Register the orders and the victims."""
    del arguments

    def job_order(left: JobInfo, right: JobInfo) -> int:
        return right.priority - left.priority

    def task_order(left: TaskInfo, right: TaskInfo) -> int:
        return right.priority - left.priority

    def preemptable(preemptor: TaskInfo, candidates: Sequence[TaskInfo]) -> list[TaskInfo]:
        """Return the candidates whose jobs, not they themselves, have a lower priority."""
        own = session.jobs[preemptor.job].priority
        return [one for one in candidates if session.jobs[one.job].priority < own]

    return Registration(job_order=job_order, task_order=task_order, preemptable=preemptable)
