"""``/healthz``: this process answers. ``/readyz``: everything a visitor needs is there."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from playground.celery import app
from playground.models import WORKER_SECONDS, Worker
from playground.queues import QUEUES

log = structlog.get_logger(__name__)


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 while the process lives; nothing else is asked."""
    return HttpResponse("ok\n", content_type="text/plain")


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    return "answers"


def _broker() -> str:
    with app.connection_for_write(connect_timeout=2) as broker:
        broker.ensure_connection(max_retries=1, timeout=2, interval_start=0.1)
    return "answers"


def _worker() -> str:
    count = Worker.alive().count()
    if not count:
        raise LookupError(f"no worker was heard of in the last {WORKER_SECONDS} seconds")
    serving = Worker.serving()
    if unserved := [queue for queue in QUEUES if queue not in serving]:
        raise LookupError(f"no worker for {' and '.join(unserved)} runs in the last {WORKER_SECONDS} seconds")
    return f"{count} alive"


PARTS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("database", _database),
    ("broker", _broker),
    ("worker", _worker),
)


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 if every part is there, else 503; the JSON body names each part."""
    parts: dict[str, dict[str, object]] = {}
    for name, check in PARTS:
        try:
            parts[name] = {"ok": True, "detail": check()}
        except LookupError as error:
            parts[name] = {"ok": False, "detail": str(error)}
        except Exception as error:
            # The text may hold a connection string, so it goes to the log and not to the visitor.
            log.warning("not ready", part=name, error=repr(error))
            parts[name] = {"ok": False, "detail": type(error).__name__}
    ready = all(part["ok"] for part in parts.values())
    return JsonResponse({"ready": ready, "parts": parts}, status=200 if ready else 503)
