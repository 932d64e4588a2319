"""Runs that no worker is busy with, though they are not ended: found by every worker."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

from django.db.models import F, Q
from django.utils import timezone

from playground.models import CANCELLING, QUEUED, RUNNING, Run
from playground.runs import service
from playground.runs.compute import claims_of
from playground.runs.fairness import stale

RESEND_SECONDS = 20  # a queued run whose message may have been lost is announced again
RESEND_MOST = 600  # seconds; the waits between its announcements double until then


def rescue() -> list[str]:
    """Announce lost and stale runs again; return their ids.

    An announcement too many does no harm: claiming decides who computes. A run that was being
    cancelled when its worker died ends through the same claim. A broker that is away is asked for one run
    only, again at the next call: each of the others could take as long to fail.
    """
    now = timezone.now()
    silent = Q(state=QUEUED) | stale(now)
    waiting = Run.objects.filter(silent, enqueued__lt=now - timedelta(seconds=RESEND_SECONDS))
    lost = []
    for run_id, queue, state, queued, told in waiting.values_list(
        "pk", "queue", "state", "queued", "enqueued"
    ):
        # A long queue is no loss: told again each time, its messages would outgrow it.
        enough = min(told - queued, timedelta(seconds=RESEND_MOST)) if state == QUEUED else timedelta()
        if now - told >= enough:
            lost.append((run_id, queue, told))
    announced = []
    for run_id, queue, told in lost[:100]:
        row = Run.objects.filter(pk=run_id)
        row.update(enqueued=now)
        if not service.enqueue(run_id, queue):
            row.filter(enqueued=now).update(enqueued=told)  # so that its next wait does not double
            break
        announced.append(run_id)
    return announced


def give_back_attempts(worker: int) -> int:
    """Take back the attempts of what the worker with that process id computes; return how many runs.

    Called when it is told to end: that its processes end then says nothing against their runs.
    """
    ours = Run.objects.filter(state__in=(RUNNING, CANCELLING), claim__startswith=claims_of(worker))
    return ours.filter(attempts__gt=0).update(attempts=F("attempts") - 1)


def release_dead_claims() -> list[str]:
    """Queue again what processes of this machine had claimed that are no more.

    Called at every beat of a worker and when one of its processes dies, so that neither a restart nor a
    process that was killed waits for the claims to grow stale.
    """
    released = []
    host = socket.gethostname()
    under_way = Run.objects.filter(state__in=(RUNNING, CANCELLING)).exclude(stale(timezone.now()))
    for run_id, queue, claim in under_way.values_list("pk", "queue", "claim"):
        owner, _, rest = claim.rpartition("/")[0].rpartition("/")
        process = rest.rpartition(".")[2]
        if owner != host or not process.isdigit() or _alive(int(process)):
            continue
        long_ago = timezone.now() - timedelta(days=1)
        if Run.objects.filter(pk=run_id, claim=claim).update(heartbeat=long_ago, enqueued=timezone.now()):
            service.enqueue(run_id, queue)
            released.append(run_id)
    return released


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
