"""``drf``: dominant resource fairness between jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scheduler_core.kube_batch.model import ALLOCATED_STATUSES, Job, Task
from scheduler_core.kube_batch.plugin import Registration
from scheduler_core.kube_batch.record import JobShares
from scheduler_core.kube_batch.resources import Resource, dominant_share, total
from scheduler_core.kube_batch.session import Session

SHARE_DELTA = 0.000001  # shares closer than this are equal where victims are chosen


@dataclass(slots=True)
class JobShare:
    """What a job has, and the highest share of any resource of the cluster that this is."""

    allocated: Resource
    share: float = 0.0
    dominant: str = ""


class Drf:
    """The shares of a session's jobs; ``total`` is the sum of allocatable over the nodes."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.total = total(session.nodes.total)
        self.shares: dict[str, JobShare] = {}
        for job in session.jobs.values():
            has = Resource()
            for status in ALLOCATED_STATUSES:
                for task in job.by_status.get(status, {}).values():
                    has.add(task.request)
            self.shares[job.id] = JobShare(has)
            self._update(job.id)

    def _update(self, job: str) -> None:
        of = self.shares[job]
        of.share, of.dominant = dominant_share(of.allocated, self.total)
        if self.session.observer is not None:
            self.session.observer.job_share(job, of.allocated.amounts(), of.share, of.dominant)

    def order(self, left: Job, right: Job) -> int:
        """Compare jobs: the smaller share comes first."""
        mine, theirs = self.shares[left.id].share, self.shares[right.id].share
        return (mine > theirs) - (mine < theirs)

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> list[Task]:
        """Return the candidates whose jobs, without them, still have at least the preemptor's share.

        A job's candidates add up in the order examined, whether or not they were chosen.
        """
        own = self.shares[preemptor.job].allocated.copy().add(preemptor.request)
        share = dominant_share(own, self.total)[0]
        left: dict[str, Resource] = {}
        found = []
        for one in candidates:
            rest = left.setdefault(one.job, self.shares[one.job].allocated.copy()).sub(one.request)
            theirs = dominant_share(rest, self.total)[0]
            if share < theirs or abs(share - theirs) <= SHARE_DELTA:
                found.append(one)
        return found

    def accounts(self) -> tuple[JobShares, ...]:
        """Return every job's share as it is."""
        return tuple(
            JobShares("", job, of.allocated.amounts(), of.share, of.dominant)
            for job, of in self.shares.items()
        )

    def allocated(self, task: Task) -> None:
        """Count a task that was placed."""
        self.shares[task.job].allocated.add(task.request)
        self._update(task.job)

    def deallocated(self, task: Task) -> None:
        """Count a task no more."""
        self.shares[task.job].allocated.sub(task.request)
        self._update(task.job)


def open_session(session: Session, arguments: Mapping[str, str]) -> Registration:
    """Compute the shares, and register the order, the victims and the event handlers."""
    del arguments
    drf = Drf(session)
    return Registration(
        job_order=drf.order,
        preemptable=drf.preemptable,
        allocated=drf.allocated,
        deallocated=drf.deallocated,
        job_shares=drf.accounts,
    )
