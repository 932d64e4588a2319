"""Costs and savings of a cache, and where another mode diverges, over HTTP."""

from __future__ import annotations

from contextlib import nullcontext

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, route
from playground.calls.requests import read_query
from playground.edits import worth
from playground.playback import sources
from playground.playback.deadlines import TooMuchWorkError
from playground.pool.read_slots import reading
from playground.protocol.answers import CostTableWire
from playground.protocol.worth import DivergenceWire
from playground.storage import store


@route(
    "GET",
    "/api/scenarios/{name}/costs",
    (
        "Compare evaluations, memory and time without a cache, with the scenario's own, in mode sound and "
        "with batching"
    ),
    {
        200: ("One row per strategy, the first without a cache", CostTableWire),
        422: ("Too large to compute interactively", Errors),
        **ERRORS,
        **BUSY,
    },
)
def get_costs(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the evaluations, memory and time of each strategy."""
    return _answered(worth.CostQuestion(_source(name)))


@route(
    "GET",
    "/api/scenarios/{name}/divergence",
    "Find the first decision that differs under another mode of the equivalence cache",
    {
        200: ("Both runs, and the first cycle with a different decision", DivergenceWire),
        400: ("Invalid parameter", Errors),
        422: ("Too large to compute interactively", Errors),
        **ERRORS,
        **BUSY,
    },
    query=worth.CacheRequest,
)
def get_divergence(request: HttpRequest, name: str) -> HttpResponse:
    """Answer where a scenario first diverges under another mode of the cache."""
    return _answered(worth.under(_source(name), read_query(worth.CacheRequest, request.GET)))


def _source(name: str) -> sources.Source:
    row = store.find_scenario(name)
    if row is None:
        raise ApiError(404, "Scenario not found; it may have been deleted.")
    return sources.Source({"scenario": name}, row)


def _answered(question: worth.CostQuestion) -> HttpResponse:
    try:
        with nullcontext() if question.large else reading():
            answer = worth.answered(question)
    except (TooMuchWorkError, worth.NoCacheError) as error:
        raise ApiError(422, str(error)) from error
    return HttpResponse(answer, content_type="application/json")
