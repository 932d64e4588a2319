"""The OpenAPI document, its page, and the schema of the trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from msgspec import json

from playground.api.payloads.problems import Errors
from playground.api.route import Answers, Body, Route
from playground.api.table import CALLS
from playground.protocol.typescript import SUFFIX, name_of
from scheduler_core.kubernetes.plain import schemas
from scheduler_core.run.trace_schema import schema
from scheduler_core.scenario.dump_kinds import DUMP_COMMAND


def _bodies() -> Iterator[type]:
    """Yield the classes of all bodies that calls name."""
    for call in CALLS:
        for body in (*(kind for _, kind in call.answers.values()), *(kind for _, kind in call.body)):
            if not isinstance(body, str):
                yield body


def _components() -> dict[str, Any]:
    """Return the schemas of all bodies; the protocol's have the names that the browser's modules know."""
    found = schemas(dict.fromkeys(_bodies()), "#/components/schemas/{name}")
    text = re.sub(rf'("#/components/schemas/\w+){SUFFIX}"', r'\1"', json.encode(found).decode())
    return {name.removesuffix(SUFFIX): schema for name, schema in json.decode(text).items()}


SCHEMAS: dict[str, Any] = {
    "Text": {"type": "string", "description": "A bundle in any supported format"},
    "Packed": {
        "type": "string",
        "format": "binary",
        "description": "A gzipped bundle, or an archive of manifests: .zip, .tar or .tar.gz",
    },
    "Cycle": {"type": "object", "description": "A line of the trace; see /api/trace.schema.json"},
    **_components(),
}
for _change in ("DraftChange", "CommentChange"):
    SCHEMAS[_change]["minProperties"] = 1
for _call in CALLS:
    SCHEMAS.update(_call.schemas)


def _content(kind: Body) -> dict[str, Any]:
    if not kind:
        return {}
    if not isinstance(kind, str):
        return _content(name_of(kind))
    if "/" in kind:
        return {"content": {kind: {"schema": {"type": "string"}}}}
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind}"}}}}


#: Responses that every call may return.
_ANYWHERE: Answers = {
    403: ("Refused by the operator, or sent by a page of another site", Errors),
    503: ("The database does not respond; see Retry-After", Errors),
    507: ("The server's disk is full; see Retry-After", Errors),
}


def _operation(call: Route) -> dict[str, Any]:
    names = re.findall(r"{(\w+)}", call.address)
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
    ]
    parameters += [
        {"name": name, "in": "query", "description": meaning, "schema": {"type": kind}}
        for name, kind, meaning in call.parameters
    ]
    if call.matched:
        meaning = "The ETag of the draft that the edit is based on; defaults to the newest revision"
        parameters.append(
            {"name": "If-Match", "in": "header", "description": meaning, "schema": {"type": "string"}}
        )
    operation: dict[str, Any] = {
        "summary": call.summary,
        "operationId": call.operation.__name__,
        "responses": {
            str(status): {"description": meaning, **_content(kind)}
            for status, (meaning, kind) in sorted({**_ANYWHERE, **call.answers}.items())
        },
    }
    if parameters:
        operation["parameters"] = parameters
    if call.body:
        operation["requestBody"] = {
            "required": True,
            "content": {media: _content(kind)["content"]["application/json"] for media, kind in call.body},
        }
    if call.token:
        operation["security"] = [{"token": []}]
        operation["description"] = f"{call.token}, as `Authorization: Bearer …`."
    return operation


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document."""
    paths: dict[str, dict[str, Any]] = {}
    for call in CALLS:
        paths.setdefault(call.address, {})[call.method.lower()] = _operation(call)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "podstep",
            "version": settings.VERSION,
            "description": "Kubernetes scheduling, one visible step at a time. No account, no cookie.",
        },
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """Answer the OpenAPI document."""
    return JsonResponse(document(), headers={"Access-Control-Allow-Origin": "*"})


@require_safe
def trace_schema(request: HttpRequest) -> HttpResponse:
    """Answer the JSON Schema of a trace's line."""
    return JsonResponse(schema(), headers={"Access-Control-Allow-Origin": "*"})


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Render ``api.html``.

    Context: ``section`` "api"; ``calls`` (list of {method, address, summary, token, query, body,
    answers: [(status, meaning)]}); ``base`` (this server's address).
    """
    calls = [
        {
            "method": call.method,
            "address": call.address,
            "summary": call.summary,
            "token": call.token,
            "query": [{"name": name, "meaning": meaning} for name, _, meaning in call.parameters],
            "body": [media for media, _ in call.body],
            "answers": [(status, meaning) for status, (meaning, _) in sorted(call.answers.items())],
        }
        for call in CALLS
    ]
    base = request.build_absolute_uri("/").rstrip("/")
    return render(
        request, "api.html", {"section": "api", "calls": calls, "base": base, "dump_command": DUMP_COMMAND}
    )
