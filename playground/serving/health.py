"""``/healthz``: this process answers. ``/readyz``: every dependency is available."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import cache

from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from playground.celery import app
from playground.limits import limit
from playground.models import WORKER_SECONDS, Worker
from playground.queues import QUEUES
from playground.runtime import outage

LOCK_SECONDS = 2  # SQLite's lock may be held this long before the database counts as unavailable


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 while the process is alive; nothing else is checked."""
    return HttpResponse("ok\n", content_type="text/plain")


def _database() -> str:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            # Reads succeed while another process holds the lock, so take it with a transaction.
            usual = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
            cursor.execute(f"PRAGMA busy_timeout = {LOCK_SECONDS * 1000}")
            try:
                with transaction.atomic():
                    cursor.execute("SELECT 1").fetchone()
            finally:
                cursor.execute(f"PRAGMA busy_timeout = {usual}")
        else:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    return "answers"


def _disk() -> str:
    if not os.access(settings.DATA_DIR, os.W_OK):
        raise LookupError("the data folder cannot be written")
    free = shutil.disk_usage(settings.DATA_DIR).free
    if free < limit("DISK_FREE_BYTES"):
        raise LookupError(f"{free:,} bytes are free, less than {limit('DISK_FREE_BYTES'):,}")
    return f"{free:,} bytes are free"


def _broker() -> str:
    with app.connection_for_write(connect_timeout=2) as broker:
        broker.ensure_connection(max_retries=1, timeout=2, interval_start=0.1)
    return "answers"


def _worker() -> str:
    count = Worker.alive().count()
    if not count:
        raise LookupError(f"no worker heartbeat in the last {WORKER_SECONDS} seconds")
    serving = Worker.serving()
    if unserved := [queue for queue in QUEUES if queue not in serving]:
        raise LookupError(f"no worker for {' and '.join(unserved)} runs in the last {WORKER_SECONDS} seconds")
    return f"{count} alive"


PARTS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("database", _database),
    ("disk", _disk),
    ("broker", _broker),
    ("worker", _worker),
)


@cache
def _outages(part: str) -> outage.OutageLog:
    return outage.OutageLog(f"readiness of the {part}")


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 if every part is available, else 503; the JSON body lists the parts."""
    parts: dict[str, dict[str, object]] = {}
    for name, check in PARTS:
        try:
            if check is _worker and not parts.get("database", {"ok": True})["ok"]:
                raise LookupError("not known, for the database does not answer")
            parts[name] = {"ok": True, "detail": check()}
            _outages(name).succeeded()
        except LookupError as error:
            parts[name] = {"ok": False, "detail": str(error)}
        except Exception as error:
            # The text may contain a connection string, so it is logged and not shown to the visitor.
            _outages(name).failed(error)
            parts[name] = {"ok": False, "detail": type(error).__name__}
    ready = all(part["ok"] for part in parts.values())
    return JsonResponse({"ready": ready, "parts": parts}, status=200 if ready else 503)
