"""The OpenAPI document describes the calls that there are."""

from __future__ import annotations

import json
import re

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
    check("Created", made)
    check("Scenario", client.get(f"/api/scenarios/{made['id']}").json())
    check("Cycles", client.get(f"/api/scenarios/{made['id']}/cycles").json())
    check("Errors", client.get("/api/scenarios/none").json())


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
