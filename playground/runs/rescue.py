"""Detection, by every worker, of unfinished runs that no worker is computing."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

from django.db.models import F, Q
from django.utils import timezone

from playground.models import CANCELLING, QUEUED, RUNNING, Run
from playground.runs import cells, delivery
from playground.runs.compute import claims_of
from playground.runs.fairness import stale

RESEND_SECONDS = 20  # after which a queued run whose message may have been lost is announced again
RESEND_MOST = 600  # seconds; the interval between announcements doubles up to this


def rescue() -> list[str]:
    """Announce lost and stale runs again; return their ids.

    A redundant announcement is harmless: claiming decides which worker computes a run. A run that was being
    cancelled when its worker died ends through the same claim. If the broker is unavailable, only one run is
    tried per call, because each further one could take as long to fail. Sweeps are recounted, and one run of
    each is announced: the task that computes it announces the next.
    """
    cells.repair()
    now = timezone.now()
    silent = Q(state=QUEUED) | stale(now)
    waiting = Run.objects.filter(silent, enqueued__lt=now - timedelta(seconds=RESEND_SECONDS))
    lost = []
    swept: set[str] = set()
    for run_id, queue, state, queued, enqueued, sweep in waiting.values_list(
        "pk", "queue", "state", "queued", "enqueued", "sweep"
    ):
        if sweep in swept and state == QUEUED:
            continue
        # A run in a long queue is not lost: announced each time, the messages would outnumber the runs.
        enough = min(enqueued - queued, timedelta(seconds=RESEND_MOST)) if state == QUEUED else timedelta()
        if now - enqueued >= enough:
            lost.append((run_id, queue, enqueued))
            swept.update([sweep] if sweep is not None else [])
    announced = []
    for run_id, queue, enqueued in lost[:100]:
        row = Run.objects.filter(pk=run_id)
        row.update(enqueued=now)
        if not delivery.enqueue(run_id, queue):
            row.filter(enqueued=now).update(enqueued=enqueued)  # so that its next wait does not double
            break
        announced.append(run_id)
    return announced


def give_back_attempts(worker: int) -> int:
    """Give back the attempts of the runs that the worker with that process id computes; return their number.

    Called when the worker is asked to end: the end of its processes is then not the fault of their runs.
    """
    ours = Run.objects.filter(state__in=(RUNNING, CANCELLING), claim__startswith=claims_of(worker))
    return ours.filter(attempts__gt=0).update(attempts=F("attempts") - 1)


def release_dead_claims() -> list[str]:
    """Requeue the runs claimed by processes of this machine that no longer exist; return their ids.

    Called at every heartbeat of a worker and when one of its processes dies, so that after a restart or a
    killed process runs need not wait until their claims are stale.
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
            delivery.enqueue(run_id, queue)
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
