"""Private links over HTTP: what one shows, and whether it still decides what it pinned."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError, answer
from playground.api.lookups import playback_of
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, route
from playground.models import Link
from playground.playback import pins, sources
from playground.pool.read_slots import reading
from playground.protocol.links import LinkCheckWire, LinkWire
from playground.storage import links


@route(
    "GET",
    "/api/links/{name}",
    "Get what a private link shows; both outcomes if the engine decides differently now",
    {
        200: ("The link", LinkWire),
        422: ("Too large to compute interactively", Errors),
        **ERRORS,
        **BUSY,
    },
)
def get_link(request: HttpRequest, name: str) -> HttpResponse:
    """Answer what a private link shows; both outcomes if the engine decides differently now."""
    link = links.find_link(name)
    if link is None:
        raise ApiError(404, "There is no such link; it may have expired or been revoked.")
    playback = playback_of(sources.Source({"link": name}, link.scenario))
    with reading():
        playback.reach(link.pinned["cycles"] + 1)
        decisions = Link.objects.values_list("decisions", flat=True).get(pk=link.pk)
        found = pins.compared(link.pinned, bytes(decisions), playback)
    body = LinkWire(
        id=link.pk,
        url=request.build_absolute_uri(f"/l/{link.pk}/"),
        title=link.title,
        query=link.query,
        created=link.created.isoformat(),
        expires=link.expires.isoformat(),
        **cast("LinkCheckWire", found),
    )
    return answer(body, Cache_Control="no-store")
