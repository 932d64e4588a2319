"""``proportion``: the cluster divided between queues by weight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_core.kube_batch.model import ALLOCATED_STATUSES, PENDING, Queue, Task
from scheduler_core.kube_batch.plugin import Registration
from scheduler_core.kube_batch.record import FilledQueue, QueueShares
from scheduler_core.kube_batch.resources import Resource, dominant_share, total
from scheduler_core.kube_batch.session import Session


@dataclass(slots=True)
class QueueShare:
    """What a queue deserves, has and asks for; ``share`` is the highest part of what it deserves."""

    name: str
    weight: int
    deserved: Resource = field(default_factory=Resource)
    allocated: Resource = field(default_factory=Resource)
    request: Resource = field(default_factory=Resource)
    share: float = 0.0

    def update(self) -> None:
        """Compute the share anew."""
        self.share = dominant_share(self.allocated, self.deserved)[0]


class Proportion:
    """The shares of the queues that have at least one job."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.total = total(session.nodes.total)
        self.shares: dict[str, QueueShare] = {}
        for job in session.jobs.values():
            queue = session.queues[job.queue]
            of = self.shares.setdefault(job.queue, QueueShare(queue.name, queue.weight))
            for status, tasks in job.by_status.items():
                for task in tasks.values():
                    if status in ALLOCATED_STATUSES:
                        of.allocated.add(task.request)
                        of.request.add(task.request)
                    elif status == PENDING:
                        of.request.add(task.request)
        self._fill()

    def _fill(self) -> None:
        """Divide what remains by weight, round by round, until nothing does or every queue is satisfied.

        A queue is satisfied when it asks for strictly less than it deserves in every resource; so one that
        needs little of one and much of another keeps its part of both.
        """
        remaining, number = self.total.copy(), 0
        open_queues = dict(self.shares)
        while weights := sum(queue.weight for queue in open_queues.values()):
            number += 1
            before = remaining.copy()
            gained, lost = Resource(), Resource()
            filled = []
            for queue in list(open_queues.values()):
                former = queue.deserved.copy()
                queue.deserved.add(remaining.scaled(queue.weight / weights))
                if satisfied := queue.request.less(queue.deserved):
                    queue.deserved = queue.deserved.least(queue.request)
                    del open_queues[queue.name]
                queue.update()
                more, less = queue.deserved.difference(former)
                gained.add(more)
                lost.add(less)
                filled.append(FilledQueue(queue.name, queue.weight, queue.deserved.amounts(), satisfied))
            remaining.sub(gained).add(lost)
            if self.session.observer is not None:
                self.session.observer.filled(
                    number, weights, before.amounts(), tuple(filled), remaining.amounts()
                )
            if remaining.empty:
                break
        self._tell(self.shares.values())

    def _tell(self, queues: Iterable[QueueShare]) -> None:
        if self.session.observer is not None:
            for of in queues:
                self.session.observer.queue_share(
                    of.name, of.deserved.amounts(), of.allocated.amounts(), of.request.amounts(), of.share
                )

    def order(self, left: Queue, right: Queue) -> int:
        """Compare queues: the smaller share comes first."""
        mine, theirs = self.shares[left.name].share, self.shares[right.name].share
        return (mine > theirs) - (mine < theirs)

    def overused(self, queue: Queue) -> bool:
        """Return whether a queue has what it deserves of every resource."""
        of = self.shares[queue.name]
        return of.deserved.fits(of.allocated)

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> list[Task]:
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
            if of.deserved.fits(rest.sub(one.request)):
                found.append(one)
        return found

    def accounts(self) -> tuple[QueueShares, ...]:
        """Return every queue's share as it is."""
        return tuple(
            QueueShares(
                "", of.name, of.deserved.amounts(), of.allocated.amounts(), of.request.amounts(), of.share
            )
            for of in self.shares.values()
        )

    def _of(self, task: Task) -> QueueShare:
        return self.shares[self.session.jobs[task.job].queue]

    def allocated(self, task: Task) -> None:
        """Count a task that was placed."""
        of = self._of(task)
        of.allocated.add(task.request)
        of.update()
        self._tell((of,))

    def deallocated(self, task: Task) -> None:
        """Count a task no more."""
        of = self._of(task)
        of.allocated.sub(task.request)
        of.update()
        self._tell((of,))


def open_session(session: Session, arguments: Mapping[str, str]) -> Registration:
    """Divide the cluster, and register the order, the victims, overuse and the event handlers."""
    del arguments
    proportion = Proportion(session)
    return Registration(
        queue_order=proportion.order,
        overused=proportion.overused,
        reclaimable=proportion.reclaimable,
        allocated=proportion.allocated,
        deallocated=proportion.deallocated,
        queue_shares=proportion.accounts,
    )
