"""Rooms: who leads, who follows, what is predicted, and what nobody but the leader may do."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.utils import timezone

from playground.live import hub as hubs
from playground.live import moves, notifications
from playground.models import Room, RoomVote
from playground.rooms import people
from playground.storage import retention
from playground.visitors import names
from tests.playground.conftest import OWNER, STRANGER, connected
from tests.playground.rooms import inside, open_room, post, shows

pytestmark = pytest.mark.django_db(transaction=True)

LEADER_ONLY: list[tuple[str, dict[str, Any]]] = [
    ("room.move", {"step": "2"}),
    ("room.ask", {"kind": "node"}),
    ("room.reveal", {}),
    ("room.close", {}),
    ("room.people", {}),
    ("room.hand", {"to": "anybody"}),
    ("room.take", {}),
]


@pytest.fixture
def opened(web: str) -> dict[str, Any]:
    """A room on the scenario of ``web``, as the API answers."""
    return open_room(web)


# --- over HTTP -----------------------------------------------------------------------------------


def test_a_room_as_the_contract_has_it(web: str) -> None:
    """Opening gives both links and the token; the state tells where it is; the token ends it."""
    room = open_room(web, step="2", title=" A  lesson ")
    assert room["watch_url"] == f"http://testserver/r/{room['id']}/"
    assert room["lead_url"] == f"{room['watch_url']}#lead={room['lead_token']}"
    state = Client().get(f"/api/rooms/{room['id']}").json()
    assert state == {
        **{name: room[name] for name in ("id", "scenario", "expires")},
        "title": "A lesson",
        "step": "2",
        "tab": None,
        "seq": 0,
        "watching": 0,
        "ended": False,
    }
    ended = post(f"/api/rooms/{room['id']}/end", {"lead_token": room["lead_token"]})
    assert ended.status_code == 200 and ended.json()["ended"] is True
    assert Client().get(f"/api/rooms/{room['id']}").json()["ended"] is True


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"scenario": 7}, 400),
        ({"scenario": "AAAAAAAAAAA"}, 404),
        ({"step": "x"}, 400),
        ({"step": 3}, 400),
        ({"leader": "me"}, 400),
        ({"title": None}, 400),
    ],
)
def test_what_opens_no_room(web: str, body: dict[str, Any], status: int) -> None:
    """A body that makes no sense is answered with the field."""
    scenario = post("/api/scenarios", {"bundle": web}).json()["id"]
    answer = post("/api/rooms", {"scenario": scenario, **body} if len(body) == 1 else body)
    assert answer.status_code == status
    assert answer.json()["errors"][0]["message"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 403),
        ({"lead_token": "guess"}, 403),
        ({"lead_token": None}, 400),
        ({"lead_token": ["x"]}, 400),
        ({"lead_token": "\ud800"}, 403),
    ],
)
def test_only_the_token_ends_a_room(opened: dict[str, Any], body: dict[str, Any], status: int) -> None:
    """Its id, which every viewer has, does not."""
    assert post(f"/api/rooms/{opened['id']}/end", body).status_code == status
    assert not Room.objects.get().ended


def test_the_token_is_not_stored(opened: dict[str, Any]) -> None:
    """Who reads the database cannot lead."""
    row = Room.objects.values().get()
    assert opened["lead_token"] not in json.dumps(row, default=str)
    assert len(opened["lead_token"]) >= 32 and len(opened["id"]) >= 16


@pytest.mark.parametrize(("name", "value"), [("ROOMS_PER_OWNER", 1), ("ROOMS_PER_ADDRESS", 1), ("ROOMS", 1)])
def test_rooms_are_bounded(web: str, limits: Callable[..., None], name: str, value: int) -> None:
    """One that is over counts no longer."""
    limits(**{name: value})
    room = open_room(web)
    assert post("/api/rooms", {"scenario": room["scenario"]}).status_code == 429
    post(f"/api/rooms/{room['id']}/end", {"lead_token": room["lead_token"]})
    assert post("/api/rooms", {"scenario": room["scenario"]}).status_code == 201


def test_a_room_ends_after_a_day_and_goes_after_a_month(opened: dict[str, Any]) -> None:
    """It is over when its time is; its page stays until it is removed with its votes."""
    RoomVote.objects.create(room_id=opened["id"], question=1, voter="x", answer="1")
    Room.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert Client().get(f"/api/rooms/{opened['id']}").json()["ended"] is True
    assert "The room has ended." in Client().get(f"/r/{opened['id']}/").content.decode()
    assert not retention.remove_expired().get("rooms")
    Room.objects.update(expires=timezone.now() - timedelta(days=30, seconds=1))
    assert retention.remove_expired()["rooms"] == 1
    assert Client().get(f"/api/rooms/{opened['id']}").status_code == 404
    assert not RoomVote.objects.exists()


def test_the_page_of_a_room(opened: dict[str, Any]) -> None:
    """It is the workbench of the scenario, which no search engine lists and nobody frames."""
    Room.objects.update(title="<script>alert(1)</script>")
    answer = Client().get(f"/r/{opened['id']}/")
    text = answer.content.decode()
    assert f'data-room="{opened["id"]}"' in text and opened["scenario"] in text
    assert "<script>alert" not in text
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert Client().get("/r/AAAAAAAAAAAAAAAA/").status_code == 404


# --- leading and following -----------------------------------------------------------------------


async def test_everybody_follows(opened: dict[str, Any]) -> None:
    """A move is pushed to all who are in the room, with a number that grows by one."""
    view = {"step": "2", "tab": "priorities", "node": "n2", "pod": "default/web-1", "cell": ["n2", "X"]}
    async with inside(opened, lead=True) as leader, inside(opened) as one, inside(opened) as two:
        assert await leader.success("room.move", view) == {"seq": 1}
        for socket in (leader, one, two):
            assert await socket.push("room.position") == {"scene": 0, "seq": 1, **view}
        assert await leader.success("room.move", {"step": "3", "spot": "n1"}) == {"seq": 2}
        assert await one.push("room.position") == {"scene": 0, "seq": 2, "step": "3", "spot": "n1"}
    row = await Room.objects.aget()
    assert (row.seq, row.position) == (2, {"step": "3", "spot": "n1"})


async def test_who_joins_late_gets_the_newest(opened: dict[str, Any]) -> None:
    """Also where nobody is left in the room, as after a restart of the web process."""
    async with inside(opened, lead=True) as leader:
        await leader.success("room.move", {"step": "3", "tab": "story"})
    async with connected("") as late:
        joined = await late.success("room.join", {"room": opened["id"], "name": "Ann"})
    assert joined["role"] == "watch" and joined["owner"] is False
    assert joined["position"] == {"scene": 0, "seq": 1, "step": "3", "tab": "story"}
    assert (joined["name"], joined["scenario"], joined["question"]) == ("Ann", opened["scenario"], None)


async def test_moves_are_coalesced(opened: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a drag over the timeline the newest counts; the numbers tell that there were more."""
    monkeypatch.setattr(moves, "MOVE_SECONDS", 0.3)
    async with inside(opened, lead=True) as leader, inside(opened) as viewer:
        await leader.success("room.move", {"step": "1"})
        asked = [await leader.send("room.move", {"step": str(step)}) for step in range(2, 12)]
        answers = [await leader.answer(request) for request in asked]
        assert [answer[2]["seq"] for answer in answers] == list(range(2, 12))
        seen: list[dict[str, Any]] = []
        while not seen or seen[-1]["seq"] < 11:
            seen.append(await viewer.push("room.position"))
    assert len(seen) <= 4
    assert seen[-1] == {"scene": 0, "seq": 11, "step": "11"}
    assert [one["seq"] for one in seen] == sorted({one["seq"] for one in seen})


@pytest.mark.parametrize(("name", "payload"), LEADER_ONLY)
async def test_a_viewer_cannot_lead(opened: dict[str, Any], name: str, payload: dict[str, Any]) -> None:
    """Nor can who is in no room, who guesses a token, or who was in the room as its leader before."""
    async with inside(opened, lead=True), inside(opened, visitor=STRANGER) as viewer:
        assert (await viewer.error(name, payload))["code"] == "permission.denied"
        guess = {"room": opened["id"], "lead_token": "guess"}
        assert (await viewer.error("room.join", guess))["code"] == "permission.denied"
        assert (await viewer.error(name, payload))["code"] == "permission.denied"
    async with connected(STRANGER) as nowhere:
        assert (await nowhere.error(name, payload))["code"] == "permission.denied"
    async with inside(opened, lead=True) as left:
        await left.success("room.leave", {})
        assert (await left.error(name, payload))["code"] == "permission.denied"
    row = await Room.objects.aget()
    assert (row.seq, row.changed, row.leader, row.question) == (0, 0, "", None)


@pytest.mark.parametrize(
    "payload",
    [
        {"step": "x"},
        {"step": 3},
        {"step": "1", "tab": "x" * 41},
        {"step": "1", "tab": "secrets"},
        {"step": "1", "tab": "constructor"},
        {"step": "1", "pod": "x" * 601},
        {"step": "1", "cell": {"a": {"b": "c"}}},
        {"step": "1", "cell": ["x" * 300, "y" * 300]},
        {"step": "1", "spot": "\0"},
        {"tab": "story"},
    ],
)
async def test_positions_are_checked(opened: dict[str, Any], payload: dict[str, Any]) -> None:
    """Five hundred pages get what the leader's sends: nothing is passed on that is not one."""
    async with inside(opened, lead=True) as leader:
        assert (await leader.error("room.move", payload))["code"] == "payload.invalid"


async def test_the_number_of_viewers_is_reported(opened: dict[str, Any]) -> None:
    """Who leads is not one of them."""
    async with inside(opened, lead=True) as leader, AsyncExitStack() as stack:
        assert await leader.push("room.people") == {"watching": 0, "lost": 0}
        viewers = [await stack.enter_async_context(connected("")) for _ in range(3)]
        for viewer in viewers:
            joined = await viewer.success("room.join", {"room": opened["id"]})
        assert joined["watching"] == 3
        while (await leader.push("room.people"))["watching"] != 3:
            pass
        state = await sync_to_async(Client().get)(f"/api/rooms/{opened['id']}")
        assert state.json()["watching"] == 3
        await viewers[0].success("room.leave", {})
        assert await leader.push("room.people") == {"watching": 2, "lost": 0}


async def test_viewers_are_bounded(opened: dict[str, Any], limits: Callable[..., None]) -> None:
    """The leader still enters."""
    limits(ROOM_VIEWERS=1)
    async with inside(opened), connected("") as second:
        assert (await second.error("room.join", {"room": opened["id"]}))["code"] == "room.full"
        token = {"room": opened["id"], "lead_token": opened["lead_token"]}
        assert (await second.success("room.join", token))["role"] == "lead"


async def test_a_visitor_is_bounded_before_the_address(
    opened: dict[str, Any], limits: Callable[..., None]
) -> None:
    """One browser that joins and votes again and again keeps nobody else of the lecture hall out."""
    limits(ROOM_JOINS_PER_VISITOR=2, ROOM_VOTES_PER_VISITOR=3)
    async with inside(opened, lead=True) as leader, connected(OWNER) as one, connected(STRANGER) as other:
        await leader.success("room.ask", {"kind": "choice", "choices": ["a", "b"]})
        for _ in range(2):
            await one.success("room.join", {"room": opened["id"]})
        refused = await one.error("room.join", {"room": opened["id"]})
        assert (refused["code"], refused["retryAfter"] > 0) == ("rate.limited", True)
        assert "this browser" in refused["message"]
        for answer in ("a", "b", "a"):
            await one.success("room.vote", {"answer": answer})
        assert (await one.error("room.vote", {"answer": "b"}))["code"] == "rate.limited"
        for _ in range(3):  # without a cookie by the address alone
            await leader.success("room.join", {"room": opened["id"], "lead_token": opened["lead_token"]})
        await other.success("room.join", {"room": opened["id"]})
        await other.success("room.vote", {"answer": "b"})
        assert (await leader.success("room.reveal", {}))["tally"] == [[0, 1], [1, 1]]


def test_opening_is_bounded(web: str, limits: Callable[..., None]) -> None:
    """An address that opens one room after the other is reported when to come again."""
    limits(ROOMS_PER_MINUTE=1)
    room = open_room(web)
    answer = post("/api/rooms", {"scenario": room["scenario"]})
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0


async def test_joining_is_bounded(opened: dict[str, Any], limits: Callable[..., None]) -> None:
    """An address that joins again and again is reported to wait."""
    limits(ROOM_JOINS_PER_MINUTE=2)
    async with connected("") as socket:
        for _ in range(2):
            await socket.success("room.join", {"room": opened["id"]})
        assert (await socket.error("room.join", {"room": opened["id"]}))["code"] == "rate.limited"


async def test_there_is_no_such_room() -> None:
    """A room that is not there is distinguished from one that is over."""
    async with connected("") as socket:
        for name in ("AAAAAAAAAAAAAAAA", "", "../x", "x" * 100):
            assert (await socket.error("room.join", {"room": name}))["code"] == "room.not-found"


async def test_the_end_is_reported(opened: dict[str, Any]) -> None:
    """Everybody is reported, nobody is in the room any more, and nobody enters."""
    async with inside(opened, lead=True) as leader, inside(opened) as viewer:
        ending = sync_to_async(post)
        await ending(f"/api/rooms/{opened['id']}/end", {"lead_token": opened["lead_token"]})
        for socket in (leader, viewer):
            assert await socket.push("room.ended") == {}
        assert (await leader.error("room.move", {"step": "1"}))["code"] == "permission.denied"
        assert (await viewer.error("room.join", {"room": opened["id"]}))["code"] == "room.ended"


async def test_a_move_after_the_end(opened: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader who does not see it yet is reported so at once, with everybody else, and nothing is stored."""
    monkeypatch.setattr(notifications, "POLL_SECONDS", 60)
    async with inside(opened, lead=True) as leader, inside(opened) as viewer:
        await Room.objects.aupdate(ended=timezone.now())
        await leader.success("room.move", {"step": "1"})
        for socket in (leader, viewer):
            assert await socket.push("room.ended") == {}
        assert (await leader.error("room.move", {"step": "2"}))["code"] == "permission.denied"
    assert (await Room.objects.aget()).seq == 0


async def test_a_scenario_that_goes_ends_its_rooms(opened: dict[str, Any]) -> None:
    """Nothing of it is shown any more."""
    async with inside(opened) as viewer:
        scenario = (await Room.objects.select_related("scenario").aget()).scenario
        await sync_to_async(scenario.delete)()
        assert await viewer.push("room.ended") == {}


# --- who somebody is -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("  Ann \n Lee ", "Ann Lee"),
        ("x" * 100, "x" * 40),
        ("a\u202eb\u200b\u0007", "ab"),
        ("<b>Ann</b>", "<b>Ann</b>"),
        ("Zoë 李", "Zoë 李"),
    ],
)
def test_names(given: str, shown: str) -> None:
    """A name is a line of text that a page writes as text."""
    assert names.clean_name(given) == shown


def test_a_person_is_not_the_visitor() -> None:
    """The id that others see says nothing of the cookie, and is another one in every room."""
    one = people.person_of("a", OWNER)
    assert one == people.person_of("a", OWNER) != people.person_of("b", OWNER)
    assert OWNER not in one
    assert people.person_of("a", "") != people.person_of("a", "")


async def test_the_lead_is_handed_over(opened: dict[str, Any]) -> None:
    """The new leader moves, also after connecting again; the old one does not, until taking it back."""
    async with inside(opened, lead=True, visitor=OWNER) as old, connected(STRANGER) as new:
        joined = await new.success("room.join", {"room": opened["id"], "name": "Bo"})
        person = joined["person"]
        while (await old.push("room.people"))["watching"] != 1:
            pass
        assert await old.success("room.people", {}) == {"watching": 1, "people": [[person, "Bo"]]}
        assert (await old.error("room.hand", {"to": "nobody"}))["code"] == "payload.invalid"
        assert await old.success("room.hand", {"to": person}) == {"role": "watch"}
        assert await old.push("room.role") == {"role": "watch"}
        assert await new.push("room.role") == {"role": "lead"}
        assert (await old.error("room.move", {"step": "1"}))["code"] == "permission.denied"
        assert await new.success("room.move", {"step": "2"}) == {"seq": 1}
        assert (await new.error("room.take", {}))["code"] == "permission.denied"
        async with connected(STRANGER) as again:
            joined = await again.success("room.join", {"room": opened["id"]})
            assert (joined["role"], joined["person"]) == ("lead", person)
        assert await old.success("room.take", {}) == {"role": "lead"}
        assert await new.push("room.role") == {"role": "watch"}
        assert (await new.error("room.move", {"step": "1"}))["code"] == "permission.denied"


# --- predictions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [("node", "n3", "n2"), ("fits", "no", True), ("victims", ["default/x"], [])],
)
async def test_a_prediction(opened: dict[str, Any], kind: str, wrong: Any, right: Any) -> None:
    """The engine's answer is reported to nobody before it is revealed; then everybody sees the votes."""
    async with (
        inside(opened, lead=True) as leader,
        inside(opened, visitor=OWNER) as one,
        inside(opened) as two,
    ):
        asked = await leader.success("room.ask", {"kind": kind, "text": "What now?"})
        assert {name: asked[name] for name in ("number", "kind", "text", "index", "votes", "revealed")} == {
            "number": 1,
            "kind": kind,
            "text": "What now?",
            "index": 1,
            "votes": 0,
            "revealed": False,
        }
        assert asked["pod"].startswith("default/web-") and asked["step"]
        for socket in (one, two):
            assert await shows(socket, 1) == asked
        await one.success("room.vote", {"answer": wrong})
        await two.success("room.vote", {"answer": wrong})
        await one.success("room.vote", {"answer": right})
        tally = {"votes": 0}
        while tally["votes"] < 2:
            tally = await two.push("room.tally")
            assert set(tally) == {"number", "votes"}
        async with connected("") as late:
            joined = await late.success("room.join", {"room": opened["id"]})
            assert joined["question"] == {**asked, "votes": 2}
        revealed = await leader.success("room.reveal", {})
        assert revealed["answer"] == right
        assert sorted(revealed["tally"], key=str) == sorted(
            [[True if kind == "fits" else right, 1], [False if kind == "fits" else wrong, 1]], key=str
        )
        assert (revealed["votes"], revealed["right"], revealed["others"]) == (2, 1, 0)
        assert await shows(two, 1) == revealed
        assert (await two.error("room.vote", {"answer": right}))["code"] == "permission.denied"
        await leader.success("room.close", {})
        assert (await two.push("room.state"))["question"] is None


async def test_a_choice_has_no_answer(opened: dict[str, Any]) -> None:
    """The leader's own question is counted only."""
    choices = ["more nodes", "<b>smaller pods</b>"]
    async with inside(opened, lead=True) as leader, inside(opened) as viewer:
        asked = await leader.success("room.ask", {"kind": "choice", "choices": choices})
        assert asked["choices"] == choices and asked["index"] is None
        await viewer.success("room.vote", {"answer": choices[1]})
        revealed = await leader.success("room.reveal", {})
        assert (revealed["tally"], revealed["answer"], revealed["right"]) == ([[1, 1]], None, None)


async def test_which_cycle_a_question_is_about(opened: dict[str, Any]) -> None:
    """The next one; the one on screen while it is inside of it; or the one that is named."""
    async with inside(opened, lead=True) as leader:
        for position, step, index in (
            ({"step": "2"}, None, 3),
            ({"step": "2", "phase": "predicates"}, None, 2),
            ({"step": "2", "at": 1}, None, 2),
            ({"step": "2"}, "4", 4),
        ):
            await leader.success("room.move", position)
            payload = {"kind": "fits", **({"step": step} if step else {})}
            assert (await leader.success("room.ask", payload))["index"] == index
        last = await leader.success("room.ask", {"kind": "node", "step": "5"})
        assert (await leader.success("room.reveal", {}))["answer"] == ""
        await leader.success("room.move", {"step": "5"})
        assert (await leader.error("room.ask", {"kind": "fits"}))["code"] == "step.out-of-range"
        assert last["index"] == 5


@pytest.mark.parametrize(
    "payload",
    [
        {"kind": "who"},
        {"kind": "choice"},
        {"kind": "choice", "choices": ["one"]},
        {"kind": "choice", "choices": ["a", "a"]},
        {"kind": "choice", "choices": [str(n) for n in range(13)]},
        {"kind": "choice", "choices": ["x" * 101, "y"]},
        {"kind": "node", "text": "x" * 201},
        {"kind": "node", "step": "first"},
    ],
)
async def test_questions_are_checked(opened: dict[str, Any], payload: dict[str, Any]) -> None:
    """What makes no sense is asked of nobody."""
    async with inside(opened, lead=True) as leader:
        assert (await leader.error("room.ask", payload))["code"] == "payload.invalid"
    assert (await Room.objects.aget()).question is None


async def test_votes_are_checked_and_bounded(opened: dict[str, Any], limits: Callable[..., None]) -> None:
    """No vote that is none, none without a question, and not many more than there may be viewers."""
    limits(ROOM_VIEWERS=1)
    async with inside(opened, lead=True) as leader:
        assert (await leader.error("room.vote", {"answer": "n1"}))["code"] == "permission.denied"
        await leader.success("room.ask", {"kind": "node"})
        for answer in (1, ["n1"], "x" * 601, {"a": 1}):
            assert (await leader.error("room.vote", {"answer": answer}))["code"] == "payload.invalid"
        for _ in range(4):
            await leader.success("room.join", {"room": opened["id"], "lead_token": opened["lead_token"]})
            await leader.success("room.vote", {"answer": "n1"})
        await leader.success("room.join", {"room": opened["id"], "lead_token": opened["lead_token"]})
        assert (await leader.error("room.vote", {"answer": "n1"}))["code"] == "permission.denied"
    assert await RoomVote.objects.acount() == 4


async def test_a_question_survives_a_restart(opened: dict[str, Any]) -> None:
    """Its votes and its hidden answer are in the database."""
    async with inside(opened, lead=True) as leader:
        await leader.success("room.ask", {"kind": "node"})
        await leader.success("room.vote", {"answer": "n2"})
    hubs._hubs.clear()
    async with connected("") as again:
        token = {"room": opened["id"], "lead_token": opened["lead_token"]}
        joined = await again.success("room.join", token)
        assert joined["question"]["votes"] == 1 and "answer" not in joined["question"]
        assert (await again.success("room.reveal", {}))["right"] == 1
