"""JSON from clients: nested too deeply it is refused in words, and whoever reads JSON is answered in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

from playground.api import bodies
from playground.api.answers import ApiError
from playground.api.table import CALLS
from playground.courseware.archives import packed
from playground.live import frames
from playground.models import AuthoredLesson
from playground.serving.json_bodies import DEEPEST, parsed
from tests.playground.outages import LOCKED, failing
from tests.playground.test_visitor_lessons import FIRST, upload

pytestmark = pytest.mark.django_db(transaction=True)

DEPTHS = (DEEPEST + 1, 900, 5_000, 100_000)
TAKING_JSON = [call for call in CALLS if any(kind == "application/json" for kind, _ in call.body)]


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def answering_json() -> Iterator[str]:
    """The addresses of views outside the API whose clients read JSON."""
    for one in get_resolver().url_patterns:
        if isinstance(one, URLPattern) and hasattr(one.callback, "answers_json"):
            yield str(one.pattern)


def test_json_is_as_deep_as_a_bundle() -> None:
    """At the bound it is read, above it refused, however deep."""
    assert parsed(nested(DEEPEST)) == json.loads(nested(DEEPEST))
    for depth in DEPTHS:
        with pytest.raises(ValueError, match=f"may be nested {DEEPEST} deep"):
            parsed(nested(depth))
        with pytest.raises(ApiError, match="nested 60 deep"):
            bodies.object_of(f'{{"a": {nested(depth)}}}'.encode())


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_deep_frame_is_malformed(depth: int) -> None:
    """It is no command, whichever it names."""
    text = f'["room.join", 1, {{"room": {nested(depth)}}}]'
    if len(text) < 60_000:
        with pytest.raises(ValueError, match="not valid JSON"):
            frames.parse(text, len(text))


@pytest.mark.parametrize("call", TAKING_JSON, ids=lambda call: f"{call.method} {call.address}")
def test_every_call_refuses_hostile_bodies_in_json(client: Client, call: Any) -> None:
    """Deep, broken, of another type, not text: a status below 500, and errors that say why."""
    address = re.sub(r"\{\w+\}", "first-cycle" if "lessons" in call.address else "a" * 11, call.address)
    address = address.replace("/first-cycle/first-cycle/", "/first-cycle/node/")
    for body in (f'{{"a": {nested(5_000)}}}', nested(900), "{", "[]", "null", b"\xff\xfe", '{"a": 1e999}'):
        answer = client.generic(call.method, address, body, content_type="application/json")
        assert 400 <= answer.status_code < 500, (body[:20], answer.content)
        assert answer.json()["errors"][0]["message"]


def test_a_change_of_a_lesson_is_answered_in_json(owner: Client) -> None:
    """Deeply nested, and of a lesson that is not there."""
    name = upload(owner, packed("01-a", FIRST))
    for depth in DEPTHS:
        body = f'{{"kind": "value", "path": ["title"], "was": "x", "now": {nested(depth)}}}'
        answer = owner.post(f"/learn/author/{name}/change", body, content_type="application/json")
        assert answer.status_code == 400, answer.content
        assert "nested" in answer.json()["message"]
    answer = owner.post("/learn/author/nobody/change", "{}", content_type="application/json")
    assert answer.status_code == 404 and answer.json()["message"]
    with failing(LOCKED, lambda sql: "authored" in sql):
        answer = owner.post(f"/learn/author/{name}/change", "{}", content_type="application/json")
    assert answer.status_code == 503 and answer.json()["message"]
    assert AuthoredLesson.objects.get().revision == 1


def test_who_reads_json_is_reported_of_an_outage_in_json(client: Client) -> None:
    """By every view that is marked, and on any page by who accepts nothing else."""
    marked = [*answering_json()]
    assert len(marked) >= 10
    with failing(LOCKED):
        for pattern in marked:
            address = "/" + re.sub(r"<\w+:\w+>", "a" * 11, pattern)
            for method in ("GET", "POST"):
                answer = client.generic(method, address, "{}", content_type="application/json")
                if answer.status_code >= 400 and answer.content:
                    assert answer.headers["Content-Type"].startswith("application/json"), (method, address)
        answer = client.get("/stored/", headers={"Accept": "application/json"})
        assert answer.status_code == 503 and "database" in answer.json()["message"]
        assert b"<html" in client.get("/stored/", headers={"Accept": "text/html,*/*;q=0.8"}).content
