"""Long runs: the visitor's list, one run, and its figures."""

from __future__ import annotations

import json

from django.db.models import Count, Exists, OuterRef, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from playground.models import HEAVY, QUEUED, Run, Share, Sweep
from playground.runs import dumps, fairness, figures, placements, service
from playground.serving.error_pages import error_page
from playground.serving.json_bodies import answers_json
from playground.storage import store
from playground.views.workbench import _visitor
from scheduler_core.record.query.questions import QUESTIONS
from scheduler_core.record.query.tables import TABLES

RUNS_SHOWN = 200


@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    """Render ``runs.html``: the visitor's own runs, newest first.

    Context: ``section`` "runs"; ``runs`` (list of Run as in docs/protocol.md, each with ``url``, and
    ``createdAt`` and ``keptUntil`` as datetimes); ``sweeps`` (rows of Sweep, newest first, each with
    ``total`` and ``done`` cells), whose runs are not among the ``runs``.
    """
    visitor = _visitor(request)
    rows = Run.objects.filter(owner=visitor, sweep=None).select_related("scenario").defer(*HEAVY)
    rows = rows.annotate(shared=Exists(Share.objects.filter(scenario=OuterRef("scenario"))))
    newest = list(rows.order_by("-created")[:RUNS_SHOWN])
    places = fairness.positions() if any(run.state == QUEUED for run in newest) else {}
    shown = [
        {
            **service.run_wire(run, visitor, shared=run.shared, places=places),
            "url": f"/runs/{run.pk}/",
            "createdAt": run.created,
            "keptUntil": run.expires,
        }
        for run in newest
    ]
    counts = {"total": Count("cells"), "done": Count("cells", filter=Q(cells__ended=True))}
    swept = Sweep.objects.filter(owner=visitor).annotate(**counts).order_by("-created")
    return render(
        request, "runs.html", {"section": "runs", "runs": shown, "sweeps": list(swept[:RUNS_SHOWN])}
    )


def _find(name: str) -> Run:
    run = store.find_run(name)
    if run is None:
        raise Http404
    return run


@require_safe
@ensure_csrf_cookie
def run(request: HttpRequest, name: str) -> HttpResponse:
    """Render ``run.html`` for everyone who has the link.

    Context: ``section`` "runs"; ``run`` (Run as in docs/protocol.md); ``counts`` {"nodes", "pods",
    "operations"}; ``figures_url``; ``trace_url``; ``scenario_url`` ("" if it has no public link);
    ``tables`` (the data behind each figure: {name, title, columns, rows}); ``first_unschedulable`` (a
    cycle or None); ``dump`` ({incomplete, answers}, see :mod:`playground.runs.dumps`); ``unplaced``
    (the pods that wait after a failed attempt, by reason: {message, count, pods, more}); ``questions``
    ({name, text, sql}) and ``query_tables`` ([(table, its columns)]).
    """
    row = _find(name)
    wire = service.run_wire(row, _visitor(request))
    context = {
        "section": "runs",
        "run": wire,
        "counts": {
            "nodes": row.scenario.nodes,
            "pods": row.scenario.pods,
            "operations": row.scenario.operations,
        },
        "figures_url": f"/runs/{row.pk}/figures.json",
        "trace_url": f"/api/runs/{row.pk}/trace.jsonl.zst",
        "scenario_url": f"/s/{wire['scenario']}/" if wire["scenario"] else "",
        "tables": figures.tables(row),
        "first_unschedulable": figures.first_unschedulable(row),
        "dump": dumps.of(row),
        "questions": [{"name": one.name, "text": one.text, "sql": one.sql} for one in QUESTIONS],
        "query_tables": [(table, ", ".join(columns)) for table, columns in TABLES.items()],
        "unplaced": [{**reason, "more": reason["count"] - len(reason["pods"])} for reason in row.unplaced],
    }
    return render(request, "run.html", context)


@answers_json
@require_safe
def run_figures(request: HttpRequest, name: str) -> HttpResponse:
    """Answer ``{"cycles", "state", "figures": {name: Plotly figure}, "tables", …}`` of the run so far."""
    row = _find(name)
    body = {
        "cycles": row.cycles,
        "state": row.state,
        "figures": figures.figures(row),
        "tables": figures.tables(row),
        "firstUnschedulable": figures.first_unschedulable(row),
        "dump": dumps.of(row),
        "recorded": placements.of(row),
        "unplaced": row.unplaced,
    }
    return HttpResponse(
        json.dumps(body, separators=(",", ":")),
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


@require_safe
def run_bundle(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the bundle that a run simulates."""
    text = store.scenario_text(Run.objects.select_related("scenario").get(pk=_find(name).pk).scenario)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_POST
def run_cancel(request: HttpRequest, name: str) -> HttpResponse:
    """Cancel one of the visitor's runs (for the page without JavaScript); redirect to the run."""
    row = _find(name)
    if not service.may_cancel(row, _visitor(request)):
        return error_page(request, 403, "Only the visitor who started a run can cancel it.")
    service.cancel(row)
    return HttpResponseRedirect(f"/runs/{row.pk}/")
