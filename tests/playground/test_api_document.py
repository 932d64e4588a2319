"""The OpenAPI document describes the calls that there are."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
from django.test import Client
from django.urls import Resolver404, resolve

from playground.api.document import SCHEMAS, document
from playground.api.table import CALLS

pytestmark = pytest.mark.django_db


def test_every_call_is_described_and_can_be_reached() -> None:
    """Addresses, methods and documents come from one table."""
    described = {
        (method.upper(), address) for address, methods in document()["paths"].items() for method in methods
    }
    assert described == {(call.method, call.address) for call in CALLS}
    for _, address in described:
        try:
            resolve(re.sub(r"{\w+}", "AAAAAAAAAAA", address))
        except Resolver404 as error:
            raise AssertionError(address) from error


def test_every_reference_leads_somewhere() -> None:
    """Schemas that are referred to exist, and those that exist are schemas."""
    names = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document())))
    assert names <= set(SCHEMAS)
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_answers_are_as_described(web: str) -> None:
    """What the server answers fits the schema that the document gives it."""
    client = Client()
    resolver = {"components": {"schemas": SCHEMAS}}

    def check(name: str, body: object) -> None:
        jsonschema.validate(body, {**resolver, **SCHEMAS[name]})

    made = client.post("/api/scenarios", {"bundle": web}, content_type="application/json").json()

    def post(name: str, address: str, body: object, **headers: str) -> dict[str, Any]:
        answer = client.post(address, body, content_type="application/json", headers=headers)
        assert answer.status_code in (200, 201), answer.content
        check(name, answer.json())
        return dict(answer.json())

    shared = f"/api/scenarios/{made['id']}"
    check("Created", made)
    check("Scenario", client.get(shared).json())
    check("Cycles", client.get(f"{shared}/cycles").json())
    pod = client.get(f"{shared}/cycles/1").json()["pod"]
    check("Why", client.get(f"{shared}/cycles/1/why?pod={pod}").json())
    check("Found", client.get(f"{shared}/find?condition=unschedulable").json())
    check("Errors", client.get("/api/scenarios/none").json())
    room = post("NewRoom", "/api/rooms", {"scenario": made["id"]})
    check("Room", client.get(f"/api/rooms/{room['id']}").json())
    first = post("NewComment", f"{shared}/comments", {"step": "1.1", "text": "Why?"})
    post("NewComment", f"{shared}/comments", {"parent": first["id"], "text": "Because."})
    check("Threads", client.get(f"{shared}/comments").json())
    run = post("Run", "/api/runs", {"scenario": made["id"]})
    check("Run", client.get(f"/api/runs/{run['id']}").json())
    draft = post("NewDraft", "/api/drafts", {"bundle": web})
    token = {"Authorization": f"Bearer {draft['token']}"}
    check("Drafts", client.get("/api/drafts", headers=token).json())
    check("Draft", client.get(f"/api/drafts/{draft['id']}", headers=token).json())
    changed = client.patch(
        f"/api/drafts/{draft['id']}",
        {"bundle": "kind: Pot"},
        content_type="application/json",
        headers=token,
    )
    check("Draft", changed.json())
    assert changed.json()["errors"]


def test_a_refusal_is_described_for_every_call(owner: Client) -> None:
    """A banned address, and a page of another site, get 403 from any of them."""
    refused = owner.post("/api/scenarios", headers={"Origin": "https://other.example"})
    assert refused.status_code == 403
    jsonschema.validate(refused.json(), {"components": {"schemas": SCHEMAS}, **SCHEMAS["Errors"]})
    described = [call for methods in document()["paths"].values() for call in methods.values()]
    assert all("403" in call["responses"] for call in described)


def test_the_document_and_the_page(owner: Client) -> None:
    """Both are served; the page lists every call."""
    answer = owner.get("/api/openapi.json")
    assert answer.json()["openapi"].startswith("3.1")
    page = owner.get("/api/")
    assert page.status_code == 200
    assert [call["address"] for call in page.context["calls"]] == [call.address for call in CALLS]


def test_a_cycle_fits_the_published_schema(web: str) -> None:
    """The schema at /api/trace.schema.json is the one that cycles keep."""
    client = Client()
    made = client.post("/api/scenarios", {"bundle": web}, content_type="application/json").json()
    schema = client.get("/api/trace.schema.json").json()
    for step in range(1, 6):
        jsonschema.validate(client.get(f"/api/scenarios/{made['id']}/cycles/{step}").json(), schema)
