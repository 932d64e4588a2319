"""Reports of a review: ``POST /report`` answers one file, of a comparison or of one scenario."""

from __future__ import annotations

import json
from itertools import product

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_POST

from playground.comparisons import address, snapshots
from playground.comparisons.summary import SideSummary, Summary, summary
from playground.models import Comparison
from playground.playback import sources
from playground.pool.read_slots import reading
from playground.pool.shares import BusyError
from playground.reports import report
from playground.reports.markup import html
from playground.reports.pull_request import about, author, markdown
from playground.serving.error_pages import error_page
from playground.views import stored_comparison
from playground.views.comparison import FIELD, REFUSALS, SIDES, status_of
from playground.views.workbench import _visitor
from playground.visitors.throttle import throttled

FORMATS = {"html": "text/html", "markdown": "text/markdown"}
#: Of a file that is opened from a disk, too: nothing is fetched, nothing runs.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@require_POST
@never_cache
@csrf_protect
@throttled("IMPORTS_PER_MINUTE")
def download(request: HttpRequest) -> HttpResponse:
    """Answer a report as a file.

    Fields: ``comparison``, the id of a stored one; or ``left`` and ``right`` as of ``/compare/``, which is
    stored so that the report's links open what was compared, ``right`` "" for a report of one scenario; their
    schedulers; ``verdict`` (of report.VERDICTS), ``name``, ``note``; ``format`` "html" or "markdown".
    """
    fields = {name: str(value)[:FIELD] for name, value in request.POST.items() if name != "note"}
    kind = fields.get("format", "html")
    try:
        if kind not in FORMATS:
            raise report.ReportError(f"A report is one of: {', '.join(FORMATS)}.")
        verdict = report.verdict_of({**fields, "note": request.POST.get("note", "")}, timezone.now().date())
        made = _made(request, fields, verdict)
    except report.ReportError as error:
        return error_page(request, 400, str(error))
    except REFUSALS as error:
        return error_page(request, status_of(error), str(error))
    body = _html(made) if kind == "html" else markdown(made)
    response = HttpResponse(body, content_type=f"{FORMATS[kind]}; charset=utf-8")
    ending = "html" if kind == "html" else "md"
    response.headers["Content-Disposition"] = f'attachment; filename="{made.file_name}.{ending}"'
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _made(
    request: HttpRequest, fields: dict[str, str], verdict: report.ReviewDecision
) -> report.ReportContent:
    visitor = _visitor(request)
    single = not fields.get("right") and not fields.get("comparison")
    row = None if single else _stored(request, fields)
    if row is None:  # the metrics of a run are those of a comparison with itself
        both = {name: fields.get(f"left{name}", "") for name in ("", "Scheduler")}
        query = {f"{side}{name}": value for side in SIDES for name, value in both.items()}
        found = summary(json.loads(address.answered(query, visitor)))
    else:
        found = summary(snapshots.wire_of(row))
    sides = found.sides[:1] if single else found.sides
    return report.ReportContent(
        found=found,
        single=single,
        verdict=verdict,
        discussions=report.discussions(sides),
        pictures=_pictures(found, sides, visitor, single=single),
        address="" if row is None else f"/compare/{row.short}/",
        base=request.build_absolute_uri("/").rstrip("/"),
    )


def _stored(request: HttpRequest, fields: dict[str, str]) -> Comparison:
    """Return the stored comparison that a form names, or store what it asks for."""
    if fields.get("comparison"):
        return stored_comparison.found(fields["comparison"])
    return stored_comparison.kept(request, fields)


def _pictures(
    found: Summary, sides: tuple[SideSummary, ...], visitor: str, *, single: bool
) -> list[report.Picture]:
    """Return the stages at the first difference, and at the end; of one scenario, at the end.

    There are none while all who may compute do so: a report without pictures is a report.
    """
    steps = [report.LAST] if single or found.first is None else [found.first["index"], report.LAST]
    drawn = []
    for index, side in product(steps, sides):
        if side.scheduler:  # what is drawn is what the source says itself
            continue
        try:
            source = sources.find({side.kind: side.name}, visitor)
            with reading():
                drawn.append(report.picture(source, index, side.title))
        except (sources.NotFoundError, BusyError):
            continue
    return [one for one in drawn if one is not None]


def _html(made: report.ReportContent) -> str:
    discussions = [
        {
            "title": discussion.title,
            "open": discussion.open,
            "more": discussion.more,
            "threads": [
                {
                    "about": about(thread),
                    "url": f"{made.base}{thread['url']}",
                    "resolved": thread["resolved"],
                    "comments": [
                        {
                            "author": author(comment),
                            "day": comment["created"][:10],
                            "html": html(comment["text"]),
                        }
                        for comment in (thread, *thread["replies"])
                    ],
                }
                for thread in discussion.threads
            ],
        }
        for discussion in made.discussions
    ]
    context = {
        "report": made,
        "discussions": discussions,
        "note": html(made.verdict.note),
        "policy": POLICY,
        "placements": made.found.placements[: report.PLACEMENTS],
        "more_placements": max(0, made.found.differing - report.PLACEMENTS),
        "differences": made.found.differences[: report.DIFFERENCES],
        "more_differences": max(0, len(made.found.differences) - report.DIFFERENCES),
        "workloads": made.found.workloads[: report.WORKLOADS],
    }
    return render_to_string("report.html", context)
