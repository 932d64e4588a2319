"""Two sources side by side over HTTP."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError
from playground.api.route import BUSY, ERRORS, route
from playground.comparisons import asking, comparing
from playground.visitors import identity
from playground.visitors.throttle import token_of


@route(
    "GET",
    "/api/compare",
    "Compare two sources: the first different decision, final placements and metrics",
    {
        200: ("The comparison", "Comparison"),
        400: ("Invalid parameter", "Errors"),
        409: ("A run is not done", "Errors"),
        413: ("Too large", "Errors"),
        422: ("Too large to compute interactively; start a run of each, and compare the runs", "Errors"),
        **ERRORS,
        **BUSY,
    },
    query=(
        ("left", "string", "A scenario, run, link or draft: its id, or kind:id"),
        ("right", "string", "As left"),
        ("leftScheduler", "string", "v1.11 or v1.37; defaults to what the scenario specifies"),
        ("rightScheduler", "string", "As leftScheduler"),
    ),
)
def get_comparison(request: HttpRequest) -> HttpResponse:
    """Answer where two sources first decide differently, where pods end, and the metrics of both."""
    owner = identity.verify(token_of(request))  # of the drafts made over the API
    try:
        body = asking.answered(request.GET.dict(), owner)
    except asking.AskedError as error:
        errors = [{"line": None, "path": error.path, "message": str(error)}]
        raise ApiError(400 if error.path else 404, errors) from error
    except comparing.UnfinishedError as error:
        raise ApiError(409, str(error)) from error
    return HttpResponse(body, content_type="application/json")
