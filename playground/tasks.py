"""What the broker delivers: the id of a run to look at."""

from __future__ import annotations

from celery import shared_task

from playground.limits import limit
from playground.runs.compute import compute


@shared_task(name="playground.run_simulation", ignore_result=True)
def run_simulation(run_id: str) -> str | None:
    """Compute a run, if it is still to be computed; see :mod:`playground.runs.compute`."""
    return compute(run_id)


# A cycle that never ends would keep its process for ever: the pool ends it, others take over.
run_simulation.time_limit = limit("RUN_SECONDS") + 600
