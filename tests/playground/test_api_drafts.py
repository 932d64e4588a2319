"""Drafts over HTTP: made, read, changed, shared and deleted by their owner alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client

from playground.api.document import SCHEMAS
from playground.models import Draft
from playground.visitors import identity
from tests.playground.conftest import OWNER

pytestmark = pytest.mark.django_db(transaction=True)
BROKEN = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: four}}\n"


class Caller:
    """Somebody who calls the API without cookies, with a token or without one."""

    def __init__(self, token: str = "") -> None:
        self._client = Client(enforce_csrf_checks=True)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def ask(self, method: str, address: str, body: Any = None) -> HttpResponse:
        """Send a request; a body goes as JSON."""
        data = "" if body is None else json.dumps(body)
        kind = "application/json"
        return self._client.generic(method, address, data, content_type=kind, headers=self._headers)  # type: ignore[return-value]

    def body(self, method: str, address: str, body: Any = None, *, status: int = 200, fits: str = "") -> Any:
        """Send a request, and return what it answers with that status; it is as the document says."""
        answer = self.ask(method, address, body)
        assert answer.status_code == status, answer.content
        found = json.loads(answer.content) if answer.content else None
        if fits:
            jsonschema.validate(found, {"components": {"schemas": SCHEMAS}, **SCHEMAS[fits]})
        return found


def made(web: str, title: str = "Mine") -> tuple[dict[str, Any], Caller]:
    """Make a draft; return what was answered, and its owner."""
    answer = Caller().body(
        "POST", "/api/drafts", {"bundle": web, "title": title}, status=201, fits="NewDraft"
    )
    return answer, Caller(answer["token"])


def test_a_draft_is_made_read_changed_and_deleted(web: str) -> None:
    """The whole life of a draft by its token; what is saved may be wrong, and is reported so."""
    draft, owner = made(web)
    address = f"/api/drafts/{draft['id']}"
    assert draft["url"] == f"http://testserver/p/{draft['id']}/"
    assert draft["summary"]["Node"] == 3
    read = owner.body("GET", address, fits="Draft")
    assert (read["bundle"], read["title"], read["revision"]) == (web, "Mine", 1)
    assert "token" not in read
    changed = owner.body("PATCH", address, {"bundle": BROKEN}, fits="Draft")
    assert [error["line"] for error in changed["errors"]] == [4]
    assert changed["revision"] == 2
    assert owner.body("PATCH", address, {"title": "Yours"})["title"] == "Yours"
    read = owner.body("GET", address)
    assert (read["bundle"], read["title"]) == (BROKEN, "Yours")
    owner.body("DELETE", address, status=204)
    owner.body("GET", address, status=404, fits="Errors")
    assert not Draft.objects.exists()


def test_a_token_has_all_drafts_of_its_owner(web: str) -> None:
    """A second draft made with it is the same owner's; one without is somebody else's."""
    first, owner = made(web, "first")
    second = owner.body("POST", "/api/drafts", {"bundle": web, "title": "second"}, status=201)
    assert second["token"] == first["token"]
    made(web, "of another")
    listed = owner.body("GET", "/api/drafts", fits="Drafts")["drafts"]
    assert [draft["title"] for draft in listed] == ["second", "first"]
    assert "bundle" not in listed[0]


@pytest.mark.parametrize(
    ("method", "rest", "body"),
    [("GET", "", None), ("PATCH", "", {"title": "x"}), ("POST", "/share", None), ("DELETE", "", None)],
)
def test_nobody_else_has_a_draft(web: str, method: str, rest: str, body: Any) -> None:
    """Without a token it is asked for; to another's, and to one that we did not sign, there is no draft."""
    draft, owner = made(web)
    address = f"/api/drafts/{draft['id']}{rest}"
    _, stranger = made(web)
    assert stranger.body(method, address, body, status=404)["errors"][0]["message"].startswith(
        "You have no such draft"
    )
    answer = Caller().ask(method, address, body)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    Caller(f"{OWNER}:forged").body(method, address, body, status=401)
    cookies = Client(enforce_csrf_checks=True)
    cookies.cookies[settings.VISITOR_COOKIE] = draft["token"]
    assert cookies.generic(method, address, json.dumps(body or {})).status_code == 401, (
        "no cookie counts here"
    )
    assert owner.body("GET", f"/api/drafts/{draft['id']}")["title"] == "Mine"


def test_pages_and_calls_have_the_same_drafts(owner: Client, web: str) -> None:
    """A browser's draft is read by the value of its cookie, and a draft of the API is on its start page."""
    opened = owner.post("/import/", {"text": web, "title": "By hand"})
    name = opened.headers["Location"].strip("/").split("/")[-1]
    caller = Caller(identity.sign(OWNER))
    assert caller.body("GET", f"/api/drafts/{name}")["title"] == "By hand"
    caller.body("POST", "/api/drafts", {"bundle": web, "title": "By a script"}, status=201)
    assert "By a script" in owner.get("/").content.decode()
    assert owner.get(f"/p/{name}/").status_code == 200


def test_a_draft_is_shared(web: str) -> None:
    """As a scenario that anybody can read; the delete token takes it back, the draft stays."""
    draft, owner = made(web)
    shared = owner.body("POST", f"/api/drafts/{draft['id']}/share", status=201, fits="Created")
    anybody = Caller()
    assert anybody.body("GET", f"/api/scenarios/{shared['id']}")["title"] == "Mine"
    Caller(shared["delete_token"]).body("DELETE", f"/api/scenarios/{shared['id']}", status=204)
    owner.body("GET", f"/api/drafts/{draft['id']}")
    owner.body("PATCH", f"/api/drafts/{draft['id']}", {"bundle": BROKEN})
    owner.body("POST", f"/api/drafts/{draft['id']}/share", status=422, fits="Errors")


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({}, 400, "bundle or title"),
        ({"bundle": 3}, 400, "bundle must be a text"),
        ({"owner": "me"}, 400, "Unknown fields: owner"),
        (["x"], 400, "must be a JSON object"),
        ({"bundle": "x" * 5_000_000}, 413, "a draft may have"),
    ],
)
def test_a_change_that_cannot_be_taken(web: str, body: Any, status: int, said: str) -> None:
    """Nothing is saved of it, and what would be right is said."""
    draft, owner = made(web)
    address = f"/api/drafts/{draft['id']}"
    assert said in owner.body("PATCH", address, body, status=status, fits="Errors")["errors"][0]["message"]
    assert owner.body("GET", address)["revision"] == 1


def test_a_text_with_too_many_objects_is_saved_and_reported(web: str, limits: Callable[..., None]) -> None:
    """Like any other text that cannot be simulated; it is no failure of the server."""
    draft, owner = made(web)
    limits(NODES=2)
    address = f"/api/drafts/{draft['id']}"
    changed = owner.body("PATCH", address, {"bundle": f"# mine\n{web}"}, fits="Draft")
    assert "at most 2 are simulated" in changed["errors"][0]["message"]
    assert owner.body("GET", address)["bundle"].startswith("# mine")


def test_a_bundle_with_errors_makes_no_draft() -> None:
    """As where it is shared: all errors, with their lines."""
    reported = Caller().body("POST", "/api/drafts", {"bundle": BROKEN}, status=422, fits="Errors")
    assert [error["line"] for error in reported["errors"]] == [4]
    assert not Draft.objects.exists()
