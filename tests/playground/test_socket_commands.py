"""What the commands of the socket answer, and to whom."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.celery import app
from playground.models import Draft, Run, Scenario
from playground.panels import steps
from playground.playback.library import library
from playground.playback.playback import Playback
from playground.playback.replay import Replays
from playground.tasks import run_simulation
from scheduler_core import load
from tests.playground.conftest import DATA, OWNER, PATIENCE, STRANGER, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs wait until the test computes them."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


async def draft(socket: Socket, text: str) -> dict[str, str]:
    opened = await socket.success("bundle.open", {"text": text, "title": "mine"})
    return {"draft": opened["draft"]}


async def shared(socket: Socket, text: str) -> dict[str, str]:
    source = await draft(socket, text)
    return {"scenario": (await socket.success("draft.share", source))["scenario"]}


async def test_opening_and_reading(web: str) -> None:
    """Open, marks, a window and a cycle of a draft, as whole frames."""
    local = Playback(load(web, title="mine"))
    local.advance(5)
    async with connected() as socket:
        source = await draft(socket, web)
        opened = await socket.success("scenario.open", {"source": source})
        assert opened == {
            "title": "mine",
            "about": "",
            "source": source,
            "revision": 1,
            "scenario": None,
            "nodes": local.tables.node_wire(),
            "pods": local.tables.pod_wire(),
            "cycles": 5,
            "complete": True,
            "expected": 5,
            "end": False,
            "timed": False,
            "release": "v1.11",
            "offered": "",
            "schedulers": {"design": "side-by-side", "views": False, "listed": []},
            "descheduler": None,
            "stopped": None,
            "policy": local.profile.summary(),
            "warnings": [],
            "summary": {"Node": 3, "Deployment": 1},
            "recorded": 0,
            "dump": False,
            "index": 0,
        }
        assert await socket.success("timeline.get", {"source": source, "from": 2, "to": 99}) == {
            "from": 2,
            "marks": local.trail.marks(2, 5),
        }
        window = await socket.success("cycles.window", {"source": source, "from": 3, "count": 2})
        assert window == json.loads(steps.window(local, 3, 2))
        parts = ["predicates", "priorities", "queue", "nodes"]
        for step in ("4", "1.4"):
            cycle = await socket.success("cycle.get", {"source": source, "step": step, "parts": parts})
            assert cycle == json.loads(json.dumps(steps.parts(local, 4, parts)))
        events = await socket.success("events.list", {"source": source, "to": 3, "count": 2})
        assert [event[0] for event in events["events"]] == [3, 2]
        assert events["more"] is True
        assert events["events"][0][1:3] == ["Normal", "Scheduled"]


@pytest.mark.parametrize(("step", "index"), [("3", 3), ("1.2", 2), ("99", 5), ("7.1", 5), ("0", 0)])
async def test_opening_at_a_step(web: str, step: str, index: int) -> None:
    """A link opens where it points, or at the end where it points beyond it."""
    async with connected() as socket:
        source = await draft(socket, web)
        assert (await socket.success("scenario.open", {"source": source, "step": step}))["index"] == index


async def test_steps_that_are_none(web: str) -> None:
    """A malformed step is refused, one beyond the end is out of range."""
    async with connected() as socket:
        source = await draft(socket, web)
        assert (await socket.error("scenario.open", {"source": source, "step": "<b>"}))[
            "code"
        ] == "payload.invalid"
        ask = {"source": source, "parts": []}
        assert (await socket.error("cycle.get", {**ask, "step": "x"}))["code"] == "payload.invalid"
        for step in ("0", "6", "2.1"):
            assert (await socket.error("cycle.get", {**ask, "step": step}))["code"] == "step.out-of-range"
        window = {"source": source, "from": 7, "count": 1}
        assert (await socket.error("cycles.window", window))["code"] == "step.out-of-range"
        unknown = {"source": source, "step": "1", "parts": ["secrets"]}
        assert (await socket.error("cycle.get", unknown))["code"] == "payload.invalid"


@pytest.mark.parametrize(("first", "to"), [(0, 0), (6, 6), (6, 99), (999_999_999, 999_999_999)])
async def test_marks_of_cycles_that_are_none_are_empty(web: str, first: int, to: int) -> None:
    """Before the first cycle and beyond the last one."""
    async with connected() as socket:
        source = await draft(socket, web)
        found = await socket.success("timeline.get", {"source": source, "from": first, "to": to})
        assert (found["marks"]["result"], found["marks"]["operations"]) == ("", [])


async def test_marks_are_asked_for_from_the_first_to_the_last(web: str) -> None:
    """The other way round is refused, naming the field."""
    async with connected() as socket:
        source = await draft(socket, web)
        refused = await socket.error("timeline.get", {"source": source, "from": 4, "to": 2})
        assert (refused["code"], refused["field"]) == ("payload.invalid", "from")


async def test_a_window_is_bounded(web: str, limits: Callable[..., None]) -> None:
    """However much is asked for, an answer holds so many cycles, marks and events."""
    limits(WINDOW_CYCLES=2, MARKS=3, EVENTS=1)
    async with connected() as socket:
        source = await draft(socket, web)
        await socket.success("scenario.open", {"source": source})
        window = await socket.success("cycles.window", {"source": source, "from": 1, "count": 100_000})
        marks = await socket.success("timeline.get", {"source": source, "from": 0, "to": 100_000})
        events = await socket.success("events.list", {"source": source, "to": 5, "count": 100_000})
        assert (len(window["cycles"]), len(marks["marks"]["pod"]), len(events["events"])) == (2, 3, 1)


async def test_the_timeline_grows_while_it_is_computed(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first slice does not hold is pushed, without gap or repetition."""
    original = Playback.advance
    monkeypatch.setattr(Playback, "advance", lambda self, _seconds: original(self, 0.0000001))
    async with connected() as socket:
        source = await draft(socket, web)
        opened = await socket.success("scenario.open", {"source": source})
        seen, complete = opened["cycles"], opened["complete"]
        while not complete:
            grown = await socket.push("timeline.grew")
            assert grown["source"] == {**source, "revision": 1}
            assert grown["from"] == seen + 1
            seen += len(grown["marks"]["pod"])
            assert grown["cycles"] == seen
            complete = grown["complete"]
        assert seen == 5


async def test_a_playback_that_was_displaced_is_made_anew(web: str) -> None:
    """A client need not know that the server forgot what it had computed."""
    async with connected() as socket:
        source = await draft(socket, web)
        await socket.success("scenario.open", {"source": source})
        library.clear()
        assert (await socket.success("cycle.get", {"source": source, "step": "1.4", "parts": []}))[
            "index"
        ] == 4
        library.clear()
        window = await socket.success("cycles.window", {"source": source, "from": 3, "count": 2})
        assert [light["index"] for light in window["cycles"]] == [3, 4]
        library.clear()
        assert (await socket.success("timeline.get", {"source": source, "from": 1, "to": 5}))["marks"][
            "result"
        ] == "sssuu"
        library.clear()
        assert (await socket.success("events.list", {"source": source, "to": 5, "count": 1}))["events"][0][
            0
        ] == 5


async def test_scrubbing_answers_the_newest_only(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many cycles asked for at once, those not begun are given up and said to be."""
    entered, go = threading.Event(), threading.Event()
    original = Replays._decide

    def slow(self: Replays, *asked: Any) -> Any:
        entered.set()
        go.wait(PATIENCE)
        return original(self, *asked)

    async with connected() as socket:
        source = await draft(socket, web)
        await socket.success("scenario.open", {"source": source})
        monkeypatch.setattr(Replays, "_decide", slow)
        ask = {"source": source, "parts": ["queue"]}
        requests = [await socket.send("cycle.get", {**ask, "step": "1"})]
        await asyncio.to_thread(entered.wait, PATIENCE)
        requests += [await socket.send("cycle.get", {**ask, "step": str(step)}) for step in (2, 3, 4, 5)]
        await socket.success("session.hello", {})
        go.set()
        answers = [await socket.answer(request) for request in requests]
    assert [answer[0] for answer in answers] == ["success", "error", "error", "error", "success"]
    assert {answer[2]["code"] for answer in answers[1:4]} == {"request.superseded"}
    assert answers[4][2]["index"] == 5


async def test_whatever_its_size_a_cluster_opens(web: str, limits: Callable[..., None]) -> None:
    """Beyond what one request may compute the tables and cycles still come, and a run can be started."""
    limits(INTERACTIVE_WORK=10)
    async with connected() as socket:
        source = await draft(socket, web)
        opened = await socket.success("scenario.open", {"source": source})
        assert opened["nodes"]["names"] == ["n1", "n2", "n3"]
        window = await socket.success("cycles.window", {"source": source, "from": 1, "count": 2})
        assert [light["index"] for light in window["cycles"]] == [1, 2]
        assert (await socket.success("run.start", {"source": source}))["url"].startswith("/runs/")


async def test_checking_stores_nothing(web: str) -> None:
    """Errors carry their line; a good text its summary."""
    async with connected("") as socket:
        good = await socket.success("bundle.check", {"text": web})
        assert good == {"errors": [], "warnings": [], "summary": {"Node": 3, "Deployment": 1}}
        bad = await socket.success(
            "bundle.check", {"text": "apiVersion: v1\nkind: Node\nmetadata: {nam: x}\n"}
        )
        assert bad["errors"] and bad["errors"][0]["line"]
    assert not await Draft.objects.aexists()


async def test_a_text_with_errors_is_not_opened() -> None:
    """All errors come at once."""
    async with connected() as socket:
        error = await socket.error("bundle.open", {"text": "kind: [\n"})
        assert error["code"] == "bundle.invalid"
        assert error["errors"]


async def test_a_draft_is_its_owners(web: str) -> None:
    """To a stranger it is not there, whatever is asked of it."""
    async with connected() as mine, connected(STRANGER) as other:
        source = await draft(mine, web)
        name = source["draft"]
        for command, payload in (
            ("scenario.open", {"source": source}),
            ("scenario.fork", {"source": source}),
            ("cycles.window", {"source": source, "from": 1, "count": 1}),
            ("run.start", {"source": source}),
            ("draft.save", {"draft": name, "text": "mine now"}),
            ("draft.share", {"draft": name}),
        ):
            assert (await other.error(command, payload))["code"] == "source.not-found"
        assert (await mine.success("draft.save", {"draft": name, "text": "kind: [", "title": "broken"})) == {
            "revision": 2
        }
        assert (await mine.error("scenario.open", {"source": source}))["code"] == "bundle.invalid"
        assert (await mine.error("draft.share", source))["code"] == "bundle.invalid"


async def test_saving_is_seen_by_the_next_opening(web: str) -> None:
    """A saved draft is another source, not the kept playback of the old one."""
    async with connected() as socket:
        source = await draft(socket, web)
        assert (await socket.success("scenario.open", {"source": source}))["cycles"] == 5
        await socket.success("draft.save", {**source, "text": web.replace("replicas: 5", "replicas: 2")})
        assert (await socket.success("scenario.open", {"source": source}))["cycles"] == 2


async def test_sharing_and_forking(web: str) -> None:
    """Whoever has the link sees the same, and can make it their own."""
    async with connected() as mine, connected(STRANGER) as other, connected("") as nobody:
        source = await draft(mine, web)
        reported = await mine.success("draft.share", {**source, "step": "1.3", "tab": "queue"})
        assert reported["url"] == f"/s/{reported['scenario']}/?step=1.3&tab=queue"
        assert len(reported["deleteToken"]) > 20
        link = {"scenario": reported["scenario"]}
        opened = [
            await socket.success("scenario.open", {"source": link, "step": "1.3"})
            for socket in (mine, other, nobody)
        ]
        assert opened[0] == opened[1] == opened[2]
        assert (opened[0]["scenario"], opened[0]["index"]) == (reported["scenario"], 3)
        assert (await nobody.error("scenario.fork", {"source": link}))["code"] == "permission.denied"
        forked = await other.success("scenario.fork", {"source": link})
        copy = await other.success("scenario.open", {"source": {"draft": forked["draft"]}})
        assert copy["pods"] == opened[0]["pods"]
        assert (await mine.error("scenario.open", {"source": {"draft": forked["draft"]}}))[
            "code"
        ] == "source.not-found"
        again = await mine.success("draft.share", source)
        assert again["scenario"] == reported["scenario"]
        assert again["deleteToken"] != reported["deleteToken"]
    assert await Scenario.objects.acount() == 1


async def test_a_run_from_start_to_end() -> None:
    """Watchers are mentioned each change; the run opens like any other source."""
    async with connected() as mine, connected(STRANGER) as other:
        source = await shared(mine, (DATA / "preempt.yaml").read_text())
        started = await mine.success("run.start", {"source": source})
        run = {"run": started["run"]}
        watched = await mine.success("run.watch", run)
        assert (watched["state"], watched["mine"], watched["total"]) == ("queued", True, 3)
        assert watched["scenario"] == source["scenario"]
        assert (await other.success("run.watch", run))["mine"] is False
        assert (await other.error("run.cancel", run))["code"] == "permission.denied"
        opened = await other.success("scenario.open", {"source": run})
        assert (opened["cycles"], opened["complete"]) == (0, False)
        await sync_to_async(run_simulation)(started["run"])
        for socket in (mine, other):
            while (changed := await socket.push("run.changed"))["state"] != "done":
                pass
            assert (changed["done"], changed["placed"]) == (5, 2)
        while not (grown := await other.push("timeline.grew"))["complete"]:
            pass
        assert (grown["source"], grown["cycles"]) == (run, 5)
        window = await other.success("cycles.window", {"source": run, "from": 5, "count": 1})
        assert window["cycles"][0]["step"] == "3.1"
        assert await mine.success("run.unwatch", run) == {}


async def test_cancelling_a_queued_run() -> None:
    """Its starter cancels it at once."""
    async with connected() as socket:
        source = await draft(socket, (DATA / "web.yaml").read_text())
        started = await socket.success("run.start", {"source": source})
        assert (await socket.success("run.cancel", {"run": started["run"]}))["state"] == "cancelled"
    assert (await Run.objects.aget()).owner == OWNER


async def test_a_run_with_a_configuration_that_is_none(web: str) -> None:
    """The field is named."""
    async with connected() as socket:
        source = await draft(socket, web)
        error = await socket.error("run.start", {"source": source, "config": {"speed": "fast"}})
        assert (error["code"], error["field"]) == ("payload.invalid", "config")


async def test_imports_of_an_address_are_bounded(web: str, limits: Callable[..., None]) -> None:
    """What makes the server read and store is counted across connections and visitors."""
    limits(IMPORTS_PER_MINUTE=2)
    async with connected() as mine, connected(STRANGER) as other:
        source = await draft(mine, web)
        await mine.success("scenario.fork", {"source": source})
        error = await other.error("bundle.open", {"text": web})
        assert error["code"] == "rate.limited"
        assert 1 <= error["retryAfter"] <= 61


async def test_runs_of_a_visitor_are_bounded(web: str, limits: Callable[..., None]) -> None:
    """The answer says when to try again."""
    limits(RUNS_PER_OWNER=0)
    async with connected() as socket:
        source = await draft(socket, web)
        error = await socket.error("run.start", {"source": source})
        assert (error["code"], error["retryAfter"]) == ("rate.limited", 30)
