"""A stored comparison, ``/compare/<id>/``, and each side as a page, for everyone who has the link."""

from __future__ import annotations

from urllib.parse import urlencode

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect, ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from playground.comparisons import address as asking
from playground.comparisons import snapshots
from playground.comparisons.differences import Side
from playground.models import Comparison, Run
from playground.pool.read_slots import reading
from playground.runs import service
from playground.serving.error_pages import error_page
from playground.storage import comparisons, store
from playground.views import comparison
from playground.views.workbench import _find, _visitor, workbench
from playground.visitors import identity
from playground.visitors.throttle import address_of, throttled


def found(short: str) -> Comparison:
    """Return a shared comparison. Raises Http404 and GoneError."""
    row = comparisons.find(short)
    if row is None:
        raise Http404
    return row


@require_safe
@never_cache
@ensure_csrf_cookie
@throttled("API_READS_PER_MINUTE")
def page(request: HttpRequest, short: str) -> HttpResponse:
    """Render ``compare.html`` of what was stored; nothing is computed."""
    row = found(short)
    asked = {side: f"side:{row.short}-{side}" for side in comparisons.SIDES}
    context = comparison.form(_visitor(request), asked)
    context |= comparison.shown(snapshots.wire_of(row), {"comparison": row.short})
    context |= {"kept": row, "address": request.build_absolute_uri(f"/compare/{row.short}/")}
    response = render(request, "compare.html", context)
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@require_POST
@never_cache
@csrf_protect
@throttled("IMPORTS_PER_MINUTE")
def share(request: HttpRequest) -> HttpResponse:
    """Store what ``/compare/`` shows, and redirect to it.

    Fields: those of ``/compare/``; ``open`` "left" or "right" and ``step`` to go to that side instead.
    """
    fields = {name: str(value)[: comparison.FIELD] for name, value in request.POST.items()}
    try:
        row = kept(request, fields)
    except comparison.REFUSALS as error:
        return error_page(request, comparison.status_of(error), str(error))
    side, step = fields.get("open", ""), fields.get("step", "")
    if side not in comparisons.SIDES:
        return HttpResponseRedirect(f"/compare/{row.short}/")
    at = f"?step={step}" if step.isascii() and step.isdigit() and len(step) < 10 and int(step) else ""
    return HttpResponseRedirect(f"/compare/{row.short}/{side}/{at}")


def kept(request: HttpRequest, fields: dict[str, str]) -> Comparison:
    """Store a comparison of the visitor. Raises comparing.REFUSALS."""
    visitor = _visitor(request)
    query = {name: value for name, value in fields.items() if name in comparison.SENT}
    return snapshots.share(query, visitor, visitor or identity.owner_at(address_of(request))).comparison


@require_POST
@never_cache
@csrf_protect
@throttled("IMPORTS_PER_MINUTE")
def runs(request: HttpRequest) -> HttpResponse:
    """Start a run of each side that is not one yet, and redirect to the comparison of both."""
    fields = {name: str(value)[: comparison.FIELD] for name, value in request.POST.items()}
    visitor = _visitor(request)
    try:
        asked = asking.question(fields, visitor).pinned()
        with reading(), transaction.atomic():
            names = [_run(one, visitor, address_of(request)) for one in asked.sides]
    except comparison.REFUSALS as error:
        return error_page(request, comparison.status_of(error), str(error))
    query = {side: f"run:{name}" for side, name in zip(comparisons.SIDES, names)}
    return HttpResponseRedirect(f"/compare/?{urlencode(query)}")


def _run(side: Side, visitor: str, address: str) -> str:
    """Return the id of the run of a side, which is started unless it is one."""
    if isinstance(side.source.row, Run) and not side.scheduler:
        return side.source.row.pk
    scenario, text = snapshots.text_of(side)
    run, _ = service.known_or_started(scenario, visitor or identity.owner_at(address), address, text=text)
    return run.pk


@require_POST
@csrf_protect
def cancel(request: HttpRequest) -> HttpResponse:
    """Cancel the visitor's runs that a comparison waits for; redirect to the list of runs."""
    for name in request.POST.getlist("run")[: len(comparisons.SIDES)]:
        run = store.find_run(name)
        if run is not None and service.may_cancel(run, _visitor(request)):
            service.cancel(run)
    return HttpResponseRedirect("/runs/")


@require_safe
@ensure_csrf_cookie
def side(request: HttpRequest, short: str, side: str) -> HttpResponse:
    """Show one side under the release and configuration that were compared."""
    source = _find("side", f"{short}-{side}", _visitor(request))
    response = workbench(
        request, source, bundle_url=f"/compare/{short}/{side}/bundle", compared=(side, short)
    )
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@require_safe
def side_bundle(request: HttpRequest, short: str, side: str) -> HttpResponse:
    """Answer the text of one side."""
    source = _find("side", f"{short}-{side}", _visitor(request))
    headers = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex"}
    return HttpResponse(source.text(), content_type="text/plain; charset=utf-8", headers=headers)
