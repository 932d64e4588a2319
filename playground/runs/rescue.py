"""Runs that no worker is busy with, though they are not ended: found by every worker."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from playground.models import CANCELLING, QUEUED, RUNNING, Run
from playground.runs import service
from playground.runs.compute import stale

RESEND_SECONDS = 20  # a queued run whose message may have been lost is announced again


def rescue() -> list[str]:
    """Announce lost and stale runs again; return their ids.

    An announcement too many does no harm: claiming decides who computes. A run that was being
    cancelled when its worker died ends through the same claim.
    """
    now = timezone.now()
    unannounced = Q(state=QUEUED, enqueued__lt=now - timedelta(seconds=RESEND_SECONDS))
    silent = stale(now) & Q(enqueued__lt=now - timedelta(seconds=RESEND_SECONDS))
    lost = list(Run.objects.filter(unannounced | silent).values_list("pk", flat=True)[:100])
    for run_id in lost:
        Run.objects.filter(pk=run_id).update(enqueued=now)
        service.enqueue(run_id)
    return lost


def release_dead_claims() -> list[str]:
    """Queue again what processes of this machine had claimed that are no more.

    Called when a worker starts, so that a restart does not wait for the claims to grow stale.
    """
    released = []
    host = socket.gethostname()
    for run_id, claim in Run.objects.filter(state__in=(RUNNING, CANCELLING)).values_list("pk", "claim"):
        owner, _, rest = claim.rpartition("/")[0].rpartition("/")
        if owner != host or not rest.isdigit() or _alive(int(rest)):
            continue
        long_ago = timezone.now() - timedelta(days=1)
        if Run.objects.filter(pk=run_id, claim=claim).update(heartbeat=long_ago, enqueued=timezone.now()):
            service.enqueue(run_id)
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
