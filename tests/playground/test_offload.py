"""What is large is read and computed in the pool, never in the web process, and with the same answers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import Client

import scheduler_core
from playground.edits import worth
from playground.live import commands
from playground.models import Draft
from playground.playback.answers import RecentAnswers
from playground.playback.library import library
from playground.pool import offload, read_slots
from playground.pool.pool import pool
from playground.pool.shares import BusyError
from playground.storage import bundles
from playground.visitors import identity
from tests.playground import pool_jobs
from tests.playground.conftest import PATIENCE, Socket, connected
from tests.services.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

NODES = "---\n".join(
    f"apiVersion: v1\nkind: Node\nmetadata:\n  name: n{at:04d}\nstatus:\n"
    "  nodeInfo: {kubeletVersion: v1.11.10}\n  allocatable:\n    cpu: '4'\n    memory: 8Gi\n    pods: '110'\n"
    for at in range(700)
)
POD = (
    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n"
    "  - name: c\n    image: i\n    resources:\n      requests:\n        cpu: '1'\n"
)
LARGE = NODES + POD
MANY = "---\n".join(NODES.replace("n0", f"m{at}") for at in range(12))  # read for about half a second
ADDED = POD.replace("name: p\n", "name: q\n")
CHANGED = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n0001\nspec:\n  unschedulable: true\n"
UNCHANGED = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n0001\n"

Limit = Callable[..., None]


def _end_pool() -> None:
    if pool.cache_info().currsize:
        pool().close()
    pool.cache_clear()


@pytest.fixture
def pooled(limits: Limit, monkeypatch: pytest.MonkeyPatch) -> Iterator[Limit]:
    """A web process with a pool, in which nothing large can be read in the process itself."""
    monkeypatch.setattr(bundles, "last_read", bundles.LastRead())
    monkeypatch.setattr(worth, "answers", RecentAnswers(worth.ANSWERS_KEPT, worth.ANSWER_BYTES))
    load, load_documents = scheduler_core.load, scheduler_core.load_documents

    def small(given: Any, *args: Any, **kwargs: Any) -> Any:
        texts = [given] if isinstance(given, str) else [str(text) for _, text in given]
        assert not (offload.enabled() and offload.is_large(*texts)), "read in the web process"
        return load(given, *args, **kwargs)

    def few(given: Any, *args: Any, **kwargs: Any) -> Any:
        assert not offload.enabled() or len(given) < 500, "restored in the web process"
        return load_documents(given, *args, **kwargs)

    monkeypatch.setattr(bundles, "load", small)
    monkeypatch.setattr(bundles, "load_documents", few)
    _end_pool()
    limits(POOL_PROCESSES=2)
    yield limits
    _end_pool()


EDITS: dict[str, dict[str, str]] = {
    "bundle.check": {},
    "bundle.configure": {"what": "setting", "key": "cache", "value": "sound"},
    "bundle.add": {"documents": ADDED},
    "bundle.bulk": {"by": "names", "which": "n0001", "what": "cordon"},
    "bundle.verb": {"verb": "cordon", "targets": "n0001", "step": "1.1"},
    "bundle.operate": {"action": "delete", "target": "Pod default/p", "step": "1.1"},
    "bundle.amend": {"target": "Node n0001", "object": CHANGED, "base": UNCHANGED},
}


async def _edited(name: str) -> tuple[str, Any]:
    async with connected() as socket:
        kind, _, answer = await socket.answer(await socket.send(name, {"text": LARGE, **EDITS[name]}))
        return kind, answer


@pytest.mark.parametrize("name", EDITS)
async def test_an_edit_of_a_large_text_is_made_in_the_pool(name: str, pooled: Limit) -> None:
    """Its answer is the one that the threads give."""
    there = await _edited(name)
    assert there[0] == "success", there
    bundles.last_read = bundles.LastRead()
    pooled(POOL_PROCESSES=0)
    assert await _edited(name) == there


@pytest.mark.parametrize("name", ["bundle.amend", "bundle.check"])
async def test_what_is_wrong_comes_back_from_the_pool(name: str, pooled: Limit) -> None:
    """With the code, the text and the lines that the threads answer."""
    async with connected() as socket:
        if name == "bundle.check":
            answer = await socket.success(name, {"text": f"{LARGE}---\nkind: Node\n"})
            assert answer["errors"][0]["line"] == LARGE.count("\n") + 2
        else:
            error = await socket.error(name, {"text": LARGE, **EDITS[name], "target": "Node gone"})
            assert error["code"] == "object.not-found"


async def test_a_large_source_is_opened_and_used_without_being_read_here(pooled: Limit) -> None:
    """Opened, shared, forked, branched, run, copied and compared: each reading is the pool's."""
    async with connected() as socket:
        made = await socket.success("bundle.open", {"text": LARGE, "title": "large"})
        draft = {"draft": made["draft"]}
        assert made["summary"]["Node"] == 700
        for again in (False, True):
            if again:
                library.clear()
                bundles.last_read = bundles.LastRead()
            opened = await socket.success("scenario.open", {"source": draft})
            assert (opened["title"], len(opened["nodes"]["names"]), opened["cycles"]) == ("large", 700, 1)
        shared = await socket.success("draft.share", draft)
        scenario = {"scenario": shared["scenario"]}
        library.clear()
        opened = await socket.success("scenario.open", {"source": scenario})
        assert len(opened["nodes"]["names"]) == 700
        assert (await socket.success("worth.cost", {"source": scenario}))["rows"]
        for name, more in (
            ("scenario.fork", {}),
            ("branch.create", {"step": "1"}),
            ("run.start", {}),
            ("worth.copy", {"cache": "sound"}),
        ):
            assert await socket.success(name, {"source": scenario, **more})


@pytest.mark.usefixtures("pooled")
async def test_a_reading_in_the_pool_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its stages are pushed to who asked, under the number of the request."""
    monkeypatch.setattr(commands, "PROGRESS_SECONDS", 0.0)
    async with connected() as socket:
        asked = await socket.send("bundle.check", {"text": MANY})
        assert (await socket.answer(asked))[0] == "success"
    reported = [frame[2] for frame in socket.pushed if frame[0] == "request.progress"]
    assert {report["request"] for report in reported} == {asked}
    assert {"reading", "checking"} & {report["stage"] for report in reported}


async def _held(path: Any) -> Any:
    """Keep the only process of the pool busy until the file is there."""
    job = pool().submit("somebody", pool_jobs.held, str(path))
    await asyncio.to_thread(wait_until, job.future.running, PATIENCE, "the process is busy")
    return job


@pytest.mark.parametrize("name", ["bundle.check", "bundle.open"])
async def test_a_request_that_waits_for_the_pool_is_given_up(name: str, pooled: Limit, tmp_path: Any) -> None:
    """It is answered at once, its job is dropped, and nothing is stored."""
    pooled(POOL_PROCESSES=1)
    job = await _held(tmp_path / "go")
    async with connected() as socket:
        asked = await socket.send(name, {"text": LARGE})
        await asyncio.to_thread(wait_until, lambda: len(pool()._shares) == 1, PATIENCE, "the job waits")
        await socket.success("request.cancel", {"request": asked})
        assert (await socket.answer(asked))[2]["code"] == "request.superseded"
    assert not len(pool()._shares)
    (tmp_path / "go").touch()
    job.future.result(PATIENCE)
    assert not await Draft.objects.aexists()


async def test_a_check_ends_with_its_connection(pooled: Limit, tmp_path: Any) -> None:
    """A client that left keeps no job in the queue."""
    pooled(POOL_PROCESSES=1)
    await _held(tmp_path / "go")
    async with connected() as socket:
        await socket.send("bundle.check", {"text": LARGE})
        await asyncio.to_thread(wait_until, lambda: len(pool()._shares) == 1, PATIENCE, "the job waits")
    await asyncio.to_thread(wait_until, lambda: not len(pool()._shares), PATIENCE, "the job is dropped")
    (tmp_path / "go").touch()


async def test_only_who_asks_too_much_is_reported_to_wait(pooled: Limit, tmp_path: Any) -> None:
    """`server.busy` says when to come again; another visitor is answered."""
    pooled(POOL_PROCESSES=1, POOL_QUEUED_PER_VISITOR=1)
    await _held(tmp_path / "go")
    async with connected() as first, connected() as second, connected("another") as other:
        waiting = await first.send("bundle.check", {"text": LARGE})
        await asyncio.to_thread(wait_until, lambda: len(pool()._shares) == 1, PATIENCE, "the job waits")
        error = await second.error("bundle.check", {"text": LARGE})
        assert (error["code"], error["retryAfter"]) == ("server.busy", 5)
        asked = await other.send("bundle.check", {"text": LARGE})
        (tmp_path / "go").touch()
        for socket, request in ((other, asked), (first, waiting)):
            assert (await socket.answer(request))[0] == "success"


async def _killed(socket: Socket, name: str, payload: dict[str, Any]) -> dict[str, Any]:
    asked = await socket.send(name, payload)

    def pids() -> list[int]:
        return [one.pid for one in pool().processes if one.pid is not None and one.working]

    await asyncio.to_thread(wait_until, lambda: bool(pids()), PATIENCE, "the job runs", pause=0.01)
    for pid in pids():
        os.kill(pid, signal.SIGKILL)
    return (await socket.answer(asked))[2]


@pytest.mark.usefixtures("pooled")
async def test_a_killed_process_is_reported_to_who_waits_for_it() -> None:
    """As an error with a clear text; the next request is answered."""
    async with connected() as socket:
        error = await _killed(socket, "bundle.check", {"text": MANY})
        assert (error["code"], error["message"]) == (
            "server.error",
            "The process handling this request ended unexpectedly; try again.",
        )
        assert (await socket.success("bundle.check", {"text": LARGE}))["summary"]["Node"] == 700


async def test_what_takes_too_long_is_refused_as_too_large(pooled: Limit) -> None:
    """With the bound in the text."""
    pooled(POOL_SECONDS=0)
    async with connected() as socket:
        error = await socket.error("bundle.check", {"text": LARGE})
    assert (error["code"], error["message"]) == ("bundle.too-large", "This takes more than 0 seconds.")


@pytest.mark.usefixtures("pooled")
def test_the_api_and_the_start_page_read_in_the_pool(owner: Client) -> None:
    """Storing, sharing, cycles, costs, drafts, runs and an import, without reading here."""
    api = Client()
    kind = "application/json"
    made = api.post("/api/scenarios", {"bundle": LARGE}, kind)
    assert made.status_code == 201, made.content[:300]
    name = made.json()["id"]
    assert api.get(f"/api/scenarios/{name}/cycles").json()["total"] == 1
    assert api.get(f"/api/scenarios/{name}/costs").json()["rows"]
    assert api.get(f"/api/scenarios/{name}/divergence?cache=sound").status_code == 200
    assert api.post("/api/runs", {"scenario": name}, kind).status_code == 201
    draft = api.post("/api/drafts", {"bundle": LARGE}, kind).json()
    token = {"Authorization": f"Bearer {draft['token']}"}
    changed = api.patch(f"/api/drafts/{draft['id']}", {"bundle": LARGE + ADDED}, kind, headers=token)
    assert (changed.status_code, changed.json()["errors"]) == (200, [])
    assert api.post(f"/api/drafts/{draft['id']}/share", headers=token).status_code == 201
    recipe = {"seed": "1", "pools": [{"name": "a", "count": "600"}], "workloads": []}
    assert api.post("/api/generate", {**recipe}, kind).status_code in (200, 404)
    for run in ("", "1"):
        assert owner.post("/import/", {"text": LARGE, "run": run}).status_code == 302


def test_a_request_reads_while_another_waits_for_the_pool(pooled: Limit, web: str, tmp_path: Any) -> None:
    """Its place among the few that read is another's until the pool has read for it."""
    pooled(POOL_PROCESSES=1, ENGINE_THREADS=1)
    read_slots._readers.cache_clear()
    go = tmp_path / "go"
    pool().submit("somebody", pool_jobs.held, str(go))
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(Client().post, "/api/scenarios", {"bundle": LARGE}, "application/json")
        wait_until(lambda: len(pool()._shares) == 1, PATIENCE, "the job waits")
        assert Client().post("/api/scenarios", {"bundle": web}, "application/json").status_code == 201
        go.touch()
        assert waiting.result(PATIENCE).status_code == 201
    read_slots._readers.cache_clear()


def test_requests_read_by_visitor_in_turn(limits: Limit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for too many readings is refused at once, and nobody else is."""
    limits(ENGINE_THREADS=2, POOL_QUEUED_PER_VISITOR=1)
    monkeypatch.setattr(read_slots, "READING_SECONDS", 0.05)
    read_slots._readers.cache_clear()
    try:
        with identity.asked_by("a"), read_slots.reading():
            with pytest.raises(BusyError), read_slots.reading():
                pass
            with identity.asked_by("b"), read_slots.reading():
                pass
    finally:
        read_slots._readers.cache_clear()


@pytest.mark.usefixtures("pooled")
def test_a_large_body_is_read_in_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading JSON lets no other thread run: that of a large body is the pool's, wherever the call is."""
    given: list[int] = []
    loads = json.loads

    def noted(data: Any, *args: Any, **kwargs: Any) -> Any:
        given.append(len(data))
        return loads(data, *args, **kwargs)

    api, kind = Client(), "application/json"
    body = json.dumps({"bundle": LARGE, "title": " " * 300_000})
    draft = api.post("/api/drafts", {"bundle": POD}, kind).json()
    token = {"Authorization": f"Bearer {draft['token']}"}
    monkeypatch.setattr(json, "loads", noted)
    answers = [
        api.post("/api/scenarios", body, kind),
        api.patch(f"/api/drafts/{draft['id']}", body, kind, headers=token),
        api.post("/api/generate", json.dumps({"pools": [[]] * 300_000}), kind),
        api.post("/api/runs", "[" * 600_000, kind),
    ]
    monkeypatch.undo()
    assert [answer.status_code for answer in answers] == [201, 200, 413, 400]
    assert max(given, default=0) < offload.TEXT_BYTES * 2
