"""Sweeps over HTTP: start, read and cancel them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from msgspec import to_builtins

from playground.api.answers import ApiError, answer
from playground.api.bodies import body_of
from playground.api.lookups import scenario_of
from playground.api.payloads import sweeps as payloads
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, FULL, route
from playground.models import Sweep
from playground.pool.read_slots import reading
from playground.runs import distances, service, sweeps
from playground.storage import store
from playground.visitors import identity
from playground.visitors.throttle import RETRY_SECONDS, address_of, token_of
from playground.wire import encode


@route(
    "POST",
    "/api/sweeps",
    "Run a scenario under every combination of a grid's values",
    {
        201: ("Queued, a run for each cell; keep the cancel token", payloads.CreatedSweep),
        400: ("The body cannot be read", Errors),
        422: ("The grid has errors; all are listed, with their path", Errors),
        **FULL,
        **ERRORS,
        **BUSY,
    },
    body=(("application/json", payloads.NewSweep),),
)
def create_sweep(request: HttpRequest) -> HttpResponse:
    """Start a sweep of a shared scenario."""
    body = body_of(request, payloads.NewSweep)
    asked = {name: value for name, value in to_builtins(body).items() if name != "scenario"}
    address = address_of(request)
    try:
        with reading():
            row = scenario_of(body.scenario)
            scenario = store.load_scenario(row)
            sweep, token = sweeps.start(row, scenario, asked, identity.owner_at(address), address)
    except service.TooManyRunsError as error:
        raise ApiError(429, str(error), {"Retry-After": str(RETRY_SECONDS)}) from error
    created = payloads.CreatedSweep(
        id=sweep.pk, url=_url(request, sweep), cells=sweep.cells.count(), cancel_token=token
    )
    return answer(created, 201, Location=f"/api/sweeps/{sweep.pk}")


def _url(request: HttpRequest, sweep: Sweep) -> str:
    return request.build_absolute_uri(f"/sweeps/{sweep.pk}/")


def _sweep_of(name: str) -> Sweep:
    found = sweeps.find(name)
    if found is None:
        raise ApiError(404, "Sweep not found.")
    return found


def _mine(request: HttpRequest, name: str) -> Sweep:
    sweep = _sweep_of(name)
    if not sweeps.may_cancel(sweep, "", token_of(request)):
        raise ApiError(
            403,
            "Send the cancel token returned when the sweep was started, as `Authorization: Bearer <token>`.",
        )
    return sweep


def _payload(request: HttpRequest, sweep: Sweep) -> payloads.Sweep:
    wire = sweeps.wire(sweep)
    cells = [payloads.SweepCell(**cell) for cell in wire.pop("cells")]
    return payloads.Sweep(url=_url(request, sweep), cells=cells, **wire)


@route(
    "GET",
    "/api/sweeps/{name}",
    "Get a sweep with its cells and their figures",
    {200: ("The sweep", payloads.Sweep), **ERRORS},
)
def get_sweep(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the state of a sweep."""
    return answer(_payload(request, _sweep_of(name)), Cache_Control="no-store")


@route(
    "POST",
    "/api/sweeps/{name}/cancel",
    "Cancel a sweep",
    {
        200: ("The sweep; cells that run stop after their current slice", payloads.Sweep),
        403: ("Not yours", Errors),
        **ERRORS,
    },
    token="The cancel token returned when the sweep was started",  # noqa: S106 - a description
)
def cancel_sweep(request: HttpRequest, name: str) -> HttpResponse:
    """Cancel a sweep that the caller started."""
    sweep = _mine(request, name)
    return answer(_payload(request, sweeps.cancel(sweep)), Cache_Control="no-store")


@route(
    "GET",
    "/api/sweeps/{name}/cells/{number}/optimum",
    "Search how far the placement of a cell is from the best one",
    {
        200: ("The distance; it is searched once", payloads.CellDistance),
        409: ("The cell's run has not ended", Errors),
        422: ("Too large to compute interactively", Errors),
        **ERRORS,
        **BUSY,
    },
)
def get_cell_optimum(request: HttpRequest, name: str, number: str) -> HttpResponse:
    """Answer the distance of a cell from the optimum."""
    rows = _sweep_of(name).cells.select_related("run__scenario")
    cell = rows.filter(number=number).first() if number.isascii() and number.isdigit() else None
    if cell is None:
        raise ApiError(404, "The sweep has no cell of this number.")
    try:
        found = distances.answered(cell)
    except distances.UnfinishedCellError as error:
        raise ApiError(409, str(error)) from error
    return HttpResponse(encode(found), content_type="application/json")


@route(
    "DELETE",
    "/api/sweeps/{name}",
    "Delete a sweep with its runs",
    {204: ("Gone", ""), 403: ("Not yours", Errors), 409: ("It is not finished", Errors), **ERRORS},
    token="The cancel token returned when the sweep was started",  # noqa: S106 - a description
)
def delete_sweep(request: HttpRequest, name: str) -> HttpResponse:
    """Delete a sweep that the caller started and that has ended."""
    sweep = _mine(request, name)
    try:
        sweeps.delete(sweep)
    except sweeps.UnfinishedSweepError as error:
        raise ApiError(409, str(error)) from error
    return HttpResponse(status=204)
