"""Contracts about a scenario, checked over HTTP."""

from __future__ import annotations

import json

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError
from playground.api.bodies import body_of
from playground.api.lookups import scenario_of
from playground.api.payloads.contracts import Contracts
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, route
from playground.calls.faults import RequestFieldError
from playground.comparisons import contracts, questions
from playground.playback import sources
from playground.protocol.contracts import ContractsCheckedWire

FORMS = {
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "junit": "application/xml",
    "sarif": "application/sarif+json",
}
"""The media type of each form in which verdicts are answered."""


@route(
    "POST",
    "/api/scenarios/{name}/check",
    "Check contracts about a scenario by playing what may happen to it",
    {
        200: ("The verdict on each contract, in the form of Accept or `format`", ContractsCheckedWire),
        400: ("The body cannot be read, or the form is unknown", Errors),
        413: ("Too large", Errors),
        422: ("The contracts have errors, all with their line; or too large to compute", Errors),
        **ERRORS,
        **BUSY,
    },
    body=(("application/yaml", "Text"), ("application/json", Contracts)),
    query=(("format", "string", f"One of {', '.join(FORMS)}; by default what Accept names, or json"),),
)
def check_scenario(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the verdict on each contract of the body, once all are known."""
    form = _form(request)
    text = _text(request)
    stored = sources.Source({"scenario": name}, scenario_of(name)).stored()
    body = questions.waited_for(contracts.checked, stored, text, form)
    found = json.loads(body)
    if found["errors"]:
        raise ApiError(422, found["errors"])
    return HttpResponse(body if form == "json" else found["document"], content_type=FORMS[form])


def _form(request: HttpRequest) -> str:
    """Return the form that is asked for. Raises ApiError."""
    named = request.GET.get("format")
    if named is None:
        media = {kind.partition(";")[0]: form for form, kind in FORMS.items()}
        return media.get(request.get_preferred_type(list(media)) or "", "json")
    if named not in FORMS:
        message = f"format is one of {', '.join(FORMS)}, not {named[:40]!r}."
        raise RequestFieldError("format", message)
    return named


def _text(request: HttpRequest) -> str:
    """Return the contracts of the body. Raises ApiError."""
    if request.content_type == "application/json":
        text = body_of(request, Contracts).contracts
    else:
        text = request.body.decode(errors="replace")
    if not text.strip():
        message = 'Send Contract documents as YAML, or as {"contracts": text}.'
        raise RequestFieldError("contracts", message)
    return text
