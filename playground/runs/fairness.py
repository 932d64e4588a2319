"""The order of queued runs: round robin over addresses, and over the visitors of one address.

A new cookie is free, so an address is one participant, and the visitors behind it (a lecture hall may share
one address) share its turns. Among participants, the one with the fewest runs in progress comes first, then
the one whose last turn is longest ago, then the oldest run. The order is computed from rows alone; which
worker computes a run is decided by :func:`playground.runs.compute.claim_run`.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count

from django.db.models import Max, Q
from django.utils import timezone
from msgspec import Struct

from playground.models import CANCELLING, CLAIM_SECONDS, QUEUED, RUNNING, Run
from playground.queues import QUEUES

TURNS_REMEMBERED = timedelta(hours=1)  # participants without a turn for longer count as never served
NOBODY_FREE_SECONDS = 3.0  # a run that has waited longer was not just missed by a race
NEVER = datetime.min.replace(tzinfo=UTC)

Visitor = tuple[str, str]  # address, owner


class QueuedRun(Struct, frozen=True):
    """A queued run, its visitor, and since when it has been waiting."""

    run: str
    visitor: Visitor
    since: datetime


@dataclass(slots=True)
class _ParticipantQueue:
    """The queue of one participant: runs in progress, time of the last turn, and waiting runs in order."""

    running: int
    last: datetime
    since: datetime
    runs: list[str]


def participant(visitor: Visitor) -> str:
    """Return the participant that a visitor's turns count for: the address, or the owner if it is unknown."""
    address, owner = visitor
    return address or f"owner:{owner}"


def fair_order(
    waiting: Iterable[QueuedRun], running: Iterable[Visitor], last: Mapping[Visitor, datetime]
) -> list[str]:
    """Return the ids of the waiting runs, the next one first.

    ``running`` has the visitor of each run in progress, ``last`` the time of each visitor's last claimed run.
    """
    by_visitor: defaultdict[Visitor, list[QueuedRun]] = defaultdict(list)
    for one in sorted(waiting, key=lambda one: (one.since, one.run)):
        by_visitor[one.visitor].append(one)
    owners, addresses = _counts(running)
    turns: dict[str, datetime] = {}
    for visitor, moment in last.items():
        turns[participant(visitor)] = max(moment, turns.get(participant(visitor), NEVER))
    lines: defaultdict[str, list[_ParticipantQueue]] = defaultdict(list)
    for visitor, runs in by_visitor.items():
        line = _ParticipantQueue(
            owners[visitor], last.get(visitor, NEVER), runs[0].since, [one.run for one in runs]
        )
        lines[participant(visitor)].append(line)
    return _round_robin(
        _ParticipantQueue(
            addresses[name],
            turns.get(name, NEVER),
            min(line.since for line in of),
            _round_robin(of),
        )
        for name, of in lines.items()
    )


def _counts(running: Iterable[Visitor]) -> tuple[Counter[Visitor], Counter[str]]:
    owners = Counter(running)
    addresses: Counter[str] = Counter()
    for visitor, runs in owners.items():
        addresses[participant(visitor)] += runs
    return owners, addresses


def _round_robin(lines: Iterable[_ParticipantQueue]) -> list[str]:
    """Take from the queue with the fewest runs, those taken here included; tie-break by the last turn."""
    ranked = sorted(lines, key=lambda line: (line.last, line.since, line.runs[0]))
    heap: list[tuple[int, int, Iterator[str]]] = [
        (line.running, rank, iter(line.runs)) for rank, line in enumerate(ranked)
    ]
    heapq.heapify(heap)
    turn = count(len(heap))
    order: list[str] = []
    while heap:
        running, _, runs = heap[0]
        run = next(runs, None)
        if run is None:
            heapq.heappop(heap)
            continue
        order.append(run)
        heapq.heapreplace(heap, (running + 1, next(turn), runs))
    return order


def stale(now: datetime) -> Q:
    """Return the query condition for a run whose worker has sent no heartbeat for too long."""
    return Q(state__in=(RUNNING, CANCELLING)) & Q(heartbeat__lt=now - timedelta(seconds=CLAIM_SECONDS))


def next_runs(queue: str) -> list[str]:
    """Return the runs of a queue that a worker may claim, in the order in which it should try them.

    A run whose worker died comes first, because its visitor's turn was not over.
    """
    broken_off = Run.objects.filter(stale(timezone.now()), queue=queue).order_by("heartbeat")
    return [*broken_off.values_list("pk", flat=True), *_order((queue,)).get(queue, ())]


def positions() -> dict[str, int]:
    """Return the position of each queued run in its queue; 1 is next."""
    return {run: place for order in _order(QUEUES).values() for place, run in enumerate(order, 1)}


def _order(queues: Iterable[str]) -> dict[str, list[str]]:
    """Return the queued runs by queue, in order: at most ``RUNS_QUEUED``, plus requeued ones."""
    waiting: defaultdict[str, list[QueuedRun]] = defaultdict(list)
    queued = Run.objects.filter(state=QUEUED, queue__in=queues)
    for run, queue, address, owner, since in queued.values_list("pk", "queue", "address", "owner", "queued"):
        waiting[queue].append(QueuedRun(run, (address, owner), since))
    if not waiting:
        return {}
    addresses = {one.visitor[0] for runs in waiting.values() for one in runs}
    turns = Run.objects.filter(claimed__gte=timezone.now() - TURNS_REMEMBERED, address__in=addresses)
    last = {
        (address, owner): claimed
        for address, owner, claimed in turns.values_list("address", "owner").annotate(Max("claimed"))
    }
    running = _running()
    return {queue: fair_order(runs, running, last) for queue, runs in waiting.items()}


def _running() -> list[Visitor]:
    under_way = Run.objects.filter(state__in=(RUNNING, CANCELLING))
    return list(under_way.values_list("address", "owner"))


def somebody_is_due(run: Run) -> bool:
    """Return whether a visitor with fewer runs in progress than this run's waits in the same queue."""
    since = timezone.now() - timedelta(seconds=NOBODY_FREE_SECONDS)
    waiting = Run.objects.filter(state=QUEUED, queue=run.queue, queued__lt=since)
    visitors: set[Visitor] = set(waiting.values_list("address", "owner"))
    if not visitors:
        return False
    ours: Visitor = (run.address, run.owner)
    owners, addresses = _counts(_running())
    return any(
        owners[other] < owners[ours]
        if participant(other) == participant(ours)
        else addresses[participant(other)] < addresses[participant(ours)]
        for other in visitors
    )
