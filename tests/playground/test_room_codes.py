"""A room's code, its second vote, its travels, its comments, and what is left of it."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone

from playground.models import CODE_LETTERS, Room, new_room_code
from playground.rooms import rows
from tests.playground.conftest import OWNER, STRANGER, connected
from tests.playground.rooms import inside, open_room, post, shows

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def opened(web: str) -> dict[str, Any]:
    """A room on the scenario of ``web``, as the API answers."""
    return open_room(web)


def test_a_code_leads_to_its_room(opened: dict[str, Any]) -> None:
    """However it is typed, until the room is over; then another room may have it."""
    code = Room.objects.get().code
    assert len(code) == 6 and set(code) <= set(CODE_LETTERS)
    for typed in (code, code.lower()):
        answer = Client().get(f"/j/{typed}/")
        assert (answer.status_code, answer.headers["Location"]) == (302, f"/r/{opened['id']}/")
    spaced = f" {code[:3].lower()} {code[3:]} "
    assert Client().get("/j/", {"code": spaced}).headers["Location"] == f"/r/{opened['id']}/"
    assert Client().get(f"/j/{code}", follow=True).redirect_chain[-1][0] == f"/r/{opened['id']}/"
    for wrong in ("/j/ZZZZZZZ/", "/j/?code=%00", "/j/?code=<script>"):
        answer = Client().get(wrong)
        assert answer.status_code == 404
        assert 'name="code"' in answer.content.decode() and "<script>" not in answer.content.decode()
    assert "There is no room" not in Client().get("/j/").content.decode()
    post(f"/api/rooms/{opened['id']}/end", {"lead_token": opened["lead_token"]})
    assert Client().get(f"/j/{code}/").status_code == 404
    assert Room.objects.get().code == ""


def test_codes_of_rooms_that_expired_are_free(
    opened: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server does not run out of them."""
    taken = Room.objects.get().code
    monkeypatch.setattr(rows, "new_room_code", lambda: taken)
    room = Room.objects.select_related("scenario").get()
    with pytest.raises(rows.TooManyRoomsError, match="free code"):
        rows.create(room.scenario, OWNER, "", {})
    Room.objects.update(expires=timezone.now())
    assert rows.create(room.scenario, OWNER, "", {}).room.code == taken


def test_guessing_codes_is_bounded(opened: dict[str, Any], limits: Any) -> None:
    """An address that tries one after the other is reported to wait."""
    limits(ROOM_CODES_PER_MINUTE=2)
    answers = [Client().get(f"/j/{new_room_code()}/").status_code for _ in range(3)]
    assert answers == [404, 404, 429]


async def test_a_second_vote_is_reported_beside_the_first(opened: dict[str, Any]) -> None:
    """Nobody sees the first result before the answer; then both, with the reason."""
    async with inside(opened, lead=True) as leader, inside(opened, visitor=STRANGER) as viewer:
        assert (await leader.error("room.again", {}))["code"] == "permission.denied"
        first = await leader.success("room.ask", {"kind": "node"})
        await shows(viewer, 1)
        await viewer.success("room.vote", {"answer": "n9"})
        again = await leader.success("room.again", {})
        assert (again["number"], again["round"], again["votes"]) == (2, 2, 0)
        assert {**again, "number": 1, "round": 1} == first
        assert "second" in (await leader.error("room.again", {}))["message"]
        pushed = await shows(viewer, 2)
        assert "before" not in pushed and "why" not in pushed
        assert (await viewer.error("room.again", {}))["code"] == "permission.denied"
        await viewer.success("room.vote", {"answer": "n2"})
        reported = await leader.success("room.reveal", {})
        assert (reported["tally"], reported["before"]["tally"]) == ([["n2", 1]], [["n9", 1]])
        assert any("n2" in sentence for sentence in reported["why"])
        assert (await leader.error("room.again", {}))["code"] == "permission.denied"


async def test_the_page_of_a_room_stays(opened: dict[str, Any]) -> None:
    """With each question, its results and its cycle, and the way on from where the room was."""
    async with inside(opened, lead=True) as leader, inside(opened, visitor=STRANGER) as viewer:
        await leader.success("room.move", {"step": "1", "tab": "predicates"})
        await leader.success("room.ask", {"kind": "fits", "text": "<b>Fits it?</b>"})
        await viewer.success("room.vote", {"answer": False})
        await leader.success("room.reveal", {})
        await leader.success("room.ask", {"kind": "choice", "choices": ["a", "b"]})  # never revealed
        await viewer.success("room.vote", {"answer": 1})
    room = await Room.objects.select_related("scenario").aget()
    assert [entry["kind"] for entry in room.history] == ["fits"]
    await sync_to_async(rows.end)(room)
    answer = await sync_to_async(Client().get)(f"/r/{opened['id']}/")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert f"/s/{opened['scenario']}/?step=1&amp;tab=predicates" in page
    assert "&lt;b&gt;Fits it?&lt;/b&gt;" in page and f"/s/{opened['scenario']}/?step=2" in page
    assert "the answer" in page and "A question" not in page


def test_results_are_bounded(opened: dict[str, Any]) -> None:
    """A room that asks again and again keeps the newest, and of long answers those with most votes."""
    room = Room.objects.get()
    question = {"kind": "victims", "text": "", "choices": None, "truth": "[]", "revealed": False}
    for _ in range(3):
        rows.ask(room.pk, question)
        number = Room.objects.get().asked
        for voter in range(60):
            rows.vote(room.pk, number, str(voter), f'["{voter}{"x" * 590}"]')
        rows.reveal(room.pk, number)
    history = Room.objects.get().history
    assert len(history) == 3
    assert all(entry["others"] + len(entry["tally"]) == 60 and entry["others"] for entry in history)


def test_stored_rooms_can_be_deleted(web: str) -> None:
    """They are listed with what else a visitor has stored."""
    client = Client()
    client.get("/")  # which gives the cookie
    scenario = client.post("/api/scenarios", {"bundle": web}, content_type="application/json").json()["id"]
    room = client.post("/api/rooms", {"scenario": scenario}, content_type="application/json").json()["id"]
    assert f"/r/{room}/" in client.get("/stored/").content.decode()
    assert Client().post(f"/stored/room/{room}/delete").status_code == 404
    assert client.post(f"/stored/room/{room}/delete").status_code == 302
    assert not Room.objects.exists()


def test_rooms_of_the_version_before_get_a_code(opened: dict[str, Any]) -> None:
    """One each while they run, and they open as before."""
    executor = MigrationExecutor(connection)
    executor.migrate([("playground", "0021_drafts_of_gangs")])
    try:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE playground_room SET title = 'kept'")
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    room = Room.objects.get()
    assert room.title == "kept" and len(room.code) == 6 and room.history == []
    assert Client().get(f"/j/{room.code}/").headers["Location"] == f"/r/{room.pk}/"
    assert Client().get(f"/r/{room.pk}/").status_code == 200


async def test_a_room_travels(web: str, opened: dict[str, Any]) -> None:
    """Everybody is reported, what was asked is kept, and who joins later is at the new place."""
    other = (await sync_to_async(post)("/api/scenarios", {"bundle": "# another\n" + web})).json()["id"]
    assert other != opened["scenario"]
    async with inside(opened, lead=True) as leader, inside(opened) as viewer:
        code = (await Room.objects.aget()).code
        await leader.success("room.move", {"step": "1"})
        await leader.success("room.ask", {"kind": "node"})
        await leader.success("room.reveal", {})
        await leader.success("room.move", {"step": "3"})
        assert (await viewer.error("room.travel", {"scenario": other}))["code"] == "permission.denied"
        assert (await leader.error("room.travel", {"scenario": "A" * 11}))["code"] == "source.not-found"
        assert (await leader.error("room.travel", {"scenario": other, "step": "x"}))[
            "code"
        ] == "payload.invalid"
        assert await leader.success("room.travel", {"scenario": other, "step": "2"}) == {"scenario": other}
        for socket in (leader, viewer):
            state = await socket.push("room.state")
            while state["scenario"] != other:
                state = await socket.push("room.state")
            assert state["position"] | {"seq": 0} == {"scene": 1, "seq": 0, "step": "2"}
            assert state["question"] is None
        async with inside(opened) as late:
            joined = await late.success("room.join", {"room": opened["id"]})
            assert (joined["scenario"], joined["position"]["step"], joined["question"]) == (other, "2", None)
            await leader.success("room.ask", {"kind": "node"})
            await shows(late, 2)
            found = await late.success("scenario.open", {"source": {"scenario": other}})
            assert found["cycles"] == 2
            denied = await late.error("scenario.open", {"source": {"scenario": opened["scenario"]}})
            assert denied["code"] == "room.question-open"
    row = await Room.objects.aget()
    assert row.code == code
    assert [entry["scenario"] for entry in row.history] == [opened["scenario"]]


async def test_comments_in_a_room_are_the_rooms(opened: dict[str, Any]) -> None:
    """Who is elsewhere on the scenario neither reads nor is mentioned them, and the other way round."""
    source = {"source": {"scenario": opened["scenario"]}}
    async with (
        inside(opened, visitor=OWNER) as one,
        inside(opened, visitor=STRANGER) as other,
        connected(STRANGER) as outside,
    ):
        for socket in (one, other, outside):
            assert (await socket.success("comment.watch", source))["threads"] == []
        within = await one.success("comment.write", {**source, "step": "1", "text": "In here"})
        assert (await other.push("comment.changed"))["comment"]["text"] == "In here"
        beside = await outside.success("comment.write", {**source, "step": "1", "text": "Out there"})
        assert (await outside.push("comment.changed"))["comment"]["text"] == "Out there"
        assert [(await one.push("comment.changed"))["comment"]["text"]] == ["In here"]
        await one.success("session.hello", {})
        assert not [frame for frame in one.pushed if frame[0] == "comment.changed"]
        wrong = await outside.error("comment.write", {**source, "parent": within["id"], "text": "x"})
        assert wrong["code"] == "payload.invalid"
        gone = await one.error("comment.remove", {**source, "comment": beside["id"]})
        assert gone["code"] == "source.not-found"
        again = await other.success("comment.watch", source)
        assert [thread["text"] for thread in again["threads"]] == ["In here"]
    room = await Room.objects.select_related("scenario").aget()
    review = (await sync_to_async(Client().get)(f"/s/{opened['scenario']}/review/")).content.decode()
    assert "Out there" in review and "In here" not in review
    await sync_to_async(rows.end)(room)
    page = (await sync_to_async(Client().get)(f"/r/{opened['id']}/")).content.decode()
    assert "In here" in page and "Out there" not in page


async def test_who_opened_the_room_moderates_it(opened: dict[str, Any]) -> None:
    """Another viewer does not."""
    await Room.objects.aupdate(owner=OWNER)
    source = {"source": {"scenario": opened["scenario"]}}
    async with inside(opened, visitor=STRANGER) as viewer, inside(opened, visitor=OWNER) as owner:
        said = await viewer.success("comment.write", {**source, "step": "1", "text": "x"})
        own = await owner.success("comment.write", {**source, "step": "1", "text": "y"})
        denied = await viewer.error("comment.remove", {**source, "comment": own["id"]})
        assert denied["code"] == "permission.denied"
        await owner.success("comment.remove", {**source, "comment": said["id"]})
