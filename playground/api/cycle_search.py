"""The search for the next cycle that meets a condition, over HTTP."""

from __future__ import annotations

import time

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError, answer
from playground.api.lookups import playback_of, run_of, scenario_of
from playground.api.payloads.problems import Errors
from playground.api.route import FOUND, route
from playground.calls.requests import read_query
from playground.limits import limit
from playground.playback import sources
from playground.playback.cycle_search import Finder, FoundCycle, Search, SearchRequest
from playground.playback.playback import OutOfRangeError
from playground.pool import gate
from playground.pool.read_slots import reading


@route(
    "GET",
    "/api/scenarios/{name}/find",
    "Find the next or previous cycle that meets a condition, such as a failed predicate",
    {**FOUND, 422: ("Too large to compute interactively: start a run", Errors)},
    query=SearchRequest,
)
def find_in_scenario(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the nearest cycle of a scenario that meets a condition."""
    return _found(request, sources.Source({"scenario": name}, scenario_of(name)))


@route(
    "GET",
    "/api/runs/{name}/find",
    "Find the next or previous cycle that meets a condition among a run's stored cycles",
    FOUND,
    query=SearchRequest,
)
def find_in_run(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the nearest cycle of a run that meets a condition."""
    return _found(request, sources.Source({"run": name}, run_of(name)))


def _found(request: HttpRequest, source: sources.Source) -> HttpResponse:
    search = Search.of(read_query(SearchRequest, request.GET))
    playback = playback_of(source)
    until = time.monotonic() + limit("FIND_SECONDS")
    with reading():
        searching = Finder(playback, search).run()
        seen = search.start
        while time.monotonic() < until:
            try:
                seen = next(searching)
            except StopIteration as end:
                return answer(end.value.wire())
            except OutOfRangeError as error:
                raise ApiError(404, str(error)) from error
            gate.look()
    return answer(FoundCycle(0, (), seen, over=False).wire())
