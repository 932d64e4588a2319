"""A lesson in a room: stops, votes, what is hidden until they are revealed, and what the leader is shown."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from playground.courseware import bundle_of, key_of, lesson, lessons
from playground.courseware.archives import packed
from playground.courseware.catalogue import _HERE, _texts
from playground.courseware.checks import solved_bundle
from playground.courseware.validation import first
from playground.lessons import classes, receipts
from playground.models import Room, RoomPerson, Scenario, WaitingStatement
from playground.rooms import results, rows
from playground.storage import store, visitor_lessons
from tests.playground.conftest import OWNER, STRANGER, Socket, connected, visitor_client
from tests.playground.rooms import inside, post

pytestmark = pytest.mark.django_db(transaction=True)

TRAVELS = "pack-or-spread"  # over three scenarios
ASKED = {
    of.slug: [
        stop for stop in of.stops if stop.task and stop.task.form and stop.task.form not in classes.SOLVED
    ]
    for of in lessons()
}


def opened(slug: str = TRAVELS) -> dict[str, Any]:
    answer = post("/api/rooms", {"lesson": slug})
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


@asynccontextmanager
async def taught(
    slug: str = TRAVELS,
) -> AsyncIterator[tuple[dict[str, Any], Socket, Socket, Socket]]:
    """A room on a lesson, its leader, and two learners."""
    room = await sync_to_async(opened)(slug)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        yield (
            room,
            await enter(inside(room, lead=True, visitor=OWNER)),
            await enter(inside(room, visitor="ada-of-the-class-123", name="Ada")),
            await enter(inside(room, visitor="bob-of-the-class-123", name="=Bob()")),
        )


def typed(answer: Any) -> Any:
    """Return an answer as a page sends it: a number as its digits."""
    return str(answer) if isinstance(answer, float) else answer


async def asked_of(socket: Socket) -> Any:
    """Return the next question that a page is mentioned; none is there in between."""
    while (question := (await socket.push("room.state"))["question"]) is None or question["revealed"]:
        pass
    return question


async def known(room: dict[str, Any], *names: str) -> None:
    """Wait until the room has stored what people are called, which it does soon after they came."""
    while not {*names} <= {one.name for one in await sync_to_async(rows.people_of)(room["id"])}:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


async def report_of(room: dict[str, Any], kind: str = "class") -> Any:
    headers = {"Authorization": f"Bearer {room['lead_token']}"}
    answer = await sync_to_async(Client().get)(f"/api/rooms/{room['id']}/{kind}", headers=headers)
    assert answer.status_code == 200, answer.content
    return answer


async def test_a_room_goes_through_a_lesson_over_three_scenarios() -> None:
    """One address: each stop brings its scenario, moment and view, its question, and what that hides."""
    of = lesson(TRAVELS)
    assert of is not None
    seen = set()
    async with taught() as (room, leader, ada, _bob):
        for at in of.stops:
            await leader.success("room.stop", {"stop": at.key})
            reported = (await ada.success("room.join", {"room": room["id"], "name": "Ada"}))["lesson"]
            assert (reported["stop"], reported["heading"]) == (at.key, at.title)
            seen.add((await sync_to_async(Client().get)(f"/api/rooms/{room['id']}")).json()["scenario"])
            if at.task is None:
                continue
            asked = await leader.success("room.ask", {"kind": "lesson"})
            assert await asked_of(ada) == asked
            async with connected(STRANGER) as late:
                joined = await late.success("room.join", {"room": room["id"]})
                assert joined["question"] == asked  # the same ballot
                assert joined["lesson"]["veil"] == reported["veil"]
            if asked["form"] == "edit":
                assert (await ada.error("room.vote", {"answer": True}))["code"] == "payload.invalid"
                other = receipts.receipt(of.slug, "spread")
                assert (await ada.error("room.vote", {"answer": other}))["code"] == "payload.invalid"
                await ada.success("room.vote", {"answer": receipts.receipt(of.slug, at.key)})
            else:
                truth = key_of(of, at).answer
                await ada.success("room.vote", {"answer": truth})
            revealed = await leader.success("room.reveal", {})
            assert revealed["accepted"] == ([True] if asked["form"] == "edit" else [truth])
            assert revealed["why"]
            if asked["form"] == "edit":
                now = (await sync_to_async(Client().get)(f"/api/rooms/{room['id']}")).json()
                text = store.scenario_text(await Scenario.objects.aget(short=now["scenario"]))
                assert text == solved_bundle(of, at) != bundle_of(of, at) and now["step"] == "end"
    assert len(seen) == len({at.scenario for at in of.stops}) == 3
    row = await Room.objects.aget(pk=room["id"])
    assert [key for key, _ in row.visits] == [of.stops[0].key, *(at.key for at in of.stops)]


@pytest.mark.parametrize("slug", ASKED)
async def test_the_right_answer_of_every_stop_is_a_vote_that_counts(slug: str) -> None:
    """The ballot offers it, the engine's form of it is the vote's, and known mistakes are counted as such."""
    of = lesson(slug)
    assert of is not None
    mistakes: Counter[str] = Counter()
    async with taught(slug) as (room, leader, ada, bob):
        for number, at in enumerate(ASKED[slug]):
            key = await sync_to_async(key_of)(of, at)
            await leader.success("room.stop", {"stop": at.key})
            await leader.success("room.ask", {"kind": "lesson"})
            await asked_of(bob)
            await ada.success("room.vote", {"answer": typed(first(key.answer, at))})
            wrong = key.leads[0] if key.leads else None
            if wrong:
                await bob.success("room.vote", {"answer": typed(wrong[0])})
                mistakes[wrong[1]] += 1
            revealed = await leader.success("room.reveal", {})
            assert (revealed["votes"], revealed["right"]) == (2 if wrong else 1, 1), at.key
            report = (await report_of(room)).json()
            assert report["questions"][number]["share"] == (0.5 if wrong else 1), at.key
        assert {one["key"]: one["answers"] for one in report["misconceptions"]} == mistakes


@pytest.mark.parametrize("slug", [TRAVELS, "first-of-its-kind", "mutual-anti-affinity", "an-extender"])
async def test_no_frame_tells_a_learner_the_answer_before(slug: str) -> None:
    """From when the room comes to a stop, not only from when it is asked: nothing after the moment is."""
    of = lesson(slug)
    assert of is not None
    async with taught(slug) as (room, leader, ada, _bob):
        for at in of.stops:
            if at.task is None or at.task.kind != "predict":
                continue
            await leader.success("room.stop", {"stop": at.key})
            joined = await ada.success("room.join", {"room": room["id"]})
            reported, source = joined["lesson"], {"scenario": joined["scenario"]}
            last, phase = reported["veil"]
            found = [await ada.success("scenario.open", {"source": source})]
            assert found[0]["cycles"] == last
            found.append(await ada.success("cycles.window", {"source": source, "from": 1, "count": 50}))
            cycles = found[1]["cycles"]
            assert [cycle["index"] for cycle in cycles] == list(range(1, last + 1))
            if phase is not None:
                assert cycles[-1]["result"] is None or cycles[-1].get("node") is None
            beyond = {"source": source, "step": str(last + 1), "parts": ["inspect"]}
            assert (await ada.error("cycle.get", beyond))["code"] in ("step.out-of-range", "payload.invalid")
            await leader.success("room.ask", {"kind": "lesson"})
            asked = await asked_of(ada)
            why = (await sync_to_async(key_of)(of, at)).why
            heard = json.dumps([reported, asked, found, ada.pushed])
            assert why not in heard
            for private in ("truth", "accepted", "leads", "misconception", "tolerance"):
                assert f'"{private}"' not in heard
            await leader.success("room.reveal", {})
            assert why.replace("`", "") in json.dumps(await ada.push("room.state"))


async def test_the_answer_before_and_after_a_discussion() -> None:
    """The leader's report has both shares, the misconception that led there, names, places and times."""
    async with taught() as (room, leader, ada, bob):
        await leader.success("room.stop", {"stop": "spread"})
        await leader.success("room.ask", {"kind": "lesson"})
        await asked_of(bob)
        await ada.success("room.vote", {"answer": ["big"]})
        await bob.success("room.vote", {"answer": []})
        await leader.success("room.again", {})
        await asked_of(bob)
        for one in (ada, bob):
            await one.success("room.vote", {"answer": ["big"]})
        await leader.success("room.reveal", {})
        await bob.success("room.place", {"step": "2"})
        await leader.push("room.people")
        while not [one async for one in RoomPerson.objects.filter(place="2")]:
            await asyncio.sleep(0.5)  # so many places are not taken from one browser
            await bob.success("room.place", {"step": "2"})
        report = (await report_of(room)).json()
        question = report["questions"][0]
        assert (question["before"], question["share"]) == (0.5, 1)
        belief = [(one["key"], one["people"]) for one in report["misconceptions"]]
        assert belief == [("free-room-is-a-sum", 1)]
        people = {one["name"]: one for one in report["people"]}
        assert {name: one["place"] for name, one in people.items()} == {"Ada": "", "=Bob()": "2"}
        assert [one["right"] for one in people.values()] == [1, 1]
        assert report["lesson"]["at"] == "spread" and "<p>" in report["lesson"]["notes"]
        rows = list(csv.reader(io.StringIO((await report_of(room, "answers.csv")).content.decode())))
    assert tuple(rows[0]) == results.COLUMNS
    assert len(rows) == 1 + 4
    assert {row[1] for row in rows[1:]} == {"Ada", "'=Bob()"}  # no formula
    assert [row[7] for row in rows[1:]] == ["yes", "no", "yes", "yes"]


@pytest.mark.parametrize(
    ("text", "computed"),
    [
        ("=1", True), (" =1", True), ("\u00a0=1", True), ("\u2003\u200b=1", True), ("\ufeff+1", True),
        ("\uff1d1", True), ("\u3000\uff0b1", True), ("\uff0d1", True), ("\uff20SUM(A1)", True),
        ("\ufe661", True), ("\t1", True), ("\n@x", True), ("1=1", False), ("n1", False),
        ("", False), ("(=1)", False),
    ],
    ids=ascii,
)  # fmt: skip
def test_what_a_spreadsheet_would_compute_is_quoted(text: str, computed: bool) -> None:
    """Whatever spaces stand before the sign, and however wide it is."""
    assert results._as_text(text) == (f"'{text}" if computed else text)


async def test_answers_are_statements_for_a_learning_record_store(settings: Any) -> None:
    """Who answered what, once it is revealed, and who completed the lesson; the same ones each time.

    They are those that go to the operator's record store, question by question.
    """
    settings.LRS, settings.LRS_HOME = "http://key:secret@127.0.0.1:9/xapi", "http://testserver"
    of = lesson("first-of-its-kind")
    assert of is not None
    asked = [at for at in of.stops if at.task and at.task.form]
    async with taught(of.slug) as (room, leader, ada, bob):
        for at in asked:
            await leader.success("room.stop", {"stop": at.key})
            await leader.success("room.ask", {"kind": "lesson"})
            await asked_of(ada)
            solved = at.task is not None and at.task.form in classes.SOLVED
            key = await sync_to_async(key_of)(of, at)
            answer = receipts.receipt(of.slug, at.key) if solved else first(key.answer, at)
            await ada.success("room.vote", {"answer": answer})
            if at is asked[0]:
                await bob.success("room.vote", {"answer": key.leads[0][0]})
            if at is not asked[-1]:
                await leader.success("room.reveal", {})
        await known(room, "Ada", "=Bob()")
        before = (await report_of(room, "statements")).json()
        assert {one["verb"]["display"]["en-US"] for one in before} == {"answered"}
        assert len(before) == len(asked)  # not that of the question that is still open
        await leader.success("room.reveal", {})
        found = (await report_of(room, "statements")).json()
    assert {one["id"] for one in before} < {one["id"] for one in found}
    assert {one.pk async for one in WaitingStatement.objects.all()} == {one["id"] for one in found}
    [done] = [one for one in found if one["verb"]["id"] == "http://adlnet.gov/expapi/verbs/completed"]
    assert done["actor"]["name"] == "Ada"
    assert (await WaitingStatement.objects.aget(pk=done["id"])).statement == done
    assert done["object"]["id"].endswith(f"/learn/{of.slug}/")
    assert done["result"]["score"]["scaled"] == 1
    wrong = [one for one in found if not one["result"]["success"]]
    assert [one["actor"]["name"] for one in wrong] == ["=Bob()"]
    assert wrong[0]["object"]["id"].endswith(f"/learn/{of.slug}/{asked[0].key}/")
    assert all(one["actor"]["account"]["homePage"] for one in found)
    unnamed = await report_of(room, "statements?names=0")
    assert "Ada" not in unnamed.content.decode()


async def test_nobody_else_is_reported_of_the_class() -> None:
    """Neither a learner nor a stranger; the owner's cookie is enough."""
    async with taught() as (room, leader, ada, _bob):
        await leader.success("room.stop", {"stop": "spread"})
        refused = await ada.error("room.stop", {"stop": "pack"})
        assert refused["code"] == "permission.denied"
        for kind in ("class", "answers.csv"):
            for client in (Client(), visitor_client("ada-of-the-class-123")):
                answer = await sync_to_async(client.get)(f"/api/rooms/{room['id']}/{kind}")
                assert answer.status_code == 403
        await Room.objects.aupdate(owner=OWNER)
        assert (
            await sync_to_async(visitor_client(OWNER).get)(f"/api/rooms/{room['id']}/class")
        ).status_code == 200
        assert (await leader.error("room.stop", {"stop": "nowhere"}))["code"] == "payload.invalid"


async def test_learners_keep_their_answers_after_the_end() -> None:
    """The room's page shows each what they said, and leads to the stop."""
    async with taught() as (room, leader, ada, bob):
        await leader.success("room.stop", {"stop": "spread"})
        await leader.success("room.ask", {"kind": "lesson"})
        await asked_of(bob)
        await ada.success("room.vote", {"answer": ["big"]})
        await leader.success("room.reveal", {})
    await sync_to_async(post)(f"/api/rooms/{room['id']}/end", {"lead_token": room["lead_token"]})
    page = f"/r/{room['id']}/"
    mine = (await sync_to_async(visitor_client("ada-of-the-class-123").get)(page)).content.decode()
    others = (await sync_to_async(visitor_client(STRANGER).get)(page)).content.decode()
    assert "You answered: <b>big</b>" in mine
    assert "You answered" not in others
    assert f'href="/learn/{TRAVELS}/spread/"' in mine


def test_a_lesson_is_taught_from_its_page() -> None:
    """The button opens a room, and leads its leader there with the token behind the #."""
    client = visitor_client(OWNER)
    assert f'href="/learn/{TRAVELS}/teach/"' in client.get(f"/learn/{TRAVELS}/").content.decode()
    page = client.get(f"/learn/{TRAVELS}/teach/").content.decode()
    assert "Open the room" in page
    answer = client.post(f"/learn/{TRAVELS}/teach/")
    assert answer.status_code == 302
    row = Room.objects.get()
    assert answer.headers["Location"].startswith(f"/r/{row.pk}/#lead=")
    assert row.owner == OWNER
    shown = client.get(f"/r/{row.pk}/").content.decode()
    assert "data-room-lesson" in shown
    assert client.get("/learn/no-such/teach/").status_code == 404


def test_a_stop_is_framed_by_other_sites() -> None:
    """Its page alone; that of the lesson is not."""
    page = Client().get(f"/learn/{TRAVELS}/spread/embed/")
    assert "frame-ancestors *" in page.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in page.headers
    assert "player-onward" not in page.content.decode()
    whole = Client().get(f"/learn/{TRAVELS}/spread/")
    assert "frame-ancestors 'none'" in whole.headers["Content-Security-Policy"]


def test_what_a_spreadsheet_would_compute_is_text() -> None:
    """Also behind spaces; a number stays as it is otherwise."""
    for text in ("=1+1", "+1", "-1", "@x", "\t=1", "  =1", "\r=1"):
        assert results._as_text(text) == f"'{text}"
    assert results._as_text("web-1") == "web-1"


def test_bundles_of_lessons_are_reported_apart() -> None:
    """The lesson that the tests teach travels."""
    of = lesson(TRAVELS)
    assert of is not None
    assert len({bundle_of(of, at) for at in of.stops}) == 3


# --- a lesson that a visitor wrote


@pytest.fixture
def written(owner: Client) -> tuple[str, str]:
    """A lesson of the owner's, published: its page as a learner has it, and as its author previews it."""
    upload = SimpleUploadedFile(
        "a.zip", packed("07-my-pods", dict(_texts(_HERE.joinpath("10-pack-or-spread"))))
    )
    made = owner.post("/learn/author/import", {"lesson": upload}).headers["Location"]
    published = owner.post(f"{made}publish")
    assert published.status_code == 200, published.content
    preview = owner.get(f"{made}state").json()["stops"][0]["preview"]
    return published.json()["link"].split("/")[2], preview.split("/")[2]


async def test_a_lesson_by_link_is_taught_over_its_scenarios(written: tuple[str, str]) -> None:
    """As a shipped one: stops, ballots, what they hide, and the answers; until it is withdrawn."""
    link, _ = written
    of = lesson(TRAVELS)
    assert of is not None
    async with taught(link) as (room, leader, ada, _bob):
        for at in of.stops:
            await leader.success("room.stop", {"stop": at.key})
            reported = (await ada.success("room.join", {"room": room["id"], "name": "Ada"}))["lesson"]
            assert (reported["slug"], reported["stop"], reported["heading"]) == (link, at.key, at.title)
            if at.task is None:
                continue
            asked = await leader.success("room.ask", {"kind": "lesson"})
            assert await asked_of(ada) == asked
            edit = asked["form"] == "edit"
            truth = receipts.receipt(link, at.key) if edit else key_of(of, at).answer
            await ada.success("room.vote", {"answer": truth})
            revealed = await leader.success("room.reveal", {})
            assert revealed["votes"] == 1
            assert revealed["accepted"] == ([True] if edit else [truth])
        row = await sync_to_async(visitor_lessons.at)(link)
        assert row is not None
        await sync_to_async(visitor_lessons.withdraw)(row[0])
        assert await leader.error("room.stop", {"stop": of.stops[0].key})  # nobody is taken anywhere


def test_a_preview_is_not_taught(owner: Client, written: tuple[str, str]) -> None:
    """A room tells its learners the lesson's address, and that of a preview is its author's alone."""
    link, preview = written
    refused = post("/api/rooms", {"lesson": preview})
    assert (refused.status_code, "publish it" in refused.content.decode()) == (409, True)
    assert owner.get(f"/learn/{preview}/teach/").status_code == 409
    assert owner.post(f"/learn/{preview}/teach/").status_code == 409
    assert not Room.objects.exists()
    for address, offered in ((preview, False), (link, True)):
        for page in (f"/learn/{address}/", f"/learn/{address}/done/"):
            assert (f"/learn/{address}/teach/" in owner.get(page).content.decode()) is offered
