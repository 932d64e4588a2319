"""docs/adding-a-call.md: one function with its schema is all that a route or a command needs."""

from __future__ import annotations

from pathlib import Path

from tests.guides.guide import blocks, follow

GUIDE = "adding-a-call.md"
ROUTE, COMMAND = "playground/api/counts.py", "playground/live/modules/counts.py"
TESTS = '''
import json

import jsonschema
import pytest
from django.test import Client

from tests.playground.conftest import connected

BUNDLE = """
{kind: Node, apiVersion: v1, metadata: {name: n1}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {nodeName: n1, containers: [{name: c}]}}
---
{kind: Pod, apiVersion: v1, metadata: {name: b}, spec: {containers: [{name: c}]}}
"""

@pytest.mark.django_db(transaction=True)
async def test_both_answer() -> None:
    """The route answers with its schema, and the command over the socket."""
    from asgiref.sync import sync_to_async

    client = Client()
    post, get = sync_to_async(client.post), sync_to_async(client.get)
    made = (await post("/api/scenarios", BUNDLE, content_type="text/plain")).json()
    counts = (await get(f"/api/scenarios/{made['id']}/counts")).json()
    assert counts == {"n1": 1}
    assert (await get("/api/scenarios/none/counts")).status_code == 404

    document = (await get("/api/openapi.json")).json()
    answers = document["paths"]["/api/scenarios/{name}/counts"]["get"]["responses"]
    schema = answers["200"]["content"]["application/json"]["schema"]["$ref"]
    assert schema == "#/components/schemas/Counts"
    jsonschema.validate(counts, document["components"]["schemas"]["Counts"])
    assert "/api/scenarios/{name}/counts" in (await get("/api/")).content.decode()

    source = {"scenario": made["id"]}
    async with connected() as socket:
        assert await socket.success("counts.get", {"source": source}) == {"n1": 1}
        assert await socket.success("counts.get", {"source": source, "least": 2}) == {}
        error = await socket.error("counts.get", {"source": source, "least": -1})
    assert error["code"] == "payload.invalid"
'''


def test_a_route_and_a_command_are_one_function_each(tmp_path: Path) -> None:
    """Both answer, the OpenAPI document has the schema, and the documents' own tests hold."""
    copied = ("scheduler_core", "playground", "templates", "static", "docs", "tests")
    followed = follow(GUIDE, tmp_path, *copied)
    assert followed.new == [ROUTE, COMMAND]
    assert followed.changed == ["docs/protocol.md"]
    assert [path for path, _, _ in blocks(GUIDE)] == [ROUTE, COMMAND, "docs/protocol.md"]
    (tmp_path / "tests" / "playground" / "test_guide.py").write_text(TESTS)
    followed.test(
        "test_guide.py", "test_protocol_document.py", "test_api_document.py", "test_page_context.py"
    )
