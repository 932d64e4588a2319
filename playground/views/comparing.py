"""The page of a comparison: ``/compare/?left=…&right=…``, with the query of the API."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.comparisons import asking, comparing
from playground.comparisons.summary import summary
from playground.models import Draft, Run
from playground.playback.stopping import TooMuchWorkError
from playground.pool.process import LostError
from playground.pool.shares import BusyError
from playground.storage import bundles, links
from playground.views import examples
from playground.views.stored import links_of
from playground.views.workbench import _visitor
from playground.visitors.throttle import throttled
from scheduler_core.objects.problems import BundleError

DIFFERENCES_SHOWN = 100
CHOICES_SHOWN = 40  # of a kind
EXAMPLE = "example:"  # and its name: what it stands for is stored when it is chosen
#: What the page asks for of each side beside the source; the form shows one field for each.
SIDE_FIELDS = ("Scheduler",)
SENT = tuple(f"{side}{field}" for side in ("left", "right") for field in ("", *SIDE_FIELDS))
#: What keeps two sources from being compared, with the status of its page; the first that fits counts.
STATUSES: dict[type[Exception], int] = {
    asking.AskedError: 400,
    comparing.UnfinishedError: 409,
    BundleError: 422,
    bundles.OutgrownError: 422,
    TooMuchWorkError: 422,
    bundles.TooLargeError: 413,
    LostError: 503,
    BusyError: 503,
}
REFUSALS = tuple(STATUSES)
Choices = list[tuple[str, list[tuple[str, str]]]]


@require_safe
@never_cache
@ensure_csrf_cookie
@throttled("API_READS_PER_MINUTE")
def page(request: HttpRequest) -> HttpResponse:
    """Render ``compare.html``; the visitor's own drafts are compared as well.

    Context: ``section`` "compare"; ``asked`` [{name, label, listed, pasted}] of both sides, one of the two
    ""; ``choices`` [(kind, [(value, title)])]; ``error`` (text or ""); ``found`` (Summary, or None), and with
    it ``answer`` (that of the API, for the script), ``at_first`` [(SideSummary, address of the first
    difference)], ``differences``, ``sent`` {field: value} (of the form that asks for a report).
    """
    if (chosen := _chosen(request)) is not None:
        return HttpResponseRedirect(chosen)
    asked = {side: request.GET.get(side, "")[: asking.LONGEST] for side in ("left", "right")}
    offered = choices(_visitor(request))
    context: dict[str, Any] = {
        "section": "compare",
        "asked": [_field(side, value, offered) for side, value in asked.items()],
        "choices": offered,
        "error": "",
        "found": None,
    }
    status = 200
    if all(asked.values()):
        try:
            answer = json.loads(asking.answered(request.GET.dict(), _visitor(request)))
            found = summary(answer)
            context |= {
                "found": found,
                "answer": answer,
                "sent": {name: value for name, value in request.GET.items() if name in SENT},
                "differences": found.differences[:DIFFERENCES_SHOWN],
                "at_first": [
                    (side, side.at(found.first["index"]) if found.first else side.url) for side in found.sides
                ],
            }
        except REFUSALS as error:
            context["error"], status = str(error), status_of(error)
    response = render(request, "compare.html", context, status=status)
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def status_of(error: Exception) -> int:
    """Return the status of a page that tells why there is no comparison."""
    if isinstance(error, asking.AskedError) and not error.path:
        return 404
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


def _chosen(request: HttpRequest) -> str | None:
    """Return the address of what the form was sent with, ``None`` if that is it already.

    A list counts where nothing was pasted, an address is replaced by what it names, and an example by the
    scenario that it is.
    """
    query = request.GET.dict()
    asked = {name: value for name, value in query.items() if name in SENT and value}
    for side in ("left", "right"):
        value = asking.named(query.get(side, "") or query.get(f"{side}From", ""))
        if value.startswith(EXAMPLE):
            value = f"scenario:{examples.shared(value.removeprefix(EXAMPLE)).short}"
        if value:
            asked[side] = value[: asking.LONGEST]
    page_only = {name: query[name] for name in ("row", "tab") if query.get(name)}
    if {**asked, **page_only} == query:
        return None
    return f"/compare/?{urlencode({**asked, **page_only})}" if asked or page_only else "/compare/"


def _field(side: str, value: str, offered: Choices) -> dict[str, str]:
    """Return a side of the form: what is in a list is chosen there, everything else is in the text field."""
    listed = any(value == one for _, rows in offered for one, _ in rows)
    return {
        "name": side,
        "label": side.title(),
        "listed": value if listed else "",
        "pasted": "" if listed else value,
    }


def choices(visitor: str) -> Choices:
    """Return what a visitor can choose without pasting, by kind: (value of the form, title)."""
    drafts = Draft.objects.filter(owner=visitor).order_by("-updated").values_list("pk", "title")
    shared = links_of(visitor).order_by("-created").values_list("short", "title")
    runs = Run.objects.filter(owner=visitor).order_by("-created").values_list("pk", "title")
    listed = {
        "Your drafts": [(f"draft:{name}", title) for name, title in drafts[:CHOICES_SHOWN]],
        "Scenarios that you shared": [(f"scenario:{name}", title) for name, title in shared[:CHOICES_SHOWN]],
        "Your private links": [
            (f"link:{link.pk}", link.title) for link in links.links_of(visitor)[:CHOICES_SHOWN]
        ],
        "Your runs": [(f"run:{name}", title) for name, title in runs[:CHOICES_SHOWN]],
        "Examples": [(f"{EXAMPLE}{row['slug']}", row["title"]) for row in examples.listed()],
    }
    return [
        (kind, [(value, title or "Untitled") for value, title in rows])
        for kind, rows in listed.items()
        if rows
    ]
