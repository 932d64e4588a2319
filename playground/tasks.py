"""What the broker delivers: that a queue has work, and that it is time to remove what has expired."""

from __future__ import annotations

import structlog
from celery import shared_task

from playground.limits import limit
from playground.queues import RUN_TASK
from playground.runs.compute import compute, compute_next
from playground.storage import retention

log = structlog.get_logger(__name__)


@shared_task(name=RUN_TASK, ignore_result=True)
def run_simulation(run_id: str, queue: str = "") -> str | None:
    """Compute the run of ``queue`` whose turn it is; without a queue, the one that is named.

    Each waiting run has sent a message, so all are computed, whichever message stands for which. See
    :mod:`playground.runs.compute`.
    """
    return compute_next(queue) if queue else compute(run_id)


@shared_task(name="playground.sweep", ignore_result=True)
def sweep() -> dict[str, int]:
    """Remove what has expired; see :mod:`playground.storage.retention`."""
    removed = retention.sweep()
    if any(removed.values()):
        log.info("expired rows were removed", **removed)
    return removed


# A cycle that never ends would keep its process for ever: the pool ends it, others take over.
run_simulation.time_limit = limit("RUN_SECONDS") + 600
