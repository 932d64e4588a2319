"""Two sources side by side over HTTP."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError
from playground.comparisons import asking, comparing
from playground.visitors import identity
from playground.visitors.throttle import token_of


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
