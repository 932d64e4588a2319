"""``drf``: dominant resource fairness between jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.schedulers.kube_batch.model import ALLOCATED_STATUSES, JobInfo, TaskInfo
from scheduler_core.schedulers.kube_batch.plugin import Registration
from scheduler_core.schedulers.kube_batch.record import JobShares
from scheduler_core.schedulers.kube_batch.resources import Resource, dominant_share, total
from scheduler_core.schedulers.kube_batch.session import Session
from scheduler_core.schedulers.kube_batch.shares import Accounts, DominantShare

SHARE_DELTA = 0.000001  # shares closer than this are equal where victims are chosen


class Drf:
    """The shares of a session's jobs of ``total``, the sum of allocatable over the nodes."""

    def __init__(self, session: Session) -> None:
        self.total = total(session.nodes.total)
        accounts = {
            job.id: DominantShare(job.id, self.total, job.requested(ALLOCATED_STATUSES))
            for job in session.jobs.values()
        }
        self.shares = Accounts(accounts, lambda task: task.job, _shares, session.recorder)
        for account in accounts.values():
            account.update()
            self.shares.note(account)

    def order(self, left: JobInfo, right: JobInfo) -> int:
        """Compare jobs: the smaller share comes first."""
        return self.shares.compare(left.id, right.id)

    def preemptable(self, preemptor: TaskInfo, candidates: Sequence[TaskInfo]) -> list[TaskInfo]:
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


def _shares(action: str, job: DominantShare) -> JobShares:
    return JobShares(action, job.name, job.allocated.amounts(), job.share, job.dominant)


def open_session(session: Session, arguments: Mapping[str, str]) -> Registration:
    """Compute the shares, and register the order, the victims and the event handlers."""
    del arguments
    drf = Drf(session)
    return Registration(
        job_order=drf.order,
        preemptable=drf.preemptable,
        allocated=drf.shares.allocated,
        deallocated=drf.shares.deallocated,
        job_shares=drf.shares.present,
    )
