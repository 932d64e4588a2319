"""What visitors are answered during an outage: when to come back, and whatever needs no storage."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
import time
from typing import Any

import psycopg
import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test import Client

from playground.celery import app
from playground.live import notifications
from playground.models import Draft, Run, Scenario, Share
from playground.playback import sources
from playground.runtime import outage
from playground.serving import health, heartbeat
from playground.storage import store
from tests.playground.conftest import OWNER, STRANGER, connected
from tests.playground.outages import FULL, LOCKED, Lines, failing, of_postgresql, of_sqlite, started, writes
from tests.services.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_outage_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that another test let happen is remembered."""
    for outages in (outage.requests, sources.reads):
        outages._since = None
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Lines:
    """What is logged during a test."""
    lines = Lines()
    monkeypatch.setattr(outage, "log", lines)
    return lines


def test_the_api_answers_503_with_a_time_to_come_back(web: str) -> None:
    """In the form of every other error, and nothing is stored."""
    client = Client()
    made = client.post("/api/scenarios", {"bundle": web}, content_type="application/json").json()
    with failing(LOCKED):
        for answer in (
            client.get(f"/api/scenarios/{made['id']}"),
            client.post("/api/scenarios", {"bundle": web + "#"}, content_type="application/json"),
            client.post("/api/runs", {"scenario": made["id"]}, content_type="application/json"),
        ):
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
            [problem] = answer.json()["errors"]
            assert set(problem) == {"line", "path", "message"}
            assert "database does not respond" in problem["message"]
    assert (Scenario.objects.count(), Share.objects.count(), Run.objects.count()) == (1, 1, 0)


def test_a_full_disk_is_507_and_stores_nothing(owner: Client, web: str) -> None:
    """A bundle, a draft or a run is stored whole or not at all, and the page says what is the matter."""
    with failing(FULL, lambda sql: sql.startswith("INSERT") and "share" in sql):
        answer = owner.post("/api/scenarios", {"bundle": web}, content_type="application/json")
    assert (answer.status_code, answer.headers["Retry-After"]) == (507, "30")
    assert "disk is full" in answer.json()["errors"][0]["message"]
    with failing(FULL, writes):
        page = owner.post("/import/", {"text": web, "title": "t"})
        run = owner.post("/import/", {"text": web, "title": "t", "run": "1"})
    assert (page.status_code, run.status_code) == (507, 507)
    assert "disk is full" in page.content.decode() and page.headers["Retry-After"] == "30"
    assert not Scenario.objects.exists() and not Draft.objects.exists() and not Run.objects.exists()


def test_pages_answer_503_and_those_without_a_database_200(owner: Client) -> None:
    """The reference, the API's document and static files need none."""
    with failing(of_postgresql(psycopg.OperationalError)):
        page = owner.get("/runs/")
        assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
        assert "The database does not respond" in page.content.decode()
        for address in ("/healthz", "/reference/predicates/", "/api/openapi.json", "/static/css/base.css"):
            assert owner.get(address).status_code == 200, address
    assert owner.get("/runs/").status_code == 200


def test_a_defect_is_still_a_defect(owner: Client) -> None:
    """A missing table is 500, and logged as such."""
    owner.raise_request_exception = False
    with failing(of_sqlite(1, "no such table")):
        assert owner.get("/runs/").status_code == 500


def test_an_upload_that_fills_the_disk_is_507(owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Django writes a large file to the disk before any view is asked."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("django.http.request.HttpRequest.parse_file_upload", full)
    owner.raise_request_exception = False
    assert owner.post("/import/", {"text": "x"}).status_code == 507


def test_the_start_page_stores_nothing_that_it_needs(owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its demo is shared when it is first shown; where that fails, the page says that there is none now."""

    def full(*_: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("playground.storage.store.shared_by_nobody", full)
    page = owner.get("/")
    assert (page.status_code, page.context["miniature"]) == (200, "")


def test_ready_names_the_part_that_is_away(limits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database, also where it can be read and not written; the disk, once little of it is free."""
    heartbeat.beat("celery@here")
    assert Client().get("/readyz").status_code == 200
    with failing(LOCKED):
        answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["database"] == {"ok": False, "detail": "OperationalError"}
    limits(DISK_FREE_BYTES=2**60)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert [name for name, part in answer.json()["parts"].items() if not part["ok"]] == ["disk"]
    limits(DISK_FREE_BYTES=0)
    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda *_: False)  # of a disk that was mounted read-only
        detail = Client().get("/readyz").json()["parts"]["disk"]
    assert detail == {"ok": False, "detail": "the data folder cannot be written"}
    monkeypatch.setattr(health, "LOCK_SECONDS", 0)
    with sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = Client().get("/readyz")
        other.execute("ROLLBACK")
    assert answer.json()["parts"]["database"]["ok"] is False
    assert Client().get("/readyz").status_code == 200


async def test_open_steps_are_played_on_during_an_outage(web: str) -> None:
    """What is open needs no database; what needs one is reported when to come back, and stores nothing."""
    draft = await sync_to_async(store.create_draft)(OWNER, [("", web)], "t")
    source = {"draft": draft.pk}
    async with connected() as socket:
        opened = await socket.success("scenario.open", {"source": source})
        window = {"source": source, "from": 1, "count": 5}
        before = await socket.success("cycles.window", window)
        cycle = {"source": source, "step": "2", "parts": ["predicates"]}
        with failing(LOCKED):
            for _ in range(2):
                assert await socket.success("cycles.window", window) == before
                assert await socket.success("cycle.get", cycle)
                again = await socket.success("scenario.open", {"source": source})
                assert again["nodes"] == opened["nodes"]
            refused = await socket.error("draft.save", {"draft": draft.pk, "text": "x", "base": 1})
            assert (refused["code"], refused["retryAfter"]) == ("server.unavailable", 5)
            assert refused["part"] == "database"
            other = await socket.error("cycles.window", {**window, "source": {"scenario": "A" * 11}})
            assert other["code"] == "server.unavailable"
        saved = await socket.success("draft.save", {"draft": draft.pk, "text": "x", "base": 1})
        assert saved["revision"] == 2
    async with connected(STRANGER) as socket:
        with failing(LOCKED):
            assert (await socket.error("cycles.window", window))["code"] == "server.unavailable"


async def test_few_wait_for_a_database_that_has_been_away(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is not open, one command in two seconds asks; the others are reported at once."""
    row = await sync_to_async(store.create_draft)(OWNER, [("", web)], "t")
    ask = ("draft.watch", {"draft": row.pk})
    now = time.monotonic()
    monkeypatch.setattr(sources.reads, "_since", now - 60)
    monkeypatch.setattr(sources.reads, "_asked", now + 600)
    async with connected() as socket:
        assert (await socket.error(*ask))["code"] == "server.unavailable"
        monkeypatch.setattr(sources.reads, "_asked", now - 60)
        assert (await socket.success(*ask))["revision"] == 1
        assert not sources.reads.lasting


async def test_a_full_disk_is_reported_over_the_socket(web: str) -> None:
    """Reading goes on; what is saved is refused whole."""
    draft = await sync_to_async(store.create_draft)(OWNER, [("", web)], "t")
    async with connected() as socket:
        with failing(FULL, writes):
            refused = await socket.error("draft.save", {"draft": draft.pk, "text": "x", "base": 1})
            assert (refused["code"], refused["part"]) == ("server.unavailable", "disk")
            assert await socket.success("scenario.open", {"source": {"draft": draft.pk}})
    row = await Draft.objects.aget(pk=draft.pk)
    assert (row.revision, store.draft_files(row)) == (1, [("", web)])


async def test_watchers_hear_again_after_an_outage(lines: Lines) -> None:
    """The look at runs goes on through it, and logs it once."""
    run = await sync_to_async(started)()
    async with connected() as socket:
        await socket.success("run.watch", {"run": run.pk})
        await socket.push("run.changed")
        with failing(LOCKED):
            await asyncio.to_thread(
                wait_until, lambda: notifications.poller._outages.lasting, 60, "it is noticed"
            )
        await Run.objects.filter(pk=run.pk).aupdate(cycles=3)
        assert (await socket.push("run.changed"))["done"] == 3
    assert [text for text, values in lines.lines if values.get("what") == "looking at runs"] == [
        "outage began",
        "outage ended",
    ]
