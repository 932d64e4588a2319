"""Large sources open at once, tell how far they are read and computed, and stop when they are given up."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

import scheduler_core
from playground.live import commands
from playground.live.modules import scenarios
from playground.models import Draft
from playground.playback.executor import parsing
from playground.playback.library import library
from playground.playback.playback import Playback
from playground.playback.trail import Trail
from playground.storage import bundles
from playground.views import imports
from playground.visitors import identity
from tests.playground.conftest import OWNER, PATIENCE, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

TICKET = "12-345-6789-1"
NODES = "---\n".join(
    f"apiVersion: v1\nkind: Node\nmetadata:\n  name: n{at:04d}\nstatus:\n"
    "  allocatable:\n    cpu: '4'\n    memory: 8Gi\n    pods: '110'\n"
    for at in range(2_500)
)


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test has read is not at hand."""
    monkeypatch.setattr(bundles, "last_read", bundles.LastRead())


@pytest.fixture
def every_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every report is pushed, not a few a second: these texts are not that long."""
    monkeypatch.setattr(commands, "PROGRESS_SECONDS", 0.0)


async def draft(socket: Socket, text: str) -> dict[str, str]:
    return {"draft": (await socket.success("bundle.open", {"text": text}))["draft"]}


async def test_a_step_that_is_not_computed_yet_keeps_no_cluster_back(
    web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables come at once, the step's index when it is computed; one beyond the end leads to the last."""
    monkeypatch.setattr(scenarios, "STEP_SECONDS", 0.0)
    computing = threading.Event()
    advance = Playback.advance

    def slowly(self: Playback, seconds: float) -> bool:
        return advance(self, seconds) if computing.is_set() else True

    monkeypatch.setattr(Playback, "advance", slowly)
    async with connected() as socket:
        source = await draft(socket, web)
        opened = await socket.success("scenario.open", {"source": source, "step": "4"})
        assert (opened["index"], opened["complete"], opened["expected"]) == (None, False, 5)
        assert opened["nodes"]["names"] == ["n1", "n2", "n3"]
        asked = await socket.send("step.locate", {"source": source, "step": "4"})
        await socket.success("session.hello", {})  # it is answered although the other waits
        computing.set()
        assert (await socket.answer(asked))[2] == {"index": 4}
        for step, index in (("1.2", 2), ("99", 5)):
            assert await socket.success("step.locate", {"source": source, "step": step}) == {"index": index}
        error = await socket.error("step.locate", {"source": source, "step": "soon"})
        assert (error["code"], error["field"]) == ("payload.invalid", "step")


async def test_waiting_for_a_step_is_given_up(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is answered at once, and nothing is computed for it any more."""
    monkeypatch.setattr(Playback, "advance", lambda _self, _seconds: True)
    monkeypatch.setattr(scenarios, "STEP_SECONDS", 0.0)
    async with connected() as socket:
        source = await draft(socket, web)
        asked = await socket.send("step.locate", {"source": source, "step": "4"})
        assert await socket.success("request.cancel", {"request": asked}) == {}
        assert (await socket.answer(asked))[2]["code"] == "request.superseded"
        assert await socket.success("request.cancel", {"request": 987_654}) == {}


@pytest.mark.usefixtures("every_report")
async def test_reading_tells_how_far_it_is() -> None:
    """Checking a text and opening its draft push every stage to who asked."""
    async with connected() as socket:
        await socket.success("bundle.check", {"text": NODES})
        stages = {frame[2]["stage"] for frame in socket.pushed if frame[0] == "request.progress"}
        assert stages == {"reading", "checking", "assembling"}
        assert {frame[2]["request"] for frame in socket.pushed} == {1}
        source = await draft(socket, NODES.replace("n0", "m0"))
        library.clear()
        bundles.last_read = bundles.LastRead()
        socket.pushed.clear()
        asked = await socket.send("scenario.open", {"source": source})
        assert (await socket.answer(asked))[0] == "success"
        assert {frame[2]["request"] for frame in socket.pushed if frame[0] == "request.progress"} == {asked}


@pytest.mark.usefixtures("every_report")
@pytest.mark.parametrize("name", ["bundle.check", "bundle.open"])
async def test_a_reading_is_stopped_and_stores_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given up ends while it is read, and no draft is made."""
    begun, go = threading.Event(), threading.Event()
    load = scheduler_core.load

    def held(*args: Any, **kwargs: Any) -> Any:
        begun.set()
        go.wait(PATIENCE)
        return load(*args, **kwargs)

    monkeypatch.setattr("playground.storage.bundles.load", held)
    async with connected() as socket:
        asked = await socket.send(name, {"text": NODES})
        await asyncio.to_thread(begun.wait, PATIENCE)
        await socket.success("request.cancel", {"request": asked})
        go.set()
        assert (await socket.answer(asked))[2]["code"] == "request.superseded"
        assert not socket.pushed
    assert not await Draft.objects.aexists()


async def test_nobodys_step_waits_for_a_reading(web: str) -> None:
    """While every parsing thread is busy, cycles of what is open are answered."""
    go = threading.Event()
    async with connected() as socket:
        source = await draft(socket, web)
        busy = [parsing().submit(go.wait, PATIENCE) for _ in range(8)]
        try:
            cycle = await socket.success("cycle.get", {"source": source, "step": "2", "parts": ["queue"]})
            assert cycle["index"] == 2
        finally:
            go.set()
        assert all(one.result() for one in busy)


async def test_what_was_checked_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checking, opening and playing the same large text reads it once; another title is another title."""
    reads = 0
    load = scheduler_core.load

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal reads
        reads += 1
        return load(*args, **kwargs)

    monkeypatch.setattr("playground.storage.bundles.load", counted)
    async with connected() as socket:
        await socket.success("bundle.check", {"text": NODES})
        opened = await socket.success("bundle.open", {"text": NODES, "title": "again"})
        answer = await socket.success("scenario.open", {"source": {"draft": opened["draft"]}})
        assert (answer["title"], len(answer["nodes"]["names"]), reads) == ("again", 2_500, 1)
    assert bundles.parse([("", NODES)], "other").title == "other"
    assert bundles.parse([("", NODES)], times="ignore").title == ""
    assert reads == 2


def test_what_was_read_is_kept_for_a_while_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest goes, and what nobody asked for in a while."""
    texts = [NODES.replace("n0", f"{letter}0") for letter in "abc"]
    made = [bundles.parse([("", text)]) for text in texts]
    found = [bundles.last_read.find(bundles.content_key([("", text)], "keep")) for text in texts]
    assert found == [None, *made[1:]]
    monkeypatch.setattr(bundles, "KEPT_SECONDS", -1.0)
    assert bundles.last_read.find(bundles.content_key([("", texts[2])], "keep")) is None


def test_a_large_text_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for what was read, and keeping what is read then, share one digest of the text."""
    digests: list[bytes] = []
    sha256 = hashlib.sha256

    def counted(data: bytes) -> Any:
        digests.append(data)
        return sha256(data)

    monkeypatch.setattr(hashlib, "sha256", counted)
    bundles.parse([("", NODES)])
    assert len(digests) == 1


def test_an_import_tells_its_visitor_how_far_it_is(
    owner: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the form's ticket; to others there is nothing to see."""
    monkeypatch.setattr(imports, "PROGRESS_SECONDS", -1.0)
    assert owner.get(f"/import/{TICKET}/").json() == {}
    assert owner.post("/import/", {"text": NODES, "ticket": TICKET}).status_code == 302
    assert owner.get(f"/import/{TICKET}/").json() == {"stage": "assembling", "done": 1, "of": 1}
    assert stranger.get(f"/import/{TICKET}/").json() == {}
    assert owner.get("/import/no-ticket/").status_code == 404


def test_an_import_is_stopped_by_its_visitor_only(owner: Client, stranger: Client) -> None:
    """Nothing is stored of one that was stopped; a stranger's wish stops nothing."""
    assert stranger.delete(f"/import/{TICKET}/").status_code == 204
    assert owner.post("/import/", {"text": NODES, "ticket": TICKET}).status_code == 302
    assert owner.delete(f"/import/{TICKET}/").status_code == 204
    before = Draft.objects.count()
    assert owner.post("/import/", {"text": NODES, "ticket": TICKET}).status_code == 409
    assert Draft.objects.count() == before


def test_stopping_needs_the_forms_token() -> None:
    """Another site cannot stop an import in a visitor's name."""
    client = Client(enforce_csrf_checks=True)
    client.cookies["podstep_visitor"] = identity.sign(OWNER)
    assert client.delete(f"/import/{TICKET}/").status_code == 403


def test_who_gives_up_making_a_playback_leaves_it_to_who_waits(web: str) -> None:
    """The one who waited makes it, and it is in the library for those who come."""
    begun, go = threading.Event(), threading.Event()
    made: list[Playback] = []

    def given_up() -> Playback:
        begun.set()
        go.wait(PATIENCE)
        raise RuntimeError("given up")

    def first() -> None:
        with pytest.raises(RuntimeError):
            library.open("key", given_up)

    def second() -> None:
        made.append(library.open("key", lambda: Playback(bundles.parse([("", web)]))))

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    begun.wait(PATIENCE)
    threads[1].start()
    go.set()
    for thread in threads:
        thread.join(PATIENCE)
    entry = library.entry("key")
    assert entry is not None
    assert entry.playback is made[0]


def test_time_that_others_take_is_not_counted(
    web: str, limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seconds of interactive computing are those of computing, however busy the machine is."""
    limits(INTERACTIVE_SECONDS=1)
    append = Trail.append

    def waiting(self: Trail, *args: Any) -> Any:
        time.sleep(0.4)
        return append(self, *args)

    monkeypatch.setattr(Trail, "append", waiting)
    playback = Playback(bundles.parse([("", web)]))
    while playback.advance(0.05):
        pass
    assert (playback.stopped, len(playback)) == (None, 5)
