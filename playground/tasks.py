"""The Celery tasks: computing the next run of a queue, sending what is due, and removing expired rows."""

from __future__ import annotations

import structlog
from celery import shared_task
from django.conf import settings

from playground import extenders
from playground.accounts import ownership
from playground.limits import limit
from playground.queues import DELIVER_TASK, RUN_TASK
from playground.runs.compute import compute, compute_next
from playground.storage import retention

log = structlog.get_logger(__name__)


@shared_task(name=RUN_TASK, ignore_result=True)
def run_simulation(run_id: str, queue: str = "") -> str | None:
    """Compute the next run of ``queue``; without a queue, the run ``run_id``.

    Each waiting run has sent a message, so all are computed, regardless of which message starts which. See
    :mod:`playground.runs.compute`.
    """
    return compute_next(queue) if queue else compute(run_id)


@shared_task(name="playground.expiry", ignore_result=True)
def expiry() -> dict[str, int]:
    """Remove expired rows; see :mod:`playground.storage.retention`. Before, accounts claim what is theirs."""
    ownership.claim_rest()
    removed = {**retention.remove_expired(), "answers of extenders": extenders.remove_expired()}
    if any(removed.values()):
        log.info("expired rows were removed", **removed)
    return removed


@shared_task(name=DELIVER_TASK, ignore_result=True)
def deliver() -> dict[str, int]:
    """Send what is due to the other servers that this worker knows."""
    sent = {}
    if settings.LTI_PLATFORMS:
        from playground.lti import scores  # takes a worker a second to import, and memory

        sent["scores"] = scores.deliver()
    if settings.LRS:
        from playground.outbox import statements

        sent["statements"] = statements.deliver()
    return sent


# A cycle that never ends would occupy its process forever: the pool kills it, and another takes over.
run_simulation.time_limit = limit("RUN_SECONDS") + 600
