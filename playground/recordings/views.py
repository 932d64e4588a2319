"""``/recording``: a source's whole run as one HTML file."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from playground.comparisons import asking
from playground.models import Draft, Scenario
from playground.playback.sources import Source
from playground.pool import offload
from playground.pool.reading import reading
from playground.recordings.making import Recorded, made
from playground.storage import bundles, comments, privacy
from playground.views.comparing import REFUSALS, status_of
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
    server = request.build_absolute_uri("/").rstrip("/")
    try:
        source = asking.found(request.GET.get("source", ""), "source", "to record", request.visitor)  # type: ignore[attr-defined]
        with reading():
            recorded = _recorded(source, request.GET.get("without", "").split())
        if offload.enabled():
            text = offload.compute(identity.asker(), made, recorded, query, server, long=True)
        else:
            with reading():
                text = made(recorded, query, server)
    except REFUSALS as error:
        return HttpResponse(str(error), status=status_of(error), content_type="text/plain; charset=utf-8")
    name = _NAME.sub("-", source.title).strip("-.")[:60] or "recording"
    headers = {"Content-Disposition": f'attachment; filename="{name}.html"', "X-Robots-Tag": "noindex"}
    return HttpResponse(text, content_type="text/html; charset=utf-8", headers=headers)


def _recorded(source: Source, without: list[str]) -> Recorded:
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
    return Recorded(content, text, title, source.scheduler, source.living, threads)
