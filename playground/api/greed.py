"""The price of greed over HTTP: the optimum of a step, beside what schedulers place."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, route
from playground.calls.requests import read_query
from playground.comparisons import greed
from playground.protocol.optimum import GreedWire
from playground.visitors import identity
from playground.visitors.throttle import token_of


@route(
    "GET",
    "/api/optimum",
    "Get the best placement of all pending pods, its proof, the moves, and what schedulers place",
    {
        200: ("The optimum, beside v1.11, v1.37, kube-batch and Firmament", GreedWire),
        400: ("Invalid parameter", Errors),
        413: ("Too large", Errors),
        422: ("Too large to compute interactively", Errors),
        **ERRORS,
        **BUSY,
    },
    query=greed.OptimumQuery,
)
def get_optimum(request: HttpRequest) -> HttpResponse:
    """Answer the optimum of a step, and what schedulers place."""
    owner = identity.verify(token_of(request))  # of the drafts made over the API
    body = greed.answered(greed.question(read_query(greed.OptimumQuery, request.GET), owner))
    return HttpResponse(body, content_type="application/json")
