"""Sweeps: the form that starts one, its page, and what the page fetches while it runs."""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect, ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.comparisons import address
from playground.limits import limit
from playground.models import Sweep
from playground.pool.read_slots import reading
from playground.runs import service, sweeps
from playground.serving.error_pages import error_page
from playground.serving.json_bodies import answers_json
from playground.storage import store
from playground.views.comparison import REFUSALS, choices, problem_words, status_of
from playground.views.workbench import _visitor
from playground.visitors.throttle import address_of, throttled
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.studies.sweep import AXES
from scheduler_core.studies.sweep.text import in_text, sweep_body

FIRST = "grid:\n  scoringStrategy: [LeastAllocated, MostAllocated]\n  seed: [0, 1, 2]\n"
"""The grid that the form begins with."""


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@csrf_protect
@ensure_csrf_cookie
@throttled("IMPORTS_PER_MINUTE")
def form(request: HttpRequest) -> HttpResponse:
    """Render ``sweep_new.html``, or start the sweep that is posted and redirect to its page.

    Context: ``asked`` ({of, text}); ``choices`` (as on the page of a comparison); ``axes`` (rows of
    ``scheduler_core.studies.sweep.AXES`` with ``text``, a line of YAML); ``problems`` (sentences); ``most``.
    """
    sent = request.POST if request.method == "POST" else request.GET
    asked = {"of": sent.get("of", "") or sent.get("from", ""), "text": sent.get("text", FIRST)}
    context: dict[str, Any] = {
        "section": "runs",
        "asked": asked,
        "choices": choices(_visitor(request)),
        "axes": [_axis(name) for name in AXES],
        "most": limit("SWEEP_CELLS"),
    }
    if request.method != "POST":
        return render(request, "sweep_new.html", context)
    try:
        return HttpResponseRedirect(f"/sweeps/{_started(request, **asked).pk}/")
    except service.TooManyRunsError as error:
        context["problems"], status = [str(error)], 429
    except REFUSALS as error:
        context["problems"] = problem_words(error) if isinstance(error, BundleError) else [str(error)]
        status = status_of(error)
    return render(request, "sweep_new.html", context, status=status)


def _axis(name: str) -> dict[str, str]:
    axis = AXES[name]
    values = json.dumps(axis.example, ensure_ascii=False).replace('"', "")
    text = f"{axis.title}: {values if axis.example else '{packed: {…}, spread: {…}}'}"
    return {"title": axis.title, "about": axis.about, "text": text}


def _started(request: HttpRequest, of: str, text: str) -> Sweep:
    """Start the sweep of a source that a text asks for. Raises REFUSALS and TooManyRunsError."""
    visitor = _visitor(request)
    source = address.found(of, "of", "to sweep", visitor)
    body = sweep_body(text)
    with reading():
        scenario = source.load()
        row = store.keep_scenario(scenario, source.text(), visitor)
        try:
            return sweeps.start(row, scenario, body, visitor, address_of(request))[0]
        except BundleError as error:
            raise BundleError(in_text(error.problems, text, body)) from error


def _found(name: str) -> Sweep:
    found = sweeps.find(name)
    if found is None:
        raise Http404
    return found


@require_safe
@ensure_csrf_cookie
def page(request: HttpRequest, name: str) -> HttpResponse:
    """Render ``sweep.html`` for everyone who has the link. Context: ``sweep`` (:func:`sweeps.wire`)."""
    return render(
        request, "sweep.html", {"section": "runs", "sweep": sweeps.wire(_found(name), _visitor(request))}
    )


@answers_json
@require_safe
def cells(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the sweep as it is now, for its page."""
    body = json.dumps(sweeps.wire(_found(name), _visitor(request)), separators=(",", ":"))
    return HttpResponse(body, content_type="application/json", headers={"Cache-Control": "no-store"})


@require_POST
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Delete one of the visitor's sweeps, with its runs; redirect to the list of runs."""
    sweep = _found(name)
    if not sweeps.may_cancel(sweep, _visitor(request)):
        return error_page(request, 403, "Only the visitor who started a sweep can delete it.")
    try:
        sweeps.delete(sweep)
    except sweeps.UnfinishedSweepError as error:
        return error_page(request, 409, str(error))
    return HttpResponseRedirect("/runs/")


@require_POST
def cancel(request: HttpRequest, name: str) -> HttpResponse:
    """Cancel one of the visitor's sweeps; redirect to it."""
    sweep = _found(name)
    if not sweeps.may_cancel(sweep, _visitor(request)):
        return error_page(request, 403, "Only the visitor who started a sweep can cancel it.")
    sweeps.cancel(sweep)
    return HttpResponseRedirect(f"/sweeps/{sweep.pk}/")
