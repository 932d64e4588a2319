"""What several calls look up and answer: scenarios, runs, cycles, parameters."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError, answer
from playground.api.payloads.scenarios import Created
from playground.calls.faults import RequestFieldError
from playground.models import Room, Run, Scenario
from playground.playback import sources
from playground.playback.deadlines import TooMuchWorkError
from playground.playback.playback import OutOfRangeError, Playback
from playground.pool.read_slots import reading
from playground.protocol.page import ProblemWire
from playground.rooms import rows
from playground.storage import bundles, privacy, store
from scheduler_core.kubernetes.conversion import converted
from scheduler_core.run.trace import trace_cycle
from scheduler_core.scenario import scenario as core

STEP = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


def shared_answer(request: HttpRequest, shared: store.Shared, scenario: core.Scenario) -> HttpResponse:
    """Return the response to sharing a scenario, including the only copy of its delete token."""
    body = Created(
        id=shared.scenario.short,
        url=request.build_absolute_uri(f"/s/{shared.scenario.short}/"),
        delete_token=shared.delete_token,
        expires=expires_of(shared.scenario),
        warnings=converted(bundles.problems_wire(scenario.warnings), list[ProblemWire]),
        summary=dict(scenario.summary or {}),
    )
    return answer(body, 201, Location=f"/api/scenarios/{shared.scenario.short}")


def leaving_out(request: HttpRequest, scenario: core.Scenario, text: str) -> tuple[core.Scenario, str]:
    """Return a scenario and its text without what the query's ``without`` lists. Raises ApiError."""
    try:
        parts = privacy.names_of(request.GET.get("without"))
    except ValueError as error:
        raise RequestFieldError("without", str(error)) from error
    made = privacy.without(text, parts) if parts else text
    return (scenario if made == text else bundles.parse([("", made)], scenario.title)), made


def expires_of(row: Scenario) -> str | None:
    """Return the date until which an unopened link is kept; None if it never expires."""
    return None if row.expires is None else row.expires.isoformat()


def scenario_of(short: str) -> Scenario:
    """Return a scenario that is shared. Raises ApiError."""
    row = store.find_scenario(short)
    if row is None:
        raise ApiError(404, "Scenario not found; it may have been deleted.")
    return row


def room_of(name: str) -> Room:
    """Return a room, over or not. Raises ApiError."""
    room = rows.find(name)
    if room is None:
        raise ApiError(404, "There is no such room; one is removed some weeks after its end.")
    return room


def run_of(name: str) -> Run:
    """Return a run. Raises ApiError."""
    run = store.find_run(name)
    if run is None:
        raise ApiError(404, "Run not found.")
    return run


def playback_of(source: sources.Source) -> Playback:
    """Return the playback of a source. Raises ApiError."""
    try:
        with reading():
            playback = sources.open_playback(source)
        if not isinstance(source.row, Run):
            sources.check_work(playback.scenario)
        return playback
    except TooMuchWorkError as error:
        raise ApiError(422, str(error)) from error


def number_of(request: HttpRequest, name: str, default: int, least: int, most: int) -> int:
    """Return a number from the query string. Raises ApiError."""
    text = request.GET.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise RequestFieldError(name, f"{name} must be {least} to {most:,}.")
    return int(text)


def cycle_answer(playback: Playback, step: str) -> HttpResponse:
    """Answer one cycle by its number or its step, as in a trace."""
    try:
        if not STEP.fullmatch(step):
            raise ValueError("A step is a cycle's number or major.minor, as in 17 or 2.3.")
        with reading():
            index = playback.seek(step)
            if not index:
                raise OutOfRangeError(f"There is no cycle {step}; there are {len(playback):,}.")
            return answer(trace_cycle(playback.cycle(index)))
    except ValueError as error:
        raise RequestFieldError("step", str(error)) from error
    except OutOfRangeError as error:
        raise ApiError(404, str(error)) from error


def index_of(playback: Playback, step: str) -> int:
    """Return the index of a step, 0 before the first cycle."""
    if not STEP.fullmatch(step):
        message = "A step is a cycle's number or major.minor, as in 17 or 2.3."
        raise RequestFieldError("step", message)
    index = playback.seek(step)
    if index is None:
        raise ApiError(404, f"There is no cycle {step}; there are {len(playback):,}.")
    return index
