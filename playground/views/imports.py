"""The progress of an import of the start page, and cancelling it: ``/import/<ticket>/``.

The page generates the ticket and sends it with its form. The progress is kept in the cache, which several
web processes share, under a key with the visitor: no other visitor can query or stop it.
"""

from __future__ import annotations

import re
import time

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods

from playground.serving.json_bodies import answers_json
from scheduler_core.progress import Watch, unwatched

PROGRESS_SECONDS = 0.25  # between two cache accesses while a bundle is read
KEPT_SECONDS = 300
_TICKET = re.compile(r"[0-9-]{7,43}")


class StoppedError(Exception):
    """The visitor has stopped the import."""


def _key(request: HttpRequest, ticket: str, what: str) -> str:
    return f"import:{request.visitor}:{ticket}:{what}"  # type: ignore[attr-defined]


def watch_of(request: HttpRequest) -> Watch:
    """Return the progress callback of a form's import; it raises StoppedError once the import is stopped."""
    ticket = request.POST.get("ticket", "")
    if not _TICKET.fullmatch(ticket):
        return unwatched
    far, stopped = _key(request, ticket, "far"), _key(request, ticket, "stopped")
    looked = 0.0

    def watch(stage: str, done: int, of: int) -> None:
        nonlocal looked
        if time.monotonic() - looked < PROGRESS_SECONDS and done < of:
            return
        looked = time.monotonic()
        if cache.get(stopped):
            raise StoppedError
        cache.set(far, {"stage": stage, "done": done, "of": of}, KEPT_SECONDS)

    return watch


@answers_json
@csrf_protect
@require_http_methods(["GET", "HEAD", "DELETE"])
def progress(request: HttpRequest, ticket: str) -> HttpResponse:
    """Answer ``{"stage", "done", "of"}``, or an empty object before reading starts; DELETE stops it."""
    if not _TICKET.fullmatch(ticket):
        raise Http404
    if request.method == "DELETE":
        cache.set(_key(request, ticket, "stopped"), True, KEPT_SECONDS)
        return HttpResponse(status=204)
    return JsonResponse(cache.get(_key(request, ticket, "far")) or {}, headers={"Cache-Control": "no-store"})
