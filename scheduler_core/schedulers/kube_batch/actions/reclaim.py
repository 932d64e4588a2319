"""``reclaim``: evict running tasks of other queues for pending ones (reclaim.Execute)."""

from __future__ import annotations

import numpy as np

from scheduler_core.schedulers.kube_batch.heap import Heap
from scheduler_core.schedulers.kube_batch.model import PENDING, RUNNING, JobInfo, TaskInfo
from scheduler_core.schedulers.kube_batch.resources import Resource, total
from scheduler_core.schedulers.kube_batch.session import Session


def reclaim(session: Session) -> None:
    """Serve the queues in turn: the first task of the first job, each job once a session."""
    queues = Heap(session.queue_less)
    jobs: dict[str, Heap[JobInfo]] = {}
    tasks: dict[str, Heap[TaskInfo]] = {}
    for name in dict.fromkeys(job.queue for job in session.jobs.values()):
        queues.push(session.queues[name])
    for job in session.jobs.values():
        if pending := job.of(PENDING):
            jobs.setdefault(job.queue, Heap(session.job_less)).push(job)
            tasks[job.id] = Heap(session.task_less, pending)
    while queues:
        queue = session.pop_queue(queues)
        if session.overused(queue):
            session.drop_queue(queue.name, "overused")
            continue
        if not jobs.get(queue.name):
            session.drop_queue(queue.name, "no pending jobs left")
            continue
        job = session.pop_job(jobs[queue.name], queue.name)
        task = session.pop_task(tasks[job.id], job.id)
        if _reclaim_for(session, job, task):
            queues.push(queue)
        else:
            session.drop_job(task, "no victims of other queues make enough room")


def _reclaim_for(session: Session, job: JobInfo, task: TaskInfo) -> bool:
    """Evict tasks of other queues on the first node where that makes enough room."""
    passing = session.passing(task)
    session.observe_nodes(task, passing, passing, -1)
    for row in np.flatnonzero(passing).tolist():
        candidates = [
            one
            for one in session.nodes.tasks[row].values()
            if one.status == RUNNING and one.job in session.jobs and session.jobs[one.job].queue != job.queue
        ]
        victims = session.reclaimable(task, candidates)
        if not victims or not task.init_request.fits(total(one.request for one in victims)):
            continue
        reclaimed = Resource()
        for victim in victims:
            session.evict(victim, "reclaim")
            reclaimed.add(victim.request)
            if task.init_request.fits(reclaimed):
                break
        session.pipeline(task, row)
        return True
    return False
