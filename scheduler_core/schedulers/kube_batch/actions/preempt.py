"""``preempt``: evict running tasks for pending ones of the same queue (preempt.Execute)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scheduler_core.schedulers.kube_batch.heap import Heap
from scheduler_core.schedulers.kube_batch.model import PENDING, RUNNING, JobInfo, TaskInfo
from scheduler_core.schedulers.kube_batch.resources import Resource, total
from scheduler_core.schedulers.kube_batch.session import Session
from scheduler_core.schedulers.kube_batch.statement import Statement

Filter = Callable[[TaskInfo], bool]


def preempt(session: Session) -> None:
    """For each queue preempt between its jobs, then, for the jobs of all queues, within each job.

    The second part follows the first of every queue: it takes a task off each job with pending ones, those
    of queues whose turn is still to come among them.
    """
    preemptors: dict[str, Heap[JobInfo]] = {}
    tasks: dict[str, Heap[TaskInfo]] = {}
    queues = dict.fromkeys(job.queue for job in session.jobs.values())
    for job in session.jobs.values():
        if pending := job.of(PENDING):
            preemptors.setdefault(job.queue, Heap(session.job_less)).push(job)
            tasks[job.id] = Heap(session.task_less, pending)
    for queue in queues:
        if queue in preemptors:
            _between_jobs(session, preemptors[queue], tasks)
        _within_jobs(session, tasks)


def _between_jobs(session: Session, jobs: Heap[JobInfo], tasks: dict[str, Heap[TaskInfo]]) -> None:
    """Preempt for the jobs of a queue in order, all or nothing: a job that is not pipelined is undone."""
    while jobs:
        job = session.pop_job(jobs, jobs.items[0].queue)
        statement, assigned = Statement(session, job.id), False
        while tasks[job.id]:
            task = session.pop_task(tasks[job.id], job.id)

            def other_jobs(victim: TaskInfo, job: JobInfo = job) -> bool:
                owner = session.jobs.get(victim.job)
                return owner is not None and owner.queue == job.queue and victim.job != job.id

            if _preempt_for(session, statement, task, other_jobs):
                assigned = True
            if session.job_pipelined(job):
                statement.commit()
                break
        if not session.job_pipelined(job):
            statement.discard()
        elif assigned:
            jobs.push(job)


def _within_jobs(session: Session, tasks: dict[str, Heap[TaskInfo]]) -> None:
    """Preempt tasks of the same job, until that fails once."""
    for job, waiting in tasks.items():
        while waiting:
            task = session.pop_task(waiting, job)
            statement = Statement(session, job)
            assigned = _preempt_for(session, statement, task, lambda victim, job=job: victim.job == job)  # type: ignore[misc]
            statement.commit()
            if not assigned:
                break


def _preempt_for(session: Session, statement: Statement, task: TaskInfo, may_be: Filter) -> bool:
    """Evict tasks of the best node where that makes enough room; return whether the task was pipelined.

    What is idle does not count: victims alone have to cover the request.
    """
    nodes = session.nodes
    passing = session.passing(task)
    rows = np.flatnonzero(passing)
    scores = session.scores(task, passing)[rows]
    session.observe_nodes(task, passing, passing, -1)
    for row in rows[np.lexsort((rows, scores))][::-1].tolist():  # of equal scores the larger name first
        candidates = [one for one in nodes.tasks[row].values() if one.status == RUNNING and may_be(one)]
        victims = session.preemptable(task, candidates)
        if not victims or not task.init_request.fits(total(one.request for one in victims)):
            continue
        waiting = Heap(lambda left, right: not session.task_less(left, right), victims)
        preempted = Resource()
        while waiting:
            victim = session.pop_task(waiting, task.job)
            statement.evict(victim, "preempt")
            preempted.add(victim.request)
            if task.init_request.fits(preempted):
                break
        statement.pipeline(task, row)
        return True
    return False
