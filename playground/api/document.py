"""The OpenAPI document, its page, and the schema of the trace."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.api.table import CALLS, Route

_PROBLEM = {
    "type": "object",
    "required": ["line", "path", "message"],
    "properties": {
        "line": {"type": ["integer", "null"], "description": "1-based"},
        "path": {"type": "string", "examples": ["spec.containers[0].resources.requests.cpu"]},
        "message": {"type": "string"},
        "document": {"type": ["integer", "null"]},
        "file": {"type": "string"},
        "unhonored": {
            "type": "string",
            "description": "For a warning that the result may differ: the field that other clusters honor",
            "examples": ["spec.overhead"],
        },
    },
}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_MAYBE = {"type": ["string", "null"]}
_OBJECTS = {"type": "array", "items": {"type": "object"}}
_EXPIRES = {
    "type": ["string", "null"],
    "format": "date-time",
    "description": "Kept until then; opening it postpones the date. null: it never expires",
}
_RUN_CACHE = {
    "type": ["object", "null"],
    "description": "Statistics of the equivalence cache for the whole run; null if it is off",
    "required": ["hits", "evaluations", "invalidated", "stale", "hitRate", "causes"],
    "properties": {
        **dict.fromkeys(("hits", "evaluations", "invalidated", "stale"), _COUNT),
        "hitRate": {"type": "number", "minimum": 0, "maximum": 1},
        "causes": {
            "type": "array",
            "description": "Stale hits found by the audit, by cause, most frequent first",
            "items": {"type": "array", "prefixItems": [_TEXT, _COUNT]},
        },
    },
}

_PROBLEMS = {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}}
_DRAFT = _object(
    ["id", "url", "title", "revision", "bytes", "created", "updated"],
    id=_TEXT,
    url=_TEXT,
    title=_TEXT,
    revision=_COUNT,
    bytes=_COUNT,
    based_on={**_MAYBE, "description": "scenario:<id> or run:<id>"},
    parent={**_MAYBE, "description": "The source of the branch: as based_on, or draft:<id>"},
    step={**_MAYBE, "description": "The step of the parent at which it branches off"},
    created={"type": "string", "format": "date-time"},
    updated={"type": "string", "format": "date-time"},
    expires=_EXPIRES,
    bundle={**_TEXT, "description": "The text; present if a single draft is requested"},
    token={**_TEXT, "description": "Present when a draft is created"},
    errors={**_PROBLEMS, "description": "Present when a text was saved"},
    warnings=_PROBLEMS,
    summary={"type": "object", "additionalProperties": _COUNT},
)

_ROOM = _object(
    ["id", "scenario", "step", "tab", "watching", "ended"],
    id=_TEXT,
    scenario=_TEXT,
    title=_TEXT,
    step=_TEXT,
    tab=_MAYBE,
    seq={**_COUNT, "description": "Counts the leader's moves"},
    watching=_COUNT,
    ended={"type": "boolean"},
    expires={"type": "string", "format": "date-time", "description": "When it ends by itself"},
)

_ANCHOR = {"step": _TEXT, "node": _MAYBE, "pod": _MAYBE, "rule": _MAYBE}
_COMMENT: dict[str, Any] = {
    "id": _TEXT,
    "url": _TEXT,
    "parent": _MAYBE,
    "text": {**_TEXT, "description": "Text, never HTML"},
    "name": _TEXT,
    "removed": {"type": "boolean"},
    "created": {"type": "string", "format": "date-time"},
    "edited": _MAYBE,
}
_THREAD: dict[str, Any] = {
    **_COMMENT,
    **_ANCHOR,
    "about": {"type": ["object", "null"], "description": "What the step decided when this was written"},
    "resolved": {"type": "boolean"},
}

SCHEMAS: dict[str, Any] = {
    "Text": {"type": "string", "description": "A bundle in any supported format"},
    "Packed": {
        "type": "string",
        "format": "binary",
        "description": "A gzipped bundle, or an archive of manifests: .zip, .tar or .tar.gz",
    },
    "Form": _object(
        [],
        file={
            "type": "array",
            "items": {"type": "string", "format": "binary"},
            "description": "Files, archives",
        },
        bundle=_TEXT,
        title=_TEXT,
    ),
    "Problem": _PROBLEM,
    "Errors": _object(
        ["errors"],
        errors=_PROBLEMS,
        storage={
            **_object(
                ["used", "allowed", "needed", "largest"],
                used=_COUNT,
                allowed=_COUNT,
                needed=_COUNT,
                largest={
                    "type": "array",
                    "items": _object(
                        ["kind", "id", "title", "bytes"],
                        kind={"enum": ["draft", "link", "run"]},
                        id=_TEXT,
                        title=_TEXT,
                        bytes=_COUNT,
                    ),
                },
            ),
            "description": "If storage is full: compressed bytes, and the owner's largest items to delete",
        },
    ),
    "NewScenario": _object(["bundle"], bundle=_TEXT, title=_TEXT),
    "Created": _object(
        ["id", "url", "delete_token", "warnings"],
        id=_TEXT,
        url=_TEXT,
        delete_token=_TEXT,
        expires=_EXPIRES,
        warnings=_PROBLEMS,
        summary={"type": "object", "additionalProperties": _COUNT},
    ),
    "Draft": _DRAFT,
    "NewDraft": {
        **_DRAFT,
        "required": [*_DRAFT["required"], "token", "warnings", "summary"],
        "description": "The owner's token, valid for all of the owner's drafts",
    },
    "Drafts": _object(["drafts"], drafts={"type": "array", "items": {"$ref": "#/components/schemas/Draft"}}),
    "DraftChange": {**_object([], bundle=_TEXT, title=_TEXT), "minProperties": 1},
    "Scenario": _object(
        ["id", "digest", "url", "title", "nodes", "pods", "documents"],
        id=_TEXT,
        digest=_TEXT,
        url=_TEXT,
        title=_TEXT,
        nodes=_COUNT,
        pods=_COUNT,
        operations=_COUNT,
        bytes=_COUNT,
        created={"type": "string", "format": "date-time"},
        expires=_EXPIRES,
        documents={"type": "array", "items": {"type": "object"}},
    ),
    "Cycle": {"type": "object", "description": "A line of the trace; see /api/trace.schema.json"},
    "Cycles": _object(
        ["from", "cycles", "total", "complete"],
        **{"from": _COUNT},
        cycles={"type": "array", "items": {"$ref": "#/components/schemas/Cycle"}},
        total=_COUNT,
        complete={"type": "boolean"},
    ),
    "Why": {
        **_object(
            ["pod", "state", "node", "asked", "index", "step", "summary", "nodes", "groups", "changes"],
            pod=_TEXT,
            state=_TEXT,
            node=_MAYBE,
            asked=_MAYBE,
            index=_COUNT,
            step=_TEXT,
            summary=_TEXT,
            nodes={"type": "array", "items": {"type": "object"}},
            groups={"type": "array", "items": {"type": "object"}},
            changes={"type": "array", "items": {"type": "object"}},
        ),
        "description": "Field by field in docs/protocol.md, at why.ask",
    },
    "Found": {
        **_object(
            ["index", "why", "seen", "over"],
            index={"type": ["integer", "null"]},
            why={"type": "array", "items": {"type": "array", "prefixItems": [_COUNT, _TEXT]}},
            seen=_COUNT,
            over={"type": "boolean"},
        ),
        "description": "Field by field in docs/protocol.md, at cycle.find",
    },
    "Costs": {
        **_object(["rows"], rows={"type": "array", "items": {"type": "object"}}),
        "description": "Field by field in docs/protocol.md, at worth.cost",
    },
    "Divergence": {
        **_object(
            ["here", "there", "differing", "first"],
            here={"type": "object"},
            there={"type": "object"},
            differing=_COUNT,
            first={"type": ["object", "null"]},
        ),
        "description": "Field by field in docs/protocol.md, at worth.other",
    },
    "Generator": _object(
        ["top", "pools", "workloads", "shapes", "recipes"],
        **dict.fromkeys(("top", "pools", "workloads", "recipes"), _OBJECTS),
        shapes={"type": "object"},
    ),
    "Recipe": {
        **_object([], pools=_OBJECTS, workloads=_OBJECTS),
        "description": "Fields as listed by GET /api/generate; numbers may be JSON numbers or strings",
    },
    "Generated": {
        **_object(
            ["bundle", "documents", "summary"], bundle=_TEXT, documents=_COUNT, summary={"type": "object"}
        ),
        "description": "Field by field in docs/protocol.md, at cluster.generate",
    },
    "NewRun": _object(
        ["scenario"],
        scenario=_TEXT,
        config=_object(
            [],
            policy={"type": "object", "description": "A v1 Policy"},
            settings={"type": "object", "description": "The contents of a SimulationSettings document"},
        ),
    ),
    "Run": _object(
        ["id", "url", "state", "done", "total"],
        id=_TEXT,
        url=_TEXT,
        run=_TEXT,
        scenario=_MAYBE,
        title=_TEXT,
        state={"enum": ["queued", "running", "cancelling", "done", "cancelled", "failed"]},
        position={
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "Position in the queue, from 1; null for a run that is not queued",
        },
        done=_COUNT,
        total={"type": ["integer", "null"]},
        placed=_COUNT,
        pending=_COUNT,
        unschedulable=_COUNT,
        cache=_RUN_CACHE,
        seconds={"type": "number"},
        peakMib={"type": "number"},
        error=_MAYBE,
        mine={"type": "boolean"},
        created=_MAYBE,
        started=_MAYBE,
        finished=_MAYBE,
        expires=_EXPIRES,
        cancel_token=_TEXT,
    ),
    "Link": {
        **_object(
            ["id", "url", "title", "query", "same", "compared", "first", "pinned", "current"],
            id=_TEXT,
            url=_TEXT,
            title=_TEXT,
            query={**_TEXT, "description": "Of the address: what is on screen"},
            created={"type": "string", "format": "date-time"},
            expires={"type": "string", "format": "date-time"},
            same={"type": "boolean"},
            compared=_COUNT,
            differing=_COUNT,
            first={"type": ["object", "null"]},
            changed={"type": "array", "items": _TEXT},
            pinned={"type": "object"},
            current={"type": "object"},
        ),
        "description": "Field by field in docs/protocol.md, at link.check",
    },
    "CommentRequest": {
        **_object(["text"], **_ANCHOR, text=_TEXT, parent=_TEXT, name=_TEXT),
        "description": "step may be left out with parent, which is the comment that is answered",
    },
    "CommentChange": {**_object([], text=_TEXT, resolved={"type": "boolean"}), "minProperties": 1},
    "Comment": _object(["id", "url", "text"], **_THREAD),
    "NewComment": _object(["id", "url", "edit_token"], **_THREAD, edit_token=_TEXT),
    "Threads": _object(
        ["threads"],
        threads={
            "type": "array",
            "items": _object(
                ["id", "url", "text", "replies"],
                **_THREAD,
                replies={"type": "array", "items": {"$ref": "#/components/schemas/Comment"}},
            ),
        },
    ),
    "Comparison": {
        **_object(
            ["left", "right", "same", "first", "differing", "placements", "metrics"],
            left={"type": "object"},
            right={"type": "object"},
            same={"type": "boolean"},
            first={"type": ["object", "null"]},
            difference={"type": ["object", "null"]},
            configuration={"type": "array", "items": _TEXT},
            differing=_COUNT,
            placements={
                "type": "array",
                "items": _object(["pod", "left", "right"], pod=_TEXT, left=_TEXT, right=_TEXT),
            },
            metrics=_object(["left", "right"], left={"type": "object"}, right={"type": "object"}),
            alignment={"type": ["array", "null"], "items": {"type": "array", "items": _COUNT}},
            differences={"type": "array", "items": {"type": "array"}},
            moreDifferences={"type": "boolean"},
            workloads={"type": "array", "items": {"type": "object"}},
            workloadCount=_COUNT,
        ),
        "description": "Field by field in docs/protocol.md, at compare.get",
    },
    "RoomRequest": _object(["scenario"], scenario=_TEXT, step=_TEXT, title=_TEXT),
    "RoomEnd": _object(["lead_token"], lead_token=_TEXT),
    "Room": _ROOM,
    "NewRoom": {
        "type": "object",
        "required": [*_ROOM["required"], "watch_url", "lead_url", "lead_token"],
        "properties": {
            **_ROOM["properties"],
            "watch_url": _TEXT,
            "lead_url": {**_TEXT, "description": "The token is behind the #, which no server is sent"},
            "lead_token": _TEXT,
        },
    },
}

for _call in CALLS:
    SCHEMAS.update(_call.schemas)


def _content(kind: str) -> dict[str, Any]:
    if not kind:
        return {}
    if "/" in kind:
        return {"content": {kind: {"schema": {"type": "string"}}}}
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind}"}}}}


#: Responses that every call may return.
_ANYWHERE = {
    503: ("The database does not respond; see Retry-After", "Errors"),
    507: ("The server's disk is full; see Retry-After", "Errors"),
}


def _operation(call: Route) -> dict[str, Any]:
    names = re.findall(r"{(\w+)}", call.address)
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
    ]
    parameters += [
        {"name": name, "in": "query", "description": meaning, "schema": {"type": kind}}
        for name, kind, meaning in call.query
    ]
    if call.matched:
        meaning = "The ETag of the draft that the edit is based on; defaults to the newest revision"
        parameters.append({"name": "If-Match", "in": "header", "description": meaning, "schema": _TEXT})
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
            "content": {
                media: {"schema": {"$ref": f"#/components/schemas/{kind}"}} for media, kind in call.body
            },
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
    text = (settings.BASE_DIR / "docs" / "trace.schema.json").read_text()
    return JsonResponse(json.loads(text), headers={"Access-Control-Allow-Origin": "*"})


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
            "query": [{"name": name, "meaning": meaning} for name, _, meaning in call.query],
            "body": [media for media, _ in call.body],
            "answers": [(status, meaning) for status, (meaning, _) in sorted(call.answers.items())],
        }
        for call in CALLS
    ]
    base = request.build_absolute_uri("/").rstrip("/")
    return render(request, "api.html", {"section": "api", "calls": calls, "base": base})
