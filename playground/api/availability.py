"""The availability of workloads over time, over HTTP."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError, answer
from playground.api.lookups import playback_of, run_of, scenario_of
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, route
from playground.playback import over_time, sources
from playground.pool.read_slots import reading
from scheduler_core.record.availability import Availability

WHOLE = 10**9  # more cycles than are ever computed
NO_TIME = "No time passes in this scenario: nothing starts, ends, fails or is replaced between its cycles."


def _answered(found: Availability | None, otherwise: str) -> HttpResponse:
    if found is None:
        raise ApiError(404, otherwise)
    return answer(found)


@route(
    "GET",
    "/api/scenarios/{name}/availability",
    "Get how many pods of each workload were desired, ready and pending over virtual time",
    {
        200: ("The workloads that were below desired longest, at most 50", Availability),
        422: ("Too large to compute interactively: start a run", Errors),
        **ERRORS,
        **BUSY,
    },
)
def get_availability(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the availability over a scenario's whole run, as far as it is computed interactively."""
    playback = playback_of(sources.Source({"scenario": name}, scenario_of(name)))
    with reading():
        playback.reach(WHOLE)
        found = playback.availability()
    return _answered(found, NO_TIME)


@route(
    "GET",
    "/api/runs/{name}/availability",
    "Get how many pods of each workload were desired, ready and pending over a run's virtual time",
    {200: ("The workloads that were below desired longest, at most 50", Availability), **ERRORS},
)
def get_run_availability(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the availability that a run's worker stored at its end."""
    run = run_of(name)
    return _answered(over_time.of(run), NO_TIME if run.finished else "The run has not ended yet.")
