"""Scenarios over HTTP: store, read and delete them, their cycles, and why a pod is where it is."""

from __future__ import annotations

import json
import time

from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_etags
from msgspec.structs import replace

from playground.api.answers import ApiError, answer
from playground.api.bodies import files_of
from playground.api.lookups import (
    cycle_answer,
    expires_of,
    index_of,
    leaving_out,
    number_of,
    playback_of,
    scenario_of,
    shared_answer,
)
from playground.api.payloads import scenarios as payloads
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, SAME, TEXT, TITLE, UNREAD, WITHOUT, route
from playground.calls.faults import RequestFieldError
from playground.limits import limit
from playground.models import Scenario
from playground.panels.why import WhyQuestion, explaining, why
from playground.playback import sources
from playground.pool import gate
from playground.pool.read_slots import reading
from playground.storage import bundles, draft_names, privacy, store, texts
from playground.visitors import identity
from playground.visitors.throttle import address_of, token_of
from scheduler_core.explain import ExplainError
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.run.trace import trace_cycle
from scheduler_core.scenario import scenario as core

CYCLES_PER_ANSWER = 100


@route(
    "POST",
    "/api/scenarios",
    "Store a bundle as an immutable scenario with a link",
    {
        201: ("Stored; the same content has the same id, each share its own delete token", payloads.Created),
        **UNREAD,
    },
    query=(*TITLE, *WITHOUT),
    body=TEXT,
)
def create_scenario(request: HttpRequest) -> HttpResponse:
    """Store a bundle as an immutable scenario: byte for byte, without what the caller leaves out."""
    try:
        files, title = files_of(request)
        with reading():
            scenario = bundles.parse(files, store.clean_title(title))
            owner = identity.owner_at(address_of(request))
            text = texts.joined(texts.stored(files, scenario), scenario)
            scenario, text = leaving_out(request, scenario, text)
            shared = store.share(scenario, owner, text=text, exact=True)
            answers = _revealing(_answering(shared.scenario, scenario), text)
    except BundleError as error:
        raise ApiError(422, bundles.problems_wire(error.problems)) from error
    except bundles.TooLargeError as error:
        raise ApiError(413, str(error)) from error
    return shared_answer(request, shared, answers)


def _revealing(scenario: core.Scenario, text: str) -> core.Scenario:
    """Return a scenario with a warning where its link shows env values or command lines."""
    found = privacy.contents(text) if privacy.SUSPECT.search(text) else privacy.Contents()
    if not found.env and not found.commands:
        return scenario
    env, commands = (found.env, "env value"), (found.commands, "command line")
    shown = " and ".join(draft_names.counted(*each) for each in (env, commands))
    message = f"The link shows {shown}. Scheduling reads none of them; `?without=env` leaves them out"
    return replace(scenario, warnings=(*scenario.warnings, Problem(message)))


def _answering(row: Scenario, scenario: core.Scenario) -> core.Scenario:
    """Return the scenario that a shared text is; it keeps the release that answered it when it was stored."""
    release = bundles.release_of(bytes(row.content), scenario)
    if release == scenario.release:
        return scenario
    kept = store.load_scenario(row)
    message = (
        f"This text was shared when kube-scheduler {release} answered it, and its link keeps that release. "
        f"For a link that {scenario.release} answers, name it in SimulationSettings as its scheduler"
    )
    return replace(kept, warnings=(*kept.warnings, Problem(message)))


@route(
    "GET",
    "/api/scenarios/{name}",
    "Get a scenario and its documents",
    {200: ("The scenario with its documents", payloads.Scenario), **SAME, **ERRORS},
)
def get_scenario(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the contents of a scenario."""
    row = scenario_of(name)
    headers, known = _revalidated(request, row)
    if known:
        return HttpResponse(status=304, headers=headers)
    body = payloads.Scenario(
        id=row.short,
        digest=row.digest,
        url=request.build_absolute_uri(f"/s/{row.short}/"),
        title=row.title,
        nodes=row.nodes,
        pods=row.pods,
        operations=row.operations,
        bytes=row.size,
        created=row.created.isoformat(),
        expires=expires_of(row),
        documents=json.loads(bundles.unpack(row.content))["documents"],
    )
    response = answer(body)
    for header, value in headers.items():
        response.headers[header] = value
    return response


def _revalidated(request: HttpRequest, row: Scenario) -> tuple[dict[str, str], bool]:
    """Return caching headers, and whether the caller has this scenario already.

    Its content never changes, but it may be deleted, so a cache must revalidate each time.
    """
    headers = {"Cache-Control": "no-cache", "ETag": f'"{row.digest}"'}
    known = parse_etags(request.headers.get("If-None-Match", ""))
    return headers, any(tag.removeprefix("W/") in {headers["ETag"], "*"} for tag in known)


@route(
    "GET",
    "/api/scenarios/{name}/bundle",
    "Get a scenario's documents as YAML",
    {200: ("The bundle", "application/yaml"), **SAME, **ERRORS, **BUSY},
)
def get_bundle(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a scenario's text, byte for byte as it was sent."""
    row = scenario_of(name)
    headers, known = _revalidated(request, row)
    if known:
        return HttpResponse(status=304, headers=headers)
    with reading():
        text = store.stored_text(row)
    headers["Content-Disposition"] = f'inline; filename="podstep-{row.short}.yaml"'
    return HttpResponse(text, content_type="application/yaml; charset=utf-8", headers=headers)


@route(
    "DELETE",
    "/api/scenarios/{name}",
    "Revoke a share; the last one deletes the scenario",
    {
        204: ("Gone", ""),
        401: ("No delete token", Errors),
        403: ("Not a delete token of this scenario", Errors),
        **ERRORS,
    },
    token="The delete token returned when the scenario was shared",  # noqa: S106 - a description
)
def delete_scenario(request: HttpRequest, name: str) -> HttpResponse:
    """Delete the share that the delete token belongs to."""
    row = scenario_of(name)
    token = token_of(request)
    if not token:
        raise ApiError(401, "Send the delete token as `Authorization: Bearer <token>`.")
    if not store.unshare(row, token):
        raise ApiError(403, "That is not a delete token of this scenario.")
    return HttpResponse(status=204)


@route(
    "GET",
    "/api/scenarios/{name}/cycles",
    "List consecutive cycles of the trace",
    {
        200: ("Cycles; fewer at the end", payloads.Cycles),
        400: ("Invalid parameter", Errors),
        422: ("Too large to compute interactively: start a run", Errors),
        **ERRORS,
        **BUSY,
    },
    query=(("from", "integer", "First cycle, from 1"), ("count", "integer", "How many, at most 100")),
)
def list_cycles(request: HttpRequest, name: str) -> HttpResponse:
    """Answer consecutive cycles of the trace."""
    first = number_of(request, "from", 1, 1, 999_999_999)
    count = number_of(request, "count", 50, 1, CYCLES_PER_ANSWER)
    playback = playback_of(sources.Source({"scenario": name}, scenario_of(name)))
    cycles = []
    with reading():
        playback.reach(first + count - 1)
        for index in range(first, min(first + count - 1, len(playback)) + 1):
            cycles.append(trace_cycle(playback.cycle(index)))
            gate.look()
    return answer(
        payloads.Cycles(first=first, cycles=cycles, total=len(playback), complete=playback.complete)
    )


@route(
    "GET",
    "/api/scenarios/{name}/cycles/{step}",
    "Get a cycle by its number or its step major.minor",
    {
        200: ("The cycle", "Cycle"),
        400: ("Invalid step", Errors),
        422: ("Too large to compute interactively: start a run", Errors),
        **ERRORS,
        **BUSY,
    },
)
def get_cycle(request: HttpRequest, name: str, step: str) -> HttpResponse:
    """Answer one cycle of a scenario's trace."""
    return cycle_answer(playback_of(sources.Source({"scenario": name}, scenario_of(name))), step)


@route(
    "GET",
    "/api/scenarios/{name}/cycles/{step}/why",
    "Explain a pod's placement after a step, or why it is pending, and what would make it fit",
    {
        200: ("The reasons, and changes verified by simulation, smallest first", payloads.Why),
        400: ("Invalid parameter", Errors),
        422: ("Too large to compute interactively", Errors),
        **ERRORS,
        **BUSY,
    },
    query=(
        ("pod", "string", "The pod, namespace/name"),
        ("node", "string", "The node; defaults to all nodes"),
    ),
)
def get_why(request: HttpRequest, name: str, step: str) -> HttpResponse:
    """Answer why a pod is on its node or pending after a step, or why it is not on a given node."""
    row = sources.Source({"scenario": name}, scenario_of(name))
    pod, node = request.GET.get("pod", ""), request.GET.get("node") or None
    if not pod:
        message = "Specify the pod, as in ?pod=default/web-1."
        raise RequestFieldError("pod", message)
    playback = playback_of(row)
    until = time.monotonic() + limit("WHY_SECONDS")
    with reading():
        index = index_of(playback, step)
        work = explaining(playback, WhyQuestion(row.key, index, pod, node))
        while time.monotonic() < until:
            try:
                next(work)
            except StopIteration as end:
                return answer(why(end.value))
            except ExplainError as error:
                raise ApiError(404, str(error)) from error
            gate.look()
    raise ApiError(422, "The explanation takes too long; ask about a single node.")
