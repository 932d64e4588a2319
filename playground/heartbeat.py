"""A worker's sign of life: a row that is touched every few seconds, and a look for lost runs."""

from __future__ import annotations

import os
import threading
from typing import Any

import structlog
from celery.signals import worker_ready, worker_shutdown
from django.db import close_old_connections, connection
from django.utils import timezone

from playground.models import Worker
from playground.runs import rescue

log = structlog.get_logger(__name__)

BEAT_SECONDS = 5.0

_end = threading.Event()
# Held during a beat and during a fork: a child must not inherit a half-used database connection.
_beating = threading.Lock()


def beat(name: str) -> None:
    """Say that the worker ``name`` is there, and announce lost runs."""
    Worker.objects.update_or_create(name=name, defaults={"seen": timezone.now()})
    rescue.rescue()


def _loop(name: str) -> None:
    first = True
    while True:
        with _beating:
            try:
                close_old_connections()
                if first:
                    rescue.release_dead_claims()
                    first = False
                beat(name)
            except Exception:
                log.exception("a worker's beat failed", worker=name)
            finally:
                connection.close()
        if _end.wait(BEAT_SECONDS):
            return


@worker_ready.connect
def start(sender: Any = None, **_: Any) -> None:
    """Begin to beat once the worker takes tasks."""
    os.register_at_fork(
        before=_beating.acquire, after_in_parent=_beating.release, after_in_child=_beating.release
    )
    threading.Thread(target=_loop, args=(str(sender.hostname),), name="worker-beat", daemon=True).start()


@worker_shutdown.connect
def stop(sender: Any = None, **_: Any) -> None:
    """Take the row away: a worker that left in order is gone at once."""
    _end.set()
    with _beating:
        Worker.objects.filter(name=str(sender.hostname)).delete()
        connection.close()
