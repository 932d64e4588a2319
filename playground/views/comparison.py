"""The page of a comparison: ``/compare/?left=…&right=…``, with the query of the API.

Its form is posted, as it may hold a configuration for a side: that side becomes a branch of what was chosen.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect, ensure_csrf_cookie
from django.views.decorators.http import require_http_methods
from msgspec import Struct

from playground.calls.faults import RequestFieldError
from playground.comparisons import address as asking
from playground.comparisons import differences
from playground.comparisons.summary import summary
from playground.edits import configuration_branches
from playground.edits.branches import TooManyDraftsError
from playground.edits.edit_operations import OBJECT_BYTES
from playground.models import UNFINISHED, Draft, Run
from playground.playback.deadlines import TooMuchWorkError
from playground.playback.releases import SCHEDULERS
from playground.playback.sources import NotFoundError
from playground.pool.cpu_budget import SpentError
from playground.pool.process import LostError
from playground.pool.read_slots import reading
from playground.pool.shares import BusyError
from playground.runs import service
from playground.storage import bundles, comparisons, links, quotas, store
from playground.views import examples
from playground.views.stored_items import links_of
from playground.views.workbench import _visitor
from playground.visitors.throttle import throttled
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.settings.release import ALONE, CACHING, DEFAULT_RELEASE

DIFFERENCES_SHOWN = 100
CHOICES_SHOWN = 40  # of a kind
FIELD = 2_100  # characters of a field that names a side
EXAMPLE = "example:"  # and its name: what it stands for is stored when it is chosen
PROBLEMS_SHOWN = 5
#: What the page asks for of each side beside the source; the form shows one field for each.
SIDE_FIELDS = ("Scheduler",)
#: The kind of configuration that a release reads.
READS = {row.name: row.reads for row in ALONE}
SIDES = ("left", "right")
SENT = tuple(f"{side}{field}" for side in SIDES for field in ("", *SIDE_FIELDS))
#: What keeps two sources from being compared, with the status of its page; the first that fits counts.
STATUSES: dict[type[Exception], int] = {
    RequestFieldError: 400,
    NotFoundError: 404,
    differences.UnfinishedError: 409,
    BundleError: 422,
    bundles.OutgrownError: 422,
    TooMuchWorkError: 422,
    bundles.TooLargeError: 413,
    TooManyDraftsError: 422,
    store.StaleError: 409,
    comparisons.TooManyComparisonsError: 429,
    quotas.StorageFullError: 507,
    service.TooManyRunsError: 429,
    LostError: 503,
    SpentError: SpentError.status,
    BusyError: BusyError.status,
}
REFUSALS = tuple(STATUSES)
Choices = list[tuple[str, list[tuple[str, str]]]]


class Ready(Struct, frozen=True):
    """A comparison of examples that the page offers: what the query of :func:`page` asks for."""

    title: str
    text: str
    asked: dict[str, str]

    @property
    def address(self) -> str:
        """The address of the comparison."""
        return f"/compare/?{urlencode(self.asked)}"


READY = (
    Ready(
        "A shop under v1.11 and v1.37",
        "The same twelve nodes and pods, eight years apart: which rule first chooses another node?",
        {"leftFrom": f"{EXAMPLE}shop", "leftScheduler": CACHING}
        | {"rightFrom": f"{EXAMPLE}shop", "rightScheduler": DEFAULT_RELEASE},
    ),
    Ready(
        "A rollout with room and without",
        "Controllers of v1.37 roll out one image: where one more pod fits on the nodes, and where none does.",
        {"leftFrom": f"{EXAMPLE}rolling-update", "rightFrom": f"{EXAMPLE}rollout-stuck"},
    ),
    Ready(
        "Two Jobs in a deadlock, and coscheduled",
        "Each of two Jobs gets half of its pods, and neither starts. With Coscheduling one of them runs.",
        {"leftFrom": f"{EXAMPLE}gang-deadlock", "rightFrom": f"{EXAMPLE}gang-deadlock-coscheduled"},
    ),
)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@ensure_csrf_cookie
@csrf_protect
def page(request: HttpRequest) -> HttpResponse:
    """Show a comparison, or take its form."""
    return _sent(request) if request.method == "POST" else _shown(request)


@throttled("IMPORTS_PER_MINUTE")
def _sent(request: HttpRequest) -> HttpResponse:
    """Redirect to the comparison that the form asks for; show the form again with what is wrong in it."""
    typed = request.POST.dict()
    chosen = _asked(typed)
    for side in SIDES:
        text = typed.get(f"{side}Configuration", "")
        if not text.strip():
            continue
        try:
            chosen[side] = f"draft:{_branch(request, side, chosen, text).pk}"
        except REFUSALS as error:
            message = "; ".join(problem_words(error)) if isinstance(error, BundleError) else str(error)
            context = form(_visitor(request), chosen, typed)
            context["error"] = f"{side.title()}, its configuration: {message}"
            return render(request, "compare.html", context, status=status_of(error))
    return HttpResponseRedirect(_address(chosen))


def _branch(request: HttpRequest, side: str, chosen: dict[str, str], text: str) -> Draft:
    """Store what a side is under another configuration. Raises REFUSALS."""
    source = asking.found(chosen.get(side, ""), side, f"on the {side}", _visitor(request))
    scheduler = chosen.get(f"{side}Scheduler", "")
    with reading():
        kind = configuration_branches.kind_of(text)
        if scheduler in READS and READS[scheduler] != kind:
            raise RequestFieldError(
                f"{side}Scheduler", f"{scheduler} reads a {READS[scheduler]}, not a {kind}."
            )
        return configuration_branches.reconfigured(source, _visitor(request), text)


def problem_words(error: BundleError) -> list[str]:
    """Return a sentence for each of the first problems, with its line and path."""
    shown = [
        " ".join(filter(None, (f"line {one.line}:" if one.line else "", one.path, one.message)))
        for one in error.problems[:PROBLEMS_SHOWN]
    ]
    more = len(error.problems) - len(shown)
    return [*shown, *([f"and {more:,} more"] if more else [])]


@throttled("API_READS_PER_MINUTE")
def _shown(request: HttpRequest) -> HttpResponse:
    """Render ``compare.html``; the visitor's own drafts are compared as well.

    Context: ``section`` "compare"; ``asked`` of both sides: [{name, label, listed, pasted, scheduler,
    configuration}], ``listed`` or ``pasted`` ""; ``schedulers`` (names); ``choices`` [(kind, [(value,
    title)])]; ``ready_made`` (:data:`READY`); ``error`` (text or ""); ``found`` (Summary, or None), and with
    it ``answer`` (that of the API, for the script), ``at_first`` [(SideSummary, address of the first
    difference)], ``differences``, ``sent`` {field: value} (of the forms that share it or ask for a report),
    ``first_step`` (its index, or 0); and of a stored one ``kept`` (its row) and ``address`` (its link). While
    it is computed ``computing`` (the payload of compare.get) and ``ready`` (the address then), or ``waiting``
    (Run as in docs/protocol.md, of those that are not done); ``too_much`` where runs have to compute it.
    """
    if (chosen := _chosen(request)) is not None:
        return HttpResponseRedirect(chosen)
    context = form(_visitor(request), request.GET.dict())
    status = 200
    if all(request.GET.get(side) for side in SIDES):
        sent = {name: value for name, value in request.GET.dict().items() if name in SENT}
        try:
            context |= {"sent": sent, **_compared(request, sent)}
        except REFUSALS as error:
            context["error"], status = str(error), status_of(error)
            context |= {"sent": sent, "too_much": isinstance(error, TooMuchWorkError)}
    response = render(request, "compare.html", context, status=status)
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _compared(request: HttpRequest, sent: dict[str, str]) -> dict[str, Any]:
    """Return the context of a comparison, or of the wait for it. Raises REFUSALS."""
    asked = asking.question(request.GET.dict(), _visitor(request))
    if unfinished := [run for run in asked.runs if run.state in UNFINISHED]:
        return {"waiting": [{**service.run_wire(run, _visitor(request)), "id": run.pk} for run in unfinished]}
    ready = request.GET.get("ready") == "1"
    body = asked.kept() or (differences.remembered(asked) if ready else None)
    if body is None and asked.slow and not ready:
        sides = {name: side.source.asked for name, side in zip(SIDES, asked.sides)}
        schedulers = {f"{name}Scheduler": side.scheduler for name, side in zip(SIDES, asked.sides)}
        return {
            "computing": {**sides, **{name: value for name, value in schedulers.items() if value}},
            "ready": f"/compare/?{urlencode({**request.GET.dict(), 'ready': '1'})}",
        }
    return shown(json.loads(asking.with_sides(asked, body or asking.answer(asked))), sent)


def shown(answer: dict[str, Any], sent: dict[str, str]) -> dict[str, Any]:
    """Return the context of a comparison: what both sides decided, and the fields that ask for it again."""
    found = summary(answer)
    return {
        "found": found,
        "answer": answer,
        "sent": sent,
        "differences": found.differences[:DIFFERENCES_SHOWN],
        "at_first": [
            (side, side.at(found.first["index"]) if found.first else side.url) for side in found.sides
        ],
        "first_step": found.first["index"] if found.first else 0,
    }


def status_of(error: Exception) -> int:
    """Return the status of a page that explains why there is no comparison."""
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


def _chosen(request: HttpRequest) -> str | None:
    """Return the address of what the form was sent with, ``None`` if that is it already.

    A list counts where nothing was pasted, an address is replaced by what it names, and an example by the
    scenario that it is.
    """
    query = request.GET.dict()
    page_only = {name: query[name] for name in ("row", "tab", "ready") if query.get(name)}
    wanted = {**_asked(query), **page_only}
    return None if wanted == query else _address(wanted)


def _asked(form: dict[str, str]) -> dict[str, str]:
    """Return what a form or an address asks for, by the names of the query."""
    asked = {name: value for name, value in form.items() if name in SENT and value}
    for side in SIDES:
        value = asking.named(form.get(side, "") or form.get(f"{side}From", ""))
        if value.startswith(EXAMPLE):
            value = f"scenario:{examples.shared(value.removeprefix(EXAMPLE)).short}"
        if value:
            asked[side] = value[: asking.LONGEST]
    return asked


def _address(asked: dict[str, str]) -> str:
    return f"/compare/?{urlencode(asked)}" if asked else "/compare/"


def form(visitor: str, asked: dict[str, str], typed: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the context of the form alone."""
    offered = choices(visitor)
    return {
        "section": "compare",
        "asked": [_field(side, asked, typed or {}, offered) for side in SIDES],
        "schedulers": list(SCHEDULERS),
        "choices": offered,
        "ready_made": READY,
        "error": "",
        "found": None,
        "kept": None,
        "computing": None,
        "waiting": None,
        "too_much": False,
    }


def _field(side: str, asked: dict[str, str], typed: dict[str, str], offered: Choices) -> dict[str, str]:
    """Return a side of the form: what is in a list is chosen there, everything else is in the text field."""
    value = asked.get(side, "")[: asking.LONGEST]
    listed = any(value == one for _, rows in offered for one, _ in rows)
    return {
        "name": side,
        "label": side.title(),
        "listed": value if listed else "",
        "pasted": "" if listed else value,
        "scheduler": asked.get(f"{side}Scheduler", ""),
        "configuration": typed.get(f"{side}Configuration", "")[:OBJECT_BYTES],
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
