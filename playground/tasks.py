"""What the broker delivers: that a queue has work, and the id of the run that was announced."""

from __future__ import annotations

from celery import shared_task

from playground.limits import limit
from playground.runs.compute import compute, compute_next


@shared_task(name="playground.run_simulation", ignore_result=True)
def run_simulation(run_id: str, queue: str = "") -> str | None:
    """Compute the run of ``queue`` whose turn it is; without a queue, the one that is named.

    Each waiting run has sent a message, so all are computed, whichever message stands for which. See
    :mod:`playground.runs.compute`.
    """
    return compute_next(queue) if queue else compute(run_id)


# A cycle that never ends would keep its process for ever: the pool ends it, others take over.
run_simulation.time_limit = limit("RUN_SECONDS") + 600
