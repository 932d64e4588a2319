"""xAPI statements on their way to the operator's record store: whose, when, and what if it takes none."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from playground.courseware import Lesson
from playground.courseware.archives import packed
from playground.lessons import lookup, receipts
from playground.models import WaitingStatement
from playground.outbox import statements, xapi
from playground.serving.environment import Environment
from tests.core.lessons.data import right_answer
from tests.playground.lti_platform import FakePlatform, key, pem, running
from tests.playground.test_lti import launched, passes
from tests.playground.test_visitor_lessons import FIRST, state, upload

pytestmark = pytest.mark.django_db(transaction=True)

LESSON = "first-cycle"
HOME = "https://podstep.example.org"


@pytest.fixture(scope="module")
def server() -> Iterator[FakePlatform]:
    with running() as found:
        yield found


@pytest.fixture
def store(server: FakePlatform, settings: Any) -> Iterator[FakePlatform]:
    """The operator's record store, with nothing in it."""
    cache.clear()
    server.__init__(server.address)  # type: ignore[misc]
    host = server.address.removeprefix("http://")
    settings.LRS, settings.LRS_HOME = f"http://key:s%40cret@{host}/xapi/", HOME
    yield server
    cache.clear()


def made(number: int) -> xapi.Statement:
    who = {"account": {"homePage": HOME, "name": "x"}}
    activity = xapi.lesson(f"{HOME}/learn/a/", "A")
    return xapi.statement(f"key-{number}", who, "completed", activity, xapi.score(1, 2), {}, timezone.now())


def answer(client: Client, stop: str, given: Any) -> Any:
    body = json.dumps({"answer": given})
    found = client.post(f"/api/lessons/{LESSON}/{stop}/answer", body, content_type="application/json")
    assert found.status_code == 200
    return found.json()


def lesson() -> Lesson:
    found = lookup.lesson_at(LESSON)
    assert found is not None
    return found


def test_nothing_is_kept_without_a_record_store(client: Client, settings: Any) -> None:
    """It is off until the operator names one."""
    settings.LRS = ""
    client.get("/learn/")
    answer(client, "feasible", [])
    statements.put([made(1)])
    assert (WaitingStatement.objects.count(), statements.deliver()) == (0, 0)


def test_who_plays_alone_has_no_name(client: Client, store: FakePlatform) -> None:
    """Answers, right and wrong, and a completed lesson, of one number for a browser; others have none."""
    client.get("/learn/")
    cookie = client.cookies["podstep_visitor"].value.split(":")[0]
    answer(client, "feasible", [])
    given = {
        one.key: right_answer(lesson(), one) for one in lesson().stops if one.key in receipts.asked(lesson())
    }
    proofs = [answer(client, key, value)["receipt"] for key, value in given.items()]
    body = json.dumps({"receipts": proofs, "name": "Ada Lovelace"})
    assert (
        client.post(f"/api/lessons/{LESSON}/code", body, content_type="application/json").status_code == 201
    )
    answer(Client(), "feasible", [])  # without a cookie
    assert statements.deliver() == 1 + len(given) + 1
    sent = json.dumps(store.statements)
    assert "Ada" not in sent and cookie not in sent
    assert len({one["actor"]["account"]["name"] for one in store.statements}) == 1
    assert all("name" not in one["actor"] for one in store.statements)
    wrong = [one for one in store.statements if not one["result"]["success"]]
    assert [one["object"]["id"] for one in wrong] == [f"{HOME}/learn/{LESSON}/feasible/"]
    [done] = [one for one in store.statements if one["verb"]["id"].endswith("/completed")]
    assert done["object"]["id"] == f"{HOME}/learn/{LESSON}/" and done["result"]["score"]["scaled"] == 1
    headers = {name.lower(): value for name, value in store.requests[0].items()}
    assert headers["x-experience-api-version"] == "1.0.3"
    assert headers["authorization"] == f"Basic {base64.b64encode(b'key:s@cret').decode()}"


def test_the_store_is_not_filled_by_repetition(
    owner: Client, store: FakePlatform, limits: Callable[..., None]
) -> None:
    """One completion of a lesson and visitor, one of the same answer, none of previews, few of an address."""
    proofs = [receipts.receipt(LESSON, key) for key in receipts.asked(lesson())]
    body = json.dumps({"receipts": proofs})
    for _ in range(5):
        owner.post(f"/api/lessons/{LESSON}/code", body, content_type="application/json")
        answer(owner, "feasible", [])
    assert statements.waiting() == 2
    name = state(owner, upload(owner, packed("01-a", FIRST)))["stops"][0]["preview"].split("/")[2]
    proofs = [receipts.receipt(name, key) for key in receipts.asked(lesson())]
    made = owner.post(
        f"/api/lessons/{name}/code", json.dumps({"receipts": proofs}), content_type="application/json"
    )
    assert made.status_code == 201 and statements.waiting() == 2
    limits(LRS_PER_MINUTE=3)
    for _ in range(5):
        stranger = Client()
        stranger.get("/learn/")
        answer(stranger, "feasible", [])
    assert statements.waiting() == 3, "two of the same minute came before"


def test_who_comes_by_a_course_is_called_as_there(client: Client, store: FakePlatform, settings: Any) -> None:
    """By the platform's own id of the person, at the platform's issuer."""
    settings.LTI_PLATFORMS, settings.LTI_KEY = (store.registered,), pem(key("tool"))
    passes(launched(client, store))
    statements.deliver()
    [done] = store.statements
    assert done["actor"]["account"] == {"homePage": store.address, "name": "person-1"}


def test_what_the_store_does_not_take_is_tried_later_and_dropped(
    store: FakePlatform, limits: Callable[..., None]
) -> None:
    """With longer waits; statements are in the queue meanwhile, and after the last try they are not."""
    statements.put([made(1), made(2)])
    store.fails = 2
    now = timezone.now()
    assert statements.deliver(now) == 0 and statements.waiting() == 2
    assert statements.deliver(now) == 0  # not due
    assert WaitingStatement.objects.filter(due__gt=now, tries=1).count() == 2
    limits(LRS_TRIES=2)
    assert statements.deliver(now + timedelta(hours=1)) == 0 and statements.waiting() == 0


def test_a_statement_that_is_refused_holds_up_no_other(store: FakePlatform) -> None:
    """The batch is sent again one by one, and the store's refusal costs that statement alone."""
    found = [made(number) for number in range(4)]  # all of one batch
    store.refuses = {found[1]["id"]: 400, found[2]["id"]: 409}
    statements.put(found)
    statements.deliver()
    statements.deliver(timezone.now() + timedelta(seconds=1))
    assert {one["id"] for one in store.statements} == {found[0]["id"], found[3]["id"]}
    assert statements.waiting() == 0


def test_the_queue_is_bounded(store: FakePlatform, limits: Callable[..., None]) -> None:
    """What does not fit is dropped, and what is there stays; a statement is in it once."""
    limits(LRS_QUEUED=3)
    statements.put([made(number) for number in range(2)])
    statements.put([made(1)])
    statements.put([made(number) for number in range(2, 9)])
    assert statements.waiting() == 3


def test_the_operators_address_is_read_or_says_what_is_wrong(tmp_path: Any) -> None:
    """From the variable or a file; a problem is reported without the secret."""
    address = "https://key:hush@lrs.example.org/xapi"
    file = tmp_path / "lrs"
    file.write_text(f"{address}\n")
    for value in (address, str(file)):
        assert Environment({"LRS": value}).record_store("LRS") == address
    for value in (
        "https://lrs.example.org/",
        "ftp://key:hush@lrs.example.org/",
        "http://key:hush@lrs.example.org/",
    ):
        env = Environment({"LRS": value})
        assert env.record_store("LRS") == "" and "hush" not in " ".join(env.problems)
        assert "https://key:secret@host/path" in env.problems[0]
    env = Environment({})
    assert env.home("HOME_ADDRESS", needed=True) == "" and "https://podstep.example.org" in env.problems[0]
    assert Environment({"H": f"{HOME}/"}).home("H", needed=True) == HOME
