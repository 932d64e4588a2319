"""Announcing that a row waits to be sent: it is found without that too, up to a minute later."""

from __future__ import annotations

import structlog
from django.db import transaction

from playground.celery import app
from playground.queues import DELIVER_SECONDS, DELIVER_TASK, SHORT

log = structlog.get_logger(__name__)


def announce() -> None:
    """Have a worker look for what is due, when the transaction commits."""
    transaction.on_commit(_send)


def _send() -> None:
    try:
        app.send_task(DELIVER_TASK, queue=SHORT, expires=DELIVER_SECONDS, retry=False)
    except Exception as error:  # the scheduled look comes within a minute
        log.warning("a delivery was not announced", error=repr(error)[:300])
