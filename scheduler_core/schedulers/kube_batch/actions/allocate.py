"""``allocate``: place pending tasks on idle resources, or on those being released (allocate.Execute)."""

from __future__ import annotations

import numpy as np

from scheduler_core.interrupts import look
from scheduler_core.schedulers.kube_batch.heap import Heap
from scheduler_core.schedulers.kube_batch.model import PENDING, JobInfo, TaskInfo
from scheduler_core.schedulers.kube_batch.session import Session


def allocate(session: Session) -> None:
    """Serve the queues in turn, one job a turn.

    A job is served until it is ready; from then on it gets one task a turn. It is dropped for the session
    at the first task that no node can take; what was allocated until then stays so, and keeps its nodes.
    """
    queues = Heap(session.queue_less)
    jobs: dict[str, Heap[JobInfo]] = {}
    for job in session.jobs.values():
        queues.push(session.queues[job.queue])
        jobs.setdefault(job.queue, Heap(session.job_less)).push(job)
    tasks: dict[str, Heap[TaskInfo]] = {}
    while queues:
        queue = session.pop_queue(queues)
        if session.overused(queue):
            session.drop_queue(queue.name, "overused")
            continue
        if not jobs[queue.name]:
            session.drop_queue(queue.name, "no jobs left")
            continue
        job = session.pop_job(jobs[queue.name], queue.name)
        if job.id not in tasks:
            pending = [task for task in job.of(PENDING) if not task.request.empty]
            tasks[job.id] = Heap(session.task_less, pending)
        if _serve(session, job, tasks[job.id]):
            jobs[queue.name].push(job)
        queues.push(queue)


def _serve(session: Session, job: JobInfo, tasks: Heap[TaskInfo]) -> bool:
    """Place a job's tasks in order; return whether it waits for another turn."""
    nodes = session.nodes
    while tasks:
        look()
        task = session.pop_task(tasks, job.id)
        job.short_of = {}
        passing = session.passing(task)
        candidates = (nodes.fit_idle(task) | nodes.fit_releasing(task)) & passing
        if not candidates.any():
            session.observe_nodes(task, passing, candidates, -1)
            session.drop_job(task, "no node fits the task")
            return False
        chosen = int(np.where(candidates, session.scores(task, candidates), -np.inf).argmax())
        session.observe_nodes(task, passing, candidates, chosen)
        if nodes.fits_idle(task, chosen):
            session.allocate(task, chosen)
        else:
            job.short_of = {nodes.names[chosen]: nodes.idle_of(chosen).missing(task.init_request)}
            session.pipeline(task, chosen)
        if tasks and session.job_ready(job):
            return True
    return False
