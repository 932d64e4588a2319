"""Runs over HTTP: start, read and cancel them, their cycles and traces."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any, ClassVar
from weakref import WeakSet
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import zstandard
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from msgspec import to_builtins

from playground.api.answers import ApiError, answer
from playground.api.bodies import body_of
from playground.api.lookups import cycle_answer, playback_of, run_of, scenario_of
from playground.api.payloads import runs as payloads
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, FULL, route
from playground.calls.faults import RequestFieldError
from playground.limits import limit
from playground.models import Run
from playground.playback import sources
from playground.playback.executor import in_exports
from playground.playback.playback import Playback
from playground.pool.read_slots import reading
from playground.runs import questions, service
from playground.storage import bundles, store, texts
from playground.visitors import identity
from playground.visitors.throttle import RETRY_SECONDS, address_of, token_of
from scheduler_core.compare.results.final_manifests import ending_documents
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.conversion import converted
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.record.query.statement import QueryError
from scheduler_core.record.query.tables import in_csv
from scheduler_core.run.trace import trace_line

#: Of files by their endings.
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "yaml": "application/yaml",
    "zip": "application/zip",
}
TRACE_SLICE_CELLS = 10_000  # nodes × cycles between two writes of a trace download


@route(
    "POST",
    "/api/runs",
    "Start a long run in a worker",
    {
        201: ("Queued; keep the cancel token", payloads.Run),
        400: ("The body cannot be read", Errors),
        413: ("Too large", Errors),
        422: ("The policy has errors", Errors),
        **FULL,
        **ERRORS,
        **BUSY,
    },
    body=(("application/json", payloads.NewRun),),
)
def create_run(request: HttpRequest) -> HttpResponse:
    """Start a run of a shared scenario in a worker."""
    body = body_of(request, payloads.NewRun)
    try:
        with reading():
            row = scenario_of(body.scenario)
            shared = store.load_scenario(row)
            scenario = service.configured(shared, to_builtins(body).get("config"))
            text = texts.spliced(store.scenario_text(row), shared.documents, scenario.documents)
        address = address_of(request)
        run, token = service.known_or_started(scenario, identity.owner_at(address), address, text=text)
    except service.ConfigError as error:
        raise RequestFieldError("config", str(error)) from error
    except BundleError as error:
        raise ApiError(422, bundles.problems_wire(error.problems)) from error
    except service.TooManyRunsError as error:
        raise ApiError(429, str(error), {"Retry-After": str(RETRY_SECONDS)}) from error
    return answer(_payload(request, run_of(run.pk), cancel_token=token), 201, Location=f"/api/runs/{run.pk}")


@route(
    "POST",
    "/api/runs/{name}/query",
    "Ask about a run in SQL",
    {
        200: ("The rows; a file of them if the format is csv or parquet", payloads.Rows),
        400: ("Not one SELECT, wrong, or beyond its bounds", Errors),
        **ERRORS,
        **BUSY,
    },
    body=(("application/json", payloads.Query),),
    rate="API_WRITES_PER_MINUTE",
)
def query_run(request: HttpRequest, name: str) -> HttpResponse:
    """Answer one SELECT about a run's tables."""
    asked = body_of(request, payloads.Query)
    try:
        if asked.format != "json":
            return _file(questions.answer_file(run_of(name), asked.sql, asked.format), name, asked.format)
        found = questions.answer(run_of(name), asked.sql)
    except QueryError as error:
        raise RequestFieldError("sql", str(error)) from error
    return answer(converted(found, payloads.Rows), Cache_Control="no-store")


def _file(content: bytes | str, name: str, ending: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}.{ending}"', "Cache-Control": "no-store"}
    return HttpResponse(content, content_type=MEDIA_TYPES[ending], headers=headers)


@route(
    "GET",
    "/api/runs/{name}/tables.zip",
    "The tables of a run as Parquet or CSV",
    {
        200: ("A file for each table", "application/zip"),
        400: ("Another format", Errors),
        **ERRORS,
        **BUSY,
    },
    query=(("format", "string", "parquet, the default, or csv"),),
)
def get_tables(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the files that statements are asked about."""
    kind = request.GET.get("format", "parquet")
    if kind not in ("parquet", "csv"):
        raise ApiError(400, "format must be parquet or csv.")
    made = BytesIO()
    with ZipFile(made, "w", ZIP_STORED if kind == "parquet" else ZIP_DEFLATED) as archive:
        for file in sorted(questions.tables_of(run_of(name)).iterdir()):
            if kind == "csv":
                archive.writestr(f"{file.stem}.csv", in_csv(file))
            else:
                archive.write(file, file.name)
    return _file(made.getvalue(), name, "zip")


@route(
    "GET",
    "/api/runs/{name}/manifests.yaml",
    "The cluster after a run's last cycle, as manifests",
    {
        200: ("YAML documents", "application/yaml"),
        409: ("The run is not finished", Errors),
        **ERRORS,
        **BUSY,
    },
)
def get_manifests(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the final cluster: objects as operations left them, pods with the node that they got."""
    playback = playback_of(sources.Source({"run": name}, run_of(name)))
    if not playback.complete:
        raise ApiError(409, "The run is not finished; its final cluster can be downloaded once it is.")
    with reading(), playback.after(len(playback)) as simulation:
        text = write_yaml(ending_documents(simulation))
    return _file(text, name, "yaml")


def _payload(request: HttpRequest, run: Run, **more: Any) -> payloads.Run:
    url = request.build_absolute_uri(f"/runs/{run.pk}/")
    return payloads.Run(id=run.pk, url=url, **service.run_wire(run), **more)


@route(
    "GET",
    "/api/runs/{name}",
    "Get the state of a run",
    {200: ("The run", payloads.Run), **ERRORS},
)
def get_run(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the state of a run."""
    return answer(_payload(request, run_of(name)), Cache_Control="no-store")


@route(
    "POST",
    "/api/runs/{name}/cancel",
    "Cancel a run",
    {
        200: ("The run; if running, it stops after its current slice", payloads.Run),
        403: ("Not yours", Errors),
        **ERRORS,
    },
    token="The cancel token returned when the run was started",  # noqa: S106 - a description
)
def cancel_run(request: HttpRequest, name: str) -> HttpResponse:
    """Cancel a run that the caller started."""
    run = run_of(name)
    if not service.may_cancel(run, "", token_of(request)):
        raise ApiError(
            403,
            "Send the cancel token returned when the run was started, as `Authorization: Bearer <token>`.",
        )
    return answer(_payload(request, service.cancel(run)))


@route(
    "GET",
    "/api/runs/{name}/cycles/{step}",
    "Get a cycle of a run by its number or its step",
    {200: ("The cycle", "Cycle"), 400: ("Invalid step", Errors), **ERRORS, **BUSY},
)
def get_run_cycle(request: HttpRequest, name: str, step: str) -> HttpResponse:
    """Answer one cycle of a run."""
    return cycle_answer(playback_of(sources.Source({"run": name}, run_of(name))), step)


@route(
    "GET",
    "/api/runs/{name}/trace.jsonl.zst",
    "Download the whole trace of a finished run, one cycle per line",
    {
        200: ("JSON Lines, zstd", "application/zstd"),
        409: ("The run is not finished", Errors),
        413: ("Too many cycles", Errors),
        **ERRORS,
        **BUSY,
    },
)
def get_run_trace(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """Stream a run's trace, one cycle per line, compressed with zstd."""
    playback = playback_of(sources.Source({"run": name}, run_of(name)))
    if not playback.complete:
        raise ApiError(409, "The run is not finished; its trace can be downloaded once it is.")
    cells = len(playback) * max(1, len(playback.tables.nodes))
    if cells > limit("TRACE_CELLS"):
        raise ApiError(
            413,
            f"The trace has {cells:,} cells (nodes × cycles); "
            f"at most {limit('TRACE_CELLS'):,} can be downloaded.",
        )
    response = StreamingHttpResponse(_Download(playback), content_type="application/zstd")
    response.headers["Content-Disposition"] = f'attachment; filename="podstep-run-{name}.trace.jsonl.zst"'
    return response


class _Download:
    """A trace download, counted from the beginning of the response to its end.

    If the client disconnects before the first byte it is neither iterated nor closed, hence weak references.
    """

    _all: ClassVar[WeakSet[_Download]] = WeakSet()
    _counting: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, playback: Playback) -> None:
        with self._counting:
            if len(self._all) >= limit("TRACE_DOWNLOADS"):
                text = "Too many downloads are under way; try again in a minute."
                raise ApiError(429, text, {"Retry-After": "60"})
            self._all.add(self)
        # A separate playback: a download visits every cycle and would evict the cycles that others view.
        self._playback = playback.copy()

    def close(self) -> None:
        """Release the slot; called by the response at its end."""
        self._all.discard(self)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        playback = self._playback
        compressor = zstandard.ZstdCompressor(level=3).compressobj()
        count = max(1, TRACE_SLICE_CELLS // max(1, len(playback.tables.nodes)))
        try:
            for first in range(1, len(playback) + 1, count):
                last = min(first + count - 1, len(playback))
                data = await in_exports(_lines, playback, first, last)
                if packed := compressor.compress(data):
                    yield packed
            yield compressor.flush()
        finally:
            self.close()


def _lines(playback: Playback, first: int, last: int) -> bytes:
    cycles = (playback.cycle(index) for index in range(first, last + 1))
    return b"".join(trace_line(cycle).encode() + b"\n" for cycle in cycles)
