"""``proportion``: the cluster divided between queues by weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import field

from scheduler_core.schedulers.kube_batch.model import ALLOCATED_STATUSES, PENDING, QueueInfo, TaskInfo
from scheduler_core.schedulers.kube_batch.plugin import Registration
from scheduler_core.schedulers.kube_batch.record import FilledQueue, ProportionRound, QueueShares
from scheduler_core.schedulers.kube_batch.resources import Resource, total
from scheduler_core.schedulers.kube_batch.session import Session
from scheduler_core.schedulers.kube_batch.shares import Accounts, DominantShare

REQUESTING_STATUSES = ALLOCATED_STATUSES | {PENDING}


class QueueAccount(DominantShare):
    """What a queue deserves (``whole``), has and asks for."""

    weight: int = 0
    request: Resource = field(default_factory=Resource)


class Proportion:
    """The shares of the queues that have at least one job."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.total = total(session.nodes.total)
        queues: dict[str, QueueAccount] = {}
        for job in session.jobs.values():
            name = job.queue
            account = queues.setdefault(
                name, QueueAccount(name, Resource(), weight=session.queues[name].weight)
            )
            account.allocated.add(job.requested(ALLOCATED_STATUSES))
            account.request.add(job.requested(REQUESTING_STATUSES))
        self.shares = Accounts(queues, lambda task: session.jobs[task.job].queue, _shares, session.recorder)
        self._fill()

    def _fill(self) -> None:
        """Divide what remains by weight, round by round, until nothing does or every queue is satisfied.

        A queue is satisfied when it asks for strictly less than it deserves in every resource; so one that
        needs little of one and much of another keeps its part of both.
        """
        remaining, number = self.total.copy(), 0
        open_queues = dict(self.shares.accounts)
        while weights := _int32(sum(queue.weight for queue in open_queues.values())):
            number += 1
            before = remaining.copy()
            gained, lost = Resource(), Resource()
            filled = []
            for queue in list(open_queues.values()):
                previous = queue.whole.copy()
                queue.whole.add(remaining.scaled(queue.weight / weights))
                if satisfied := queue.request.less(queue.whole):
                    queue.whole = queue.whole.least(queue.request)
                    del open_queues[queue.name]
                queue.update()
                more, less = queue.whole.difference(previous)
                gained.add(more)
                lost.add(less)
                filled.append(FilledQueue(queue.name, queue.weight, queue.whole.amounts(), satisfied))
            remaining.sub(gained).add(lost)
            if (recorder := self.session.recorder) is not None:
                recorder.note(
                    ProportionRound(
                        recorder.action,
                        number,
                        weights,
                        before.amounts(),
                        tuple(filled),
                        remaining.amounts(),
                    )
                )
            if remaining.empty:
                break
        for account in self.shares.accounts.values():
            self.shares.note(account)

    def order(self, left: QueueInfo, right: QueueInfo) -> int:
        """Compare queues: the smaller share comes first."""
        return self.shares.compare(left.name, right.name)

    def overused(self, queue: QueueInfo) -> bool:
        """Return whether a queue has what it deserves of every resource."""
        of = self.shares[queue.name]
        return of.whole.fits(of.allocated)

    def reclaimable(self, reclaimer: TaskInfo, candidates: Sequence[TaskInfo]) -> list[TaskInfo]:
        """Return the candidates without which their queues still have what they deserve.

        A queue's candidates add up in the order examined, whether or not they were chosen.
        """
        del reclaimer
        left: dict[str, Resource] = {}
        found = []
        for one in candidates:
            of = self.shares[self.session.jobs[one.job].queue]
            rest = left.setdefault(of.name, of.allocated.copy())
            if rest.less(one.request):
                continue
            if of.whole.fits(rest.sub(one.request)):
                found.append(one)
        return found


def _int32(number: int) -> int:
    """Return a number as it overflows in the original, which then ends as nothing can be divided by it."""
    return (number + 2**31) % 2**32 - 2**31


def _shares(action: str, queue: QueueAccount) -> QueueShares:
    return QueueShares(
        action,
        queue.name,
        queue.whole.amounts(),
        queue.allocated.amounts(),
        queue.request.amounts(),
        queue.share,
    )


def open_session(session: Session, arguments: Mapping[str, str]) -> Registration:
    """Divide the cluster, and register the order, the victims, overuse and the event handlers."""
    del arguments
    proportion = Proportion(session)
    return Registration(
        queue_order=proportion.order,
        overused=proportion.overused,
        reclaimable=proportion.reclaimable,
        allocated=proportion.shares.allocated,
        deallocated=proportion.shares.deallocated,
        queue_shares=proportion.shares.present,
    )
