"""``/recording`` and ``/learn/…/file/``: a source's whole run, and a lesson, as one HTML file."""

from __future__ import annotations

import re

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from playground.comparisons import address
from playground.courseware import LessonError
from playground.lessons import answer_links, lookup
from playground.models import Draft, Scenario
from playground.playback.sources import Source
from playground.pool import offload
from playground.pool.read_slots import reading
from playground.recordings.lesson_file import lesson_file
from playground.recordings.scenario_file import RecordedScenario, made
from playground.serving.languages import current, translated
from playground.storage import bundles, comments, privacy
from playground.views.comparison import REFUSALS, status_of
from playground.visitors import identity
from playground.visitors.throttle import throttled

LONGEST = 2_000  # characters of the view that is opened
_NAME = re.compile(r"[^\w.-]+", re.ASCII)


@require_safe
@never_cache
@throttled("IMPORTS_PER_MINUTE")
def recording(request: HttpRequest) -> HttpResponse:
    """Answer the file of a ``source`` (``kind:id``), which opens at the view ``query`` of its address.

    Of a draft's text the parts are left out that ``without`` lists.
    """
    query = request.GET.get("query", "")[:LONGEST]
    server = _server(request)
    try:
        source = address.found(request.GET.get("source", ""), "source", "to record", request.visitor)  # type: ignore[attr-defined]
        with reading():
            recorded = _recorded(source, request.GET.get("without", "").split())
        if offload.enabled():
            text = offload.compute(identity.asker(), made, recorded, query, server, long=True)
        else:
            with reading():
                text = made(recorded, query, server)
    except REFUSALS as error:
        return _refused(error, status_of(error))
    return _file(text, source.title)


@require_safe
@translated
@throttled("IMPORTS_PER_MINUTE")
def lesson(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer the file of a lesson, in the language of the request; it holds the answers, so 403 as these."""
    found = lookup.lesson_at(slug)
    if found is None:
        raise Http404("There is no such lesson.")
    given, visitor = request.GET.get("answers", ""), request.visitor  # type: ignore[attr-defined]
    if not answer_links.allowed(slug, lookup.author_of(found), visitor, given):
        return HttpResponse(answer_links.REFUSED, status=403, content_type="text/plain; charset=utf-8")
    asked = (found, current(), _server(request))
    try:
        if offload.enabled():
            text = offload.compute(identity.asker(), lesson_file, *asked, long=True)
        else:
            with reading():
                text = lesson_file(*asked)
    except LessonError as error:
        return _refused(error, 422)
    except REFUSALS as error:
        return _refused(error, status_of(error))
    return _file(text, found.slug)


def _server(request: HttpRequest) -> str:
    return request.build_absolute_uri("/").rstrip("/")


def _refused(error: Exception, status: int) -> HttpResponse:
    return HttpResponse(str(error), status=status, content_type="text/plain; charset=utf-8")


def _file(text: str, title: str) -> HttpResponse:
    name = _NAME.sub("-", title).strip("-.")[:60] or "recording"
    headers = {"Content-Disposition": f'attachment; filename="{name}.html"', "X-Robots-Tag": "noindex"}
    return HttpResponse(text, content_type="text/html; charset=utf-8", headers=headers)


def _recorded(source: Source, without: list[str]) -> RecordedScenario:
    """Return what is recorded of a source; a draft never takes its Secrets along."""
    text, title = source.text(), source.title
    if isinstance(source.row, Draft):
        parts = [part for part in without if part in privacy.PARTS]
        text = privacy.without(text, [*parts, "secrets"])
        scenario = bundles.parse([("", text)], title, presumed=source.presumed())
        content = bundles.pack(bundles.content_of(scenario))
    else:
        content = source.stored().content or b""
    threads = (
        comments.threads(source.row) if isinstance(source.row, Scenario) and "scenario" in source.wire else []
    )
    return RecordedScenario(content, text, title, source.scheduler, source.living, threads)
