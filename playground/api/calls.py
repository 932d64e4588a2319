"""The view functions of the API's calls."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, ClassVar, TypeVar
from weakref import WeakSet

import zstandard
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.http import parse_etags

from playground.api.answers import ApiError, answer
from playground.limits import limit
from playground.models import Run, Scenario
from playground.panels.why import WhyQuestion, explaining, why
from playground.playback import sources
from playground.playback.executor import in_exports
from playground.playback.playback import OutOfRangeError, Playback
from playground.playback.stopping import TooMuchWorkError
from playground.pool import offload
from playground.pool.reading import reading
from playground.runs import service
from playground.storage import bundles, store, texts
from playground.visitors import identity
from playground.visitors.throttle import RETRY_SECONDS, address_of, token_of
from scheduler_core.explain import ExplainError
from scheduler_core.formats.bundle import File
from scheduler_core.formats.folder import Folder
from scheduler_core.objects.problems import BundleError
from scheduler_core.scenario import scenario as core
from scheduler_core.simulation.trace import trace_cycle, trace_line

T = TypeVar("T")

OBJECT_BYTES = 1024 * 1024  # of a JSON object, not counting its top-level texts
LARGE_BODY_BYTES = 256 * 1024  # which take a few milliseconds to parse
CYCLES_PER_ANSWER = 100
STEP = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
FORM = "multipart/form-data"
_JOINED = re.compile(r"(?:---)?(?:apiVersion|kind): ?[^\n]*\Z")  # YAML whose line breaks were removed
TRACE_SLICE_CELLS = 10_000  # nodes × cycles between two writes of a trace download


def json_of(request: HttpRequest) -> dict[str, Any]:
    """Return the body as an object. Raises ApiError."""
    if request.content_type == FORM:
        told = (
            "This call takes a JSON object. Files are sent as a form to POST /api/scenarios and /api/drafts."
        )
        raise ApiError(400, told)
    return _beside(object_of, request.body)


def object_of(data: bytes) -> dict[str, Any]:
    """Return a body as an object, of which only the texts may be long. Raises ApiError."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, f"The body is no JSON: {error}"[:300]) from error
    if not isinstance(body, dict):
        raise ApiError(400, "The body must be a JSON object.")
    if len(data) > OBJECT_BYTES:
        rest = {name: value for name, value in body.items() if not isinstance(value, str)}
        if len(json.dumps(rest)) > OBJECT_BYTES:
            raise ApiError(413, f"The body, texts aside, may have {OBJECT_BYTES:,} bytes.")
    return body


def _beside(read: Callable[..., T], data: bytes, *args: Any) -> T:
    """Parse a body; a large one in the pool, because parsing JSON holds the GIL."""
    if len(data) > LARGE_BODY_BYTES and offload.enabled():
        return offload.compute(identity.asker(), read, data, *args)
    return read(data, *args)


def files_of(request: HttpRequest) -> tuple[list[File], str]:
    """Return files and title: the body is a bundle, an archive, ``{"bundle": text, "title": …}``, or a form.

    Raises ApiError, BundleError and TooLargeError.
    """
    if request.content_type == FORM:
        with reading():
            return _files_of_form(request)
    return _beside(files_of_body, request.body, str(request.content_type), request.GET.get("title", ""))


def files_of_body(data: bytes, content_type: str, title: str) -> tuple[list[File], str]:
    """Return files and title of a body that is not a form. Raises the errors of :func:`files_of`."""
    file = bundles.opened("", data)
    if isinstance(file, Folder):
        return [file], title
    text = str(file[1])
    if content_type == "application/x-www-form-urlencoded" and _JOINED.match(text):
        raise ApiError(
            400, "The body has lost its line ends, as `curl -d @FILE` sends it: use --data-binary @FILE."
        )
    plain = text.removeprefix("\ufeff")
    if content_type == "application/json" or plain.lstrip()[:1] == "{":
        try:
            body = json.loads(plain)
        except (ValueError, RecursionError):
            return [
                ("", text)
            ], title  # a bundle may be JSON Lines, or invalid JSON whose errors the reader reports
        if isinstance(body, dict) and isinstance(body.get("bundle"), str):
            title = body.get("title", "")
            if not isinstance(title, str):
                raise ApiError(400, [{"line": None, "path": "title", "message": "title must be a text."}])
            return [("", body["bundle"])], title
    return [("", text)], title


def _files_of_form(request: HttpRequest) -> tuple[list[File], str]:
    """Return the files of a form, regardless of its field names, and its texts ``bundle`` and ``title``."""
    if unknown := sorted(set(request.POST) - {"bundle", "title"}):
        raise ApiError(400, f"Unknown fields: {', '.join(unknown)[:200]}. Send files, bundle and title.")
    files: list[File] = [("", text) for text in request.POST.getlist("bundle")]
    left = limit("BUNDLE_BYTES") - sum(map(bundles.file_bytes, files))
    for _, uploads in request.FILES.lists():
        for upload in uploads:
            file = bundles.opened(str(upload.name or ""), upload.read(), max(0, left))
            left -= bundles.file_bytes(file)
            files.append(file)
    if not files:
        raise ApiError(400, "The form has no file in it; send one as in `curl -F file=@cluster.yaml`.")
    return files, request.POST.get("title", request.GET.get("title", ""))


def create_scenario(request: HttpRequest) -> HttpResponse:
    """Store a bundle as an immutable scenario."""
    try:
        files, title = files_of(request)
        with reading():
            scenario = bundles.parse(files, store.clean_title(title))
            owner = identity.owner_at(address_of(request))
            shared = store.share(scenario, owner, text=texts.joined(bundles.stored(files), scenario))
    except BundleError as error:
        raise ApiError(422, bundles.problems_wire(error.problems)) from error
    except bundles.TooLargeError as error:
        raise ApiError(413, str(error)) from error
    return shared_answer(request, shared, scenario)


def shared_answer(request: HttpRequest, shared: store.Shared, scenario: core.Scenario) -> HttpResponse:
    """Return the response to sharing a scenario, including the only copy of its delete token."""
    body = {
        "id": shared.scenario.short,
        "url": request.build_absolute_uri(f"/s/{shared.scenario.short}/"),
        "delete_token": shared.delete_token,
        "expires": expires_of(shared.scenario),
        "warnings": bundles.problems_wire(scenario.warnings),
        "summary": dict(scenario.summary or {}),
    }
    return answer(body, 201, Location=f"/api/scenarios/{shared.scenario.short}")


def expires_of(row: Scenario) -> str | None:
    """Return the date until which an unopened link is kept; None if it never expires."""
    return None if row.expires is None else row.expires.isoformat()


def scenario_of(short: str) -> Scenario:
    """Return a scenario that is shared. Raises ApiError."""
    row = store.find_scenario(short)
    if row is None:
        raise ApiError(404, "There is no such scenario; it may have been deleted.")
    return row


def _revalidated(request: HttpRequest, row: Scenario) -> tuple[dict[str, str], bool]:
    """Return caching headers, and whether the caller has this scenario already.

    Its content never changes, but it may be deleted, so a cache must revalidate each time.
    """
    headers = {"Cache-Control": "no-cache", "ETag": f'"{row.digest}"'}
    known = parse_etags(request.headers.get("If-None-Match", ""))
    return headers, any(tag.removeprefix("W/") in {headers["ETag"], "*"} for tag in known)


def get_scenario(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the contents of a scenario."""
    row = scenario_of(name)
    headers, known = _revalidated(request, row)
    if known:
        return HttpResponse(status=304, headers=headers)
    body = {
        "id": row.short,
        "digest": row.digest,
        "url": request.build_absolute_uri(f"/s/{row.short}/"),
        "title": row.title,
        "nodes": row.nodes,
        "pods": row.pods,
        "operations": row.operations,
        "bytes": row.size,
        "created": row.created.isoformat(),
        "expires": expires_of(row),
        "documents": json.loads(bundles.unpack(row.content))["documents"],
    }
    response = answer(body)
    for header, value in headers.items():
        response.headers[header] = value
    return response


def get_bundle(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a scenario's text, byte for byte as it was sent."""
    row = scenario_of(name)
    headers, known = _revalidated(request, row)
    if known:
        return HttpResponse(status=304, headers=headers)
    with reading():
        text = store.scenario_text(row)
    headers["Content-Disposition"] = f'inline; filename="podstep-{row.short}.yaml"'
    return HttpResponse(text, content_type="application/yaml; charset=utf-8", headers=headers)


def delete_scenario(request: HttpRequest, name: str) -> HttpResponse:
    """Delete the share that the delete token belongs to."""
    row = scenario_of(name)
    token = token_of(request)
    if not token:
        raise ApiError(401, "Send the delete token as `Authorization: Bearer <token>`.")
    if not store.unshare(row, token):
        raise ApiError(403, "That is not a delete token of this scenario.")
    return HttpResponse(status=204)


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
        raise ApiError(400, [{"line": None, "path": name, "message": f"{name} must be {least} to {most:,}."}])
    return int(text)


def list_cycles(request: HttpRequest, name: str) -> HttpResponse:
    """Answer consecutive cycles of the trace."""
    first = number_of(request, "from", 1, 1, 999_999_999)
    count = number_of(request, "count", 50, 1, CYCLES_PER_ANSWER)
    playback = playback_of(sources.Source({"scenario": name}, scenario_of(name)))
    cycles = []
    with reading() as give_way:
        playback.reach(first + count - 1, give_way)
        for index in range(first, min(first + count - 1, len(playback)) + 1):
            cycles.append(trace_cycle(playback.cycle(index)))
            give_way()
    body = {
        "from": first,
        "cycles": cycles,
        "total": len(playback),
        "complete": playback.complete,
    }
    return answer(body)


def get_cycle(request: HttpRequest, name: str, step: str) -> HttpResponse:
    """Answer one cycle of a scenario's trace."""
    return _cycle(playback_of(sources.Source({"scenario": name}, scenario_of(name))), step)


def get_run_cycle(request: HttpRequest, name: str, step: str) -> HttpResponse:
    """Answer one cycle of a run."""
    return _cycle(playback_of(sources.Source({"run": name}, run_of(name))), step)


def _cycle(playback: Playback, step: str) -> HttpResponse:
    try:
        if not STEP.fullmatch(step):
            raise ValueError("A step is a cycle's number or major.minor, as in 17 or 2.3.")
        with reading() as give_way:
            index = playback.seek(step, give_way)
            if not index:
                raise OutOfRangeError(f"There is no cycle {step}; there are {len(playback):,}.")
            return answer(trace_cycle(playback.cycle(index)))
    except ValueError as error:
        raise ApiError(400, [{"line": None, "path": "step", "message": str(error)}]) from error
    except OutOfRangeError as error:
        raise ApiError(404, str(error)) from error


def get_why(request: HttpRequest, name: str, step: str) -> HttpResponse:
    """Answer why a pod is on its node or pending after a step, or why it is not on a given node."""
    row = sources.Source({"scenario": name}, scenario_of(name))
    pod, node = request.GET.get("pod", ""), request.GET.get("node") or None
    if not pod:
        message = "Say which pod, as in ?pod=default/web-1."
        raise ApiError(400, [{"line": None, "path": "pod", "message": message}])
    playback = playback_of(row)
    until = time.monotonic() + limit("WHY_SECONDS")
    with reading() as give_way:
        index = _index(playback, step, give_way)
        work = explaining(playback, WhyQuestion(row.key, index, pod, node))
        while time.monotonic() < until:
            try:
                next(work)
            except StopIteration as end:
                return answer(why(end.value))
            except ExplainError as error:
                raise ApiError(404, str(error)) from error
            give_way()
    raise ApiError(422, "Explaining this takes too long; ask about one node.")


def _index(playback: Playback, step: str, give_way: Callable[[], None]) -> int:
    """Return the index of a step, 0 before the first cycle."""
    if not STEP.fullmatch(step):
        message = "A step is a cycle's number or major.minor, as in 17 or 2.3."
        raise ApiError(400, [{"line": None, "path": "step", "message": message}])
    index = playback.seek(step, give_way)
    if index is None:
        raise ApiError(404, f"There is no cycle {step}; there are {len(playback):,}.")
    return index


# --- runs --------------------------------------------------------------------------------------


def create_run(request: HttpRequest) -> HttpResponse:
    """Start a run of a shared scenario in a worker."""
    body = json_of(request)
    name = body.get("scenario")
    if not isinstance(name, str):
        raise ApiError(
            400, [{"line": None, "path": "scenario", "message": "scenario must be a scenario's id."}]
        )
    if unknown := sorted(set(body) - {"scenario", "config"}):
        raise ApiError(400, f"Unknown fields: {', '.join(unknown)[:200]}")
    try:
        with reading():
            row = scenario_of(name)
            shared = store.load_scenario(row)
            scenario = service.configured(shared, body.get("config"))
            text = texts.spliced(store.scenario_text(row), shared.documents, scenario.documents)
        address = address_of(request)
        run, token = service.start(scenario, identity.owner_at(address), address, text=text)
    except service.ConfigError as error:
        raise ApiError(400, [{"line": None, "path": "config", "message": str(error)}]) from error
    except BundleError as error:
        raise ApiError(422, bundles.problems_wire(error.problems)) from error
    except service.TooManyRunsError as error:
        raise ApiError(429, str(error), {"Retry-After": str(RETRY_SECONDS)}) from error
    wire = _run_wire(request, run_of(run.pk))
    return answer({**wire, "cancel_token": token}, 201, Location=f"/api/runs/{run.pk}")


def run_of(name: str) -> Run:
    """Return a run. Raises ApiError."""
    run = store.find_run(name)
    if run is None:
        raise ApiError(404, "There is no such run.")
    return run


def _run_wire(request: HttpRequest, run: Run) -> dict[str, Any]:
    wire = service.run_wire(run)
    return {"id": run.pk, "url": request.build_absolute_uri(f"/runs/{run.pk}/"), **wire}


def get_run(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the state of a run."""
    return answer(_run_wire(request, run_of(name)), Cache_Control="no-store")


def cancel_run(request: HttpRequest, name: str) -> HttpResponse:
    """Cancel a run that the caller started."""
    run = run_of(name)
    if not service.may_cancel(run, "", token_of(request)):
        raise ApiError(
            403, "Send the cancel token that starting the run gave, as `Authorization: Bearer <token>`."
        )
    return answer(_run_wire(request, service.cancel(run)))


def get_run_trace(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """Stream a run's trace, one cycle per line, compressed with zstd."""
    playback = playback_of(sources.Source({"run": name}, run_of(name)))
    if not playback.complete:
        raise ApiError(409, "The run is not finished; its trace can be downloaded when it is.")
    cells = len(playback) * max(1, len(playback.tables.nodes))
    if cells > limit("TRACE_CELLS"):
        raise ApiError(
            413, f"The trace has {cells:,} cells (nodes × cycles); {limit('TRACE_CELLS'):,} can be had."
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
