"""The audit of a scenario over HTTP."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground.api.lookups import scenario_of
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, route
from playground.calls.requests import read_query
from playground.comparisons import audits
from playground.playback import sources
from scheduler_core.studies.audit.audit import SUBJECTS

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
OPENING = {
    "type": ["object", "null"],
    "description": "A step of the scenario, or a branch in which a verb acts on targets, at a step",
    "properties": {
        "kind": {**TEXT, "enum": ["step", "verb", "again", "optimum"]},
        **dict.fromkeys(("verb", "value", "step", "pod", "under"), TEXT),
        "targets": TEXTS,
        "second": {"type": "number"},
        "assumed": {"type": "boolean"},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "subject": {**TEXT, "enum": [*SUBJECTS]},
                    "verdict": {**TEXT, "enum": ["ok", "note", "risk", "unknown"]},
                    **dict.fromkeys(("title", "question", "sentence", "under"), TEXT),
                    "evidence": TEXTS,
                    "about": TEXTS,
                    "opens": OPENING,
                },
            },
        }
    },
}


@route(
    "GET",
    "/api/scenarios/{name}/audit",
    "Get what is pending, what a lost node, a drain and a rollout come to, and how many more pods fit",
    {
        200: ("The rows, each a sentence with its evidence", "Audit"),
        400: ("Invalid parameter", Errors),
        413: ("Too large", Errors),
        422: ("Too large to compute interactively", Errors),
        **ERRORS,
        **BUSY,
    },
    query=audits.AuditRequest,
    schemas={"Audit": SCHEMA},
)
def get_audit(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the rows of a scenario's audit, once all are known."""
    source = sources.Source({"scenario": name}, scenario_of(name))
    body = audits.answered(audits.question_of(source, read_query(audits.AuditRequest, request.GET)))
    return HttpResponse(body, content_type="application/json")
