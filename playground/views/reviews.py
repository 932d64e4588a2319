"""The review of a shared scenario: all its threads on one page, ``/s/<short>/review/``."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.models import Scenario
from playground.reports.markup import html
from playground.reports.pull_request import about, author
from playground.storage import comments
from playground.views.workbench import _find, _visitor
from playground.visitors.throttle import throttled

STATES = ("open", "resolved", "all")


@require_safe
@never_cache
@ensure_csrf_cookie
@throttled("API_READS_PER_MINUTE")
def page(request: HttpRequest, short: str) -> HttpResponse:
    """Render ``review.html`` for everyone who has the scenario's link; ``state`` is one of STATES.

    Context: ``title``; ``short``; ``state`` of STATES, and ``states`` [(state, number of threads)];
    ``threads`` [{id, about, url, resolved, comments [{author, day, html}]}]; ``sent`` (see ``verdict.html``).
    """
    source = _find("scenario", short, _visitor(request))
    assert isinstance(source.row, Scenario)
    state = request.GET.get("state", "open")
    state = state if state in STATES else "open"
    found = comments.threads(source.row, _visitor(request))
    by_state = {
        "open": [thread for thread in found if not thread["resolved"]],
        "resolved": [thread for thread in found if thread["resolved"]],
        "all": found,
    }
    context = {
        "title": source.title,
        "short": source.row.short,
        "state": state,
        "states": [(name, len(threads)) for name, threads in by_state.items()],
        "threads": [
            {
                "id": thread["id"],
                "about": about(thread),
                "url": thread["url"],
                "resolved": thread["resolved"],
                "comments": [
                    {"author": author(one), "day": one["created"][:10], "html": html(one["text"])}
                    for one in (thread, *thread["replies"])
                ],
            }
            for thread in by_state[state]
        ],
        "sent": {"left": f"scenario:{source.row.short}"},
    }
    response = render(request, "review.html", context)
    response.headers["X-Robots-Tag"] = "noindex"
    return response
