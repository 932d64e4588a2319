"""Error pages: ``error.html`` with ``status``, ``title`` and ``message`` (what to do next)."""

from __future__ import annotations

import sys

from django.core.exceptions import TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from playground.limits import limit
from playground.runtime import outage
from playground.serving.json_bodies import wants_json

TEXTS = {
    400: ("Malformed request", "Go back and try again."),
    403: ("That form has expired", "Reload the page it was on and send it again; cookies must be allowed."),
    404: (
        "Page not found",
        "The link may be mistyped, its content deleted, or it is another visitor's draft.",
    ),
    405: ("Method not allowed", "Go back to the start page."),
    409: ("This is not possible now", "Try again later."),
    410: ("This was taken down", "The operator of this site has removed it."),
    413: ("The request is too large", "Send less, or compress it with gzip."),
    429: ("Too many requests", "Wait a moment and try again."),
    503: ("Too many requests", "Wait a moment and try again."),
    500: ("Internal server error", "This is a bug. It was logged; trying again may help."),
}


def error_page(
    request: HttpRequest, status: int, message: str = "", *, title: str = "", retry_after: int | None = None
) -> HttpResponse:
    """Return ``error.html`` with ``status``, ``title`` and ``message``; JSON to who reads JSON.

    Under ``/api/`` that has ``errors``, elsewhere ``message``. ``retry_after`` is the value of the
    Retry-After header in seconds; ``title`` defaults to the status's.
    """
    usual, advice = TEXTS.get(status, (title, ""))
    title = title or usual
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    if request.path.startswith("/api/"):
        return JsonResponse(
            {"errors": [{"line": None, "path": "", "message": message or title}]},
            status=status,
            headers=headers,
        )
    if wants_json(request):
        return JsonResponse({"message": message or title}, status=status, headers=headers)
    context = {"status": status, "title": title, "message": message or advice}
    response = render(request, "error.html", context, status=status)
    for name, value in headers.items():
        response.headers[name] = value
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400, or 413 to an upload of too many files (detected before any view is called)."""
    if isinstance(exception, TooManyFilesSent):
        most = limit("UPLOAD_FILES")
        remedy = "pack them as one .zip or .tar.gz, or join them with --- between"
        return error_page(
            request, 413, f"Those are too many files; at most {most} are read at once: {remedy}."
        )
    return error_page(request, 400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    return error_page(request, 404)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403."""
    return error_page(request, 403)


def unavailable(request: HttpRequest, found: outage.Outage) -> HttpResponse:
    """Answer an outage of storage with its status and Retry-After."""
    message = f"{found.title}. {found.message}" if wants_json(request) else found.message
    return error_page(request, found.status, message, title=found.title, retry_after=found.retry_after)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500, or as an outage if a middleware met one (such as an upload that found the disk full)."""
    found = outage.cause_of(sys.exc_info()[1])
    return error_page(request, 500) if found is None else unavailable(request, found)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer 403 to a form that was not sent from one of our pages."""
    return error_page(request, 403)
