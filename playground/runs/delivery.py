"""Messages to the workers: that a run waits."""

from __future__ import annotations

from playground.celery import app
from playground.queues import RUN_TASK
from playground.runtime import outage

_broker = outage.Breaker("broker")


def enqueue(run_id: str, queue: str) -> bool:
    """Notify the workers of a queue that a run waits; they determine the next run from the rows.

    Returns whether the broker accepted the message.

    An unavailable broker does not fail the run: its row is in the queued state, and the workers look for
    queued rows whose message was lost (:mod:`playground.runs.rescue`).
    """
    if not _broker.due():  # a failing attempt takes Redis' client seconds
        return False
    try:
        app.send_task(
            RUN_TASK, args=[run_id], kwargs={"queue": queue}, queue=queue, retry=False, ignore_result=True
        )
    except Exception as error:
        _broker.failed(error)
        return False
    _broker.succeeded()
    return True
