"""The page of a room: the workbench on its scenario, which follows the leader."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.playback import sources
from playground.rooms import questions, rows
from playground.serving.error_pages import error_page
from playground.views.workbench import workbench


@require_safe
@ensure_csrf_cookie
def room(request: HttpRequest, name: str) -> HttpResponse:
    """Render the workbench of a room's scenario with ``room`` for everyone who has the link; 410 once over.

    Who leads has the token behind the ``#`` of the address, which the server is never sent.
    """
    row = rows.find(name)
    if row is None:
        raise Http404
    if rows.is_over(row):
        return error_page(request, 410, "The room has ended.")
    short = row.scenario.short
    source = sources.Source({"scenario": short}, row.scenario)
    asked = questions.veil_of(row.question) is not None  # what introduces a scenario may tell how it goes on
    response = workbench(
        request,
        source,
        room=row.pk,
        title=row.title or source.title,
        about="" if asked else source.introduction(),
        step=str(row.position.get("step", "")),
        bundle_url=f"/api/scenarios/{short}/bundle",
    )
    response.headers["X-Robots-Tag"] = "noindex"
    return response
