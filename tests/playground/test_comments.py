"""Comments: threads on a step, who may change them, and what of them others see."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.utils.html import escape

from playground.live import notifications
from playground.models import Comment, Scenario
from playground.storage import bundles, store
from tests.playground.conftest import OWNER, STRANGER, connected

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "<script>alert(1)</script> [x](javascript:alert(1)) \u202egnp.exe\u202c \x07\x1b[31m"


@pytest.fixture
def shared(web: str) -> dict[str, Any]:
    """The scenario of ``web``, as sharing it over the API answers."""
    return dict(call("POST", "/api/scenarios", {"bundle": web}).json())


def call(method: str, address: str, body: Any = None, token: str = "") -> Any:
    client = Client(enforce_csrf_checks=True)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return client.generic(method, address, json.dumps(body), "application/json", headers=headers)


def comments_of(shared: dict[str, Any]) -> str:
    return f"/api/scenarios/{shared['id']}/comments"


def write(shared: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = call("POST", comments_of(shared), {"step": "2", "text": "Why n2?", **more})
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def threads(shared: dict[str, Any]) -> list[dict[str, Any]]:
    return list(call("GET", comments_of(shared)).json()["threads"])


def test_a_thread(shared: dict[str, Any]) -> None:
    """As the contract has it; a comment says where it is, and what was decided there."""
    anchor = {"step": "2", "node": "n2", "pod": "default/web-1", "rule": "LeastRequestedPriority"}
    first = write(shared, **anchor, name=" Ann ")
    assert first["url"].startswith(f"http://testserver/s/{shared['id']}/?step=2&node=n2&pod=default%2Fweb-1#")
    reply = write(shared, text="It is empty.", parent=first["id"])
    again = write(shared, text="Right.", parent=reply["id"])
    [thread] = threads(shared)
    assert {name: thread[name] for name in (*anchor, "name", "text", "resolved", "removed")} == {
        **anchor,
        "name": "Ann",
        "text": "Why n2?",
        "resolved": False,
        "removed": False,
    }
    assert thread["about"]["index"] == 2 and thread["about"]["result"] == "scheduled"
    assert [one["id"] for one in thread["replies"]] == [reply["id"], again["id"]]
    assert {one["parent"] for one in thread["replies"]} == {first["id"]}
    assert "edit_token" in first and "edit_token" not in json.dumps(thread)


def test_comments_are_text(shared: dict[str, Any]) -> None:
    """Markup stays what was typed, as JSON; characters that turn the writing round do not."""
    write(shared, text=f"  {HOSTILE}\r\nsecond line ", name=HOSTILE)
    [thread] = threads(shared)
    assert thread["text"] == ("<script>alert(1)</script> [x](javascript:alert(1)) gnp.exe [31m\nsecond line")
    assert "\u202e" not in thread["name"] and len(thread["name"]) <= 40
    answer = call("GET", comments_of(shared))
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": " \n "}, "text"),
        ({"text": "x" * 4_001}, "text"),
        ({"text": 7}, "text"),
        ({"step": "first"}, "step"),
        ({"step": "99"}, "step"),
        ({"step": None}, "step"),
        ({"node": "x" * 254}, "node"),
        ({"rule": ["x"]}, "rule"),
        ({"parent": "nothing"}, "parent"),
        ({"html": "x"}, "html"),
    ],
)
def test_what_is_no_comment(shared: dict[str, Any], body: dict[str, Any], field: str) -> None:
    """The answer names the field."""
    answer = call("POST", comments_of(shared), {"step": "2", "text": "x", **body})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["path"] == field
    assert not Comment.objects.exists()


def test_where_there_is_nothing_to_comment(shared: dict[str, Any], web: str) -> None:
    """On a scenario that is not shared, or another one's comment."""
    assert call("POST", "/api/scenarios/AAAAAAAAAAA/comments", {}).status_code == 404
    assert call("GET", "/api/scenarios/AAAAAAAAAAA/comments").status_code == 404
    first = write(shared)
    other = call("POST", "/api/scenarios", {"bundle": web, "title": "other"}).json()
    address = f"{comments_of(other)}/{first['id']}"
    assert call("DELETE", address, token=first["edit_token"]).status_code == 404
    answer = call("POST", comments_of(other), {"text": "x", "parent": first["id"]})
    assert answer.status_code == 400


def test_only_who_wrote_it_changes_it(shared: dict[str, Any]) -> None:
    """Who shared the scenario removes and resolves, and puts no words in anybody's mouth."""
    first, other = write(shared), write(shared)
    address = f"{comments_of(shared)}/{first['id']}"
    owner, mine, others = shared["delete_token"], first["edit_token"], other["edit_token"]
    table = [
        ("PATCH", {"text": "Other"}, {"": 401, "x": 403, others: 403, owner: 403, mine: 200}),
        ("PATCH", {"resolved": True}, {"": 401, "x": 403, others: 403, owner: 200, mine: 200}),
        ("DELETE", None, {"": 401, "x": 403, others: 403, owner: 204, mine: 403}),
    ]
    for method, body, statuses in table:
        for token, status in statuses.items():
            assert call(method, address, body, token).status_code == status, (method, body, token)
    assert call("PATCH", address, {"name": "x"}, mine).status_code == 400
    assert [thread["id"] for thread in threads(shared)] == [other["id"]]
    row = Comment.objects.get(pk=first["id"])
    assert (row.text, row.name, row.owner, row.token, row.removed) == ("", "", "", "", True)


def test_a_removed_comment_leaves_its_answers(shared: dict[str, Any]) -> None:
    """The thread stays while somebody else's words are in it."""
    first = write(shared)
    reply = write(shared, parent=first["id"], text="Because.")
    call("DELETE", f"{comments_of(shared)}/{first['id']}", token=first["edit_token"])
    [thread] = threads(shared)
    assert (thread["removed"], thread["text"], thread["step"]) == (True, "", "2")
    assert [one["text"] for one in thread["replies"]] == ["Because."]
    call("DELETE", f"{comments_of(shared)}/{reply['id']}", token=reply["edit_token"])
    assert threads(shared) == []


def test_comments_are_bounded(shared: dict[str, Any], limits: Callable[..., None]) -> None:
    """On one scenario, and of one address a minute."""
    limits(COMMENTS_PER_SCENARIO=1)
    write(shared)
    assert call("POST", comments_of(shared), {"step": "1", "text": "x"}).status_code == 409
    limits(COMMENTS_PER_SCENARIO=9, COMMENTS_PER_MINUTE=3)
    write(shared)
    answer = call("POST", comments_of(shared), {"step": "1", "text": "x"})
    assert answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0


def test_a_scenario_too_large_to_compute_is_commented(
    shared: dict[str, Any], limits: Callable[..., None]
) -> None:
    """Its comment says nothing of the decision, rather than making its author wait."""
    limits(INTERACTIVE_WORK=1)
    assert write(shared, step="99")["about"] is None


def test_they_go_with_the_scenario(shared: dict[str, Any]) -> None:
    """What is taken back takes what was said of it along."""
    write(shared)
    call("DELETE", f"/api/scenarios/{shared['id']}", token=shared["delete_token"])
    assert not Comment.objects.exists()


# --- over the WebSocket --------------------------------------------------------------------------


async def test_two_people_review(web: str) -> None:
    """What one writes the other sees; both change only their own, and the owner moderates."""
    scenario = await sync_to_async(lambda: store.share(bundles.parse([("", web)]), OWNER, text=web))()
    source = {"source": {"scenario": scenario.scenario.short}}
    async with connected(OWNER) as owner, connected(STRANGER) as guest, connected("") as reader:
        for socket in (owner, guest, reader):
            assert await socket.success("comment.watch", source) == {
                "scenario": scenario.scenario.short,
                "threads": [],
            }
        asked = await guest.success("comment.write", {**source, "step": "3", "text": "Why?", "name": "Bo"})
        assert asked["mine"] is True and asked["about"]["index"] == 3
        for socket in (owner, reader):
            pushed = await socket.push("comment.changed")
            assert pushed["scenario"] == scenario.scenario.short
            assert pushed["comment"] == {**asked, "mine": False}
        error = await reader.error("comment.write", {**source, "step": "3", "text": "x"})
        assert error["code"] == "permission.denied"
        reported = await owner.success("comment.write", {**source, "text": "Memory.", "parent": asked["id"]})
        assert (await guest.push("comment.changed"))["comment"]["id"] in {asked["id"], reported["id"]}
        one = {**source, "comment": asked["id"]}
        assert (await owner.error("comment.edit", {**one, "text": "x"}))["code"] == "permission.denied"
        edited = await guest.success("comment.edit", {**one, "text": "Why n1?"})
        assert edited["text"] == "Why n1?" and edited["edited"]
        answered = {**source, "comment": reported["id"]}
        for name in ("comment.edit", "comment.remove"):
            error = await guest.error(name, {**answered, "text": "x"})
            assert error["code"] == "permission.denied"
        assert await owner.success("comment.resolve", one) == {"resolved": True}
        assert await guest.success("comment.resolve", {**one, "open": True}) == {"resolved": False}
        assert await owner.success("comment.remove", one) == {}
        while not (await reader.push("comment.changed"))["comment"]["removed"]:
            pass
    assert (await Comment.objects.aget(pk=asked["id"])).text == ""


async def test_a_stranger_resolves_nothing(shared: dict[str, Any]) -> None:
    """Nor does who only answered."""
    first = await sync_to_async(write)(shared)
    source = {"source": {"scenario": shared["id"]}, "comment": first["id"]}
    async with connected(STRANGER) as socket:
        answer = {"source": source["source"], "text": "x", "parent": first["id"]}
        await socket.success("comment.write", answer)
        for name in ("comment.resolve", "comment.remove"):
            assert (await socket.error(name, source))["code"] == "permission.denied"
        missing = {**source, "comment": "nothing"}
        assert (await socket.error("comment.resolve", missing))["code"] == "source.not-found"


async def test_what_is_not_shared_has_no_comments(web: str) -> None:
    """A private link's comments would be seen by whoever shares the same text."""
    draft = await sync_to_async(lambda: store.create_draft(OWNER, [("", web)]))()
    async with connected(OWNER) as socket:
        link = (await socket.success("link.create", {"source": {"draft": draft.pk}}))["link"]
        for source in ({"draft": draft.pk}, {"link": link}):
            payload = {"source": source, "step": "1", "text": "x"}
            assert (await socket.error("comment.write", payload))["code"] == "permission.denied"
            assert (await socket.error("comment.watch", {"source": source}))["code"] == "permission.denied"


async def test_a_branch_tells_what_was_said_of_its_origin(shared: dict[str, Any]) -> None:
    """Its owner reads and follows the threads of the shared scenario there, and writes nothing."""
    first = await sync_to_async(write)(shared)
    async with connected(OWNER) as owner, connected(STRANGER) as stranger:
        made = await owner.success("branch.create", {"source": {"scenario": shared["id"]}, "step": "1"})
        again = await owner.success("branch.create", {"source": {"draft": made["draft"]}})
        for draft in (made["draft"], again["draft"]):
            found = await owner.success("comment.watch", {"source": {"draft": draft}})
            assert found["scenario"] == shared["id"]
            assert [thread["id"] for thread in found["threads"]] == [first["id"]]
            source = {"source": {"draft": draft}}
            assert (await stranger.error("comment.watch", source))["code"] == "source.not-found"
            for name, more in (
                ("comment.write", {"step": "1", "text": "x"}),
                ("comment.resolve", {"comment": first["id"]}),
            ):
                assert (await owner.error(name, {**source, **more}))["code"] == "permission.denied"
        await sync_to_async(write)(shared, parent=first["id"], text="Because.")
        assert (await owner.push("comment.changed"))["scenario"] == shared["id"]
        await sync_to_async(call)("DELETE", f"/api/scenarios/{shared['id']}", token=shared["delete_token"])
        source = {"source": {"draft": made["draft"]}}
        assert (await owner.error("comment.watch", source))["code"] == "permission.denied"


def test_the_review_page(shared: dict[str, Any]) -> None:
    """It lists threads by their state, with links to their places; what people wrote is text."""
    first = write(shared, text="<script>alert(1)</script> **why**?", name="<b>Ada</b>")
    other = write(shared, text="Done.")
    change = {"resolved": True}
    answer = call("PATCH", f"{comments_of(shared)}/{other['id']}", change, other["edit_token"])
    assert answer.status_code == 200
    pages = {
        state: Client().get(f"/s/{shared['id']}/review/", {"state": state}).content.decode()
        for state in ("open", "resolved", "all", "nonsense")
    }
    assert "<b>why</b>" in pages["open"] and "Done." not in pages["open"]
    assert "<script>alert" not in pages["open"] and "<b>Ada</b>" not in pages["open"]
    assert escape(first["url"].removeprefix("http://testserver")) in pages["open"]
    assert "Done." in pages["resolved"] and "why" not in pages["resolved"]
    assert "Done." in pages["all"] and "<b>why</b>" in pages["all"]
    assert "Done." not in pages["nonsense"]
    assert Client().get("/s/AAAAAAAAAAA/review/").status_code == 404


async def test_a_visitor_is_bounded_before_the_address(
    shared: dict[str, Any], limits: Callable[..., None]
) -> None:
    """Who comments too fast has to wait; somebody else at the same address has not."""
    limits(COMMENTS_PER_VISITOR=2)
    payload = {"source": {"scenario": shared["id"]}, "step": "1", "text": "x"}
    async with connected(STRANGER) as fast, connected(OWNER) as other:
        for _ in range(2):
            await fast.success("comment.write", payload)
        assert (await fast.error("comment.write", payload))["code"] == "rate.limited"
        await other.success("comment.write", payload)


async def test_a_step_that_is_not_there(shared: dict[str, Any]) -> None:
    """A comment is about something."""
    payload = {"source": {"scenario": shared["id"]}, "text": "x"}
    async with connected(STRANGER) as socket:
        assert (await socket.error("comment.write", {**payload, "step": "99"}))["code"] == "step.out-of-range"
        assert (await socket.error("comment.write", payload))["field"] == "step"
        start = await socket.success("comment.write", {**payload, "step": "0"})
    assert start["about"] == {"index": 0, "step": "0", "pod": None, "result": None, "node": None}


async def test_nobody_is_reported_who_left(shared: dict[str, Any]) -> None:
    """The poller sleeps once nobody watches."""
    async with connected(STRANGER) as socket:
        await socket.success("comment.watch", {"source": {"scenario": shared["id"]}})
        assert notifications.comment_poller.wanted()
    assert not notifications.comment_poller.wanted()
    assert (await Scenario.objects.aget()).short == shared["id"]
