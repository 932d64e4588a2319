"""The audit of a scenario over HTTP."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground.api.lookups import scenario_of
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, route
from playground.calls.requests import read_query
from playground.comparisons import audits
from playground.playback import sources
from playground.protocol.audit import AuditWire


@route(
    "GET",
    "/api/scenarios/{name}/audit",
    "Get what is pending, what a lost node, a drain and a rollout come to, and how many more pods fit",
    {
        200: ("The rows, each a sentence with its evidence", AuditWire),
        400: ("Invalid parameter", Errors),
        413: ("Too large", Errors),
        422: ("Too large to compute interactively", Errors),
        **ERRORS,
        **BUSY,
    },
    query=audits.AuditRequest,
)
def get_audit(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the rows of a scenario's audit, once all are known."""
    source = sources.Source({"scenario": name}, scenario_of(name))
    body = audits.answered(audits.question_of(source, read_query(audits.AuditRequest, request.GET)))
    return HttpResponse(body, content_type="application/json")
