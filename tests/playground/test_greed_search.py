"""A search of the price of greed is no part of a request: its progress, its end, and who is not slowed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.cache import cache
from django.test import Client

from playground.comparisons import greed, questions
from playground.playback.answers import RecentAnswers
from playground.pool import offload
from playground.pool.gate import Gate
from playground.pool.pool import pool
from playground.pool.shares import BUSY, Bounds
from playground.storage import store
from tests.core.compare.test_greed import GREEDY, SETTINGS, pod
from tests.playground.conftest import OWNER, STRANGER, connected
from tests.playground.test_two_sources import shared

pytestmark = pytest.mark.django_db(transaction=True)

NODES = "\n---\n".join(
    f"{{kind: Node, apiVersion: v1, metadata: {{name: n{n}}}, status: {{allocatable: "
    f"{{cpu: '16', memory: 64Gi, pods: '110'}}}}}}"
    for n in range(60)
)
HARD = "\n---\n".join((SETTINGS, NODES, *(pod(f"p{n}", f"{300 + 37 * n % 2900}m") for n in range(260))))
LONG = {"objectives": ["fragmentation"], "seconds": greed.MOST_SECONDS}
SECONDS = 15.0  # far less than the search would take
STEP_SECONDS = 15.0  # what waits for a search waits for its 20


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer of another test."""
    monkeypatch.setattr(questions, "answers", RecentAnswers(4, 2**20))
    cache.clear()


@pytest.fixture
def pooled(limits: Callable[..., None]) -> Iterator[None]:
    """A web process with a pool of two."""
    _end_pool()
    limits(POOL_PROCESSES=2)
    yield
    _end_pool()


def _end_pool() -> None:
    if pool.cache_info().currsize:
        pool().close()
    pool.cache_clear()


def _computing() -> bool:
    return any(process.working for process in pool().processes)


async def _until(true: Callable[[], bool], seconds: float = SECONDS) -> float:
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < seconds
        await asyncio.sleep(0.05)
    return time.monotonic() - began


def test_the_page_computes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the search asked for over the socket, and offers the API without a script."""

    def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("computed in the request")

    monkeypatch.setattr(greed, "computed", forbidden)
    monkeypatch.setattr(offload, "compute", forbidden)
    name = shared(GREEDY)
    text = Client().get("/greed/", {"of": name, "step": "1", "seconds": "3"}).content.decode()
    assert "data-searching" in text and "data-lost" not in text and 'id="proof-title"' not in text
    assert f"/api/optimum?of={name}&amp;step=1&amp;seconds=3&amp;objective=most-pods" in text
    assert "data-lost" in Client().get("/greed/", {"of": name, "ready": "1"}).content.decode()


async def test_a_search_over_the_socket_is_kept_for_its_address() -> None:
    """Whoever opens the address then sees the answer, in another process by the shared cache."""
    name = await sync_to_async(shared)(GREEDY)
    asked = {"of": name, "objective": "most-pods", "seconds": "2", "step": "0"}
    async with connected(OWNER) as socket:
        payload = {"source": {"scenario": name}, "objectives": ["most-pods"], "seconds": 2}
        found = await socket.success("optimum.get", payload)
        assert found["optimum"]["proofs"][0]["value"] == 3
        error = await socket.error("optimum.get", {**payload, "step": 99})
        assert (error["code"], error["field"]) == ("payload.invalid", "step")
        assert "run ends after 3 cycles" in error["message"]
        for wrong in ({"seconds": 21}, {"objectives": ["cheapest"]}, {"move": "perhaps"}):
            assert (await socket.error("optimum.get", {**payload, **wrong}))["code"] == "payload.invalid"
    page = await sync_to_async(Client().get)("/greed/", asked)
    assert b'id="proof-title"' in page.content
    questions.answers = RecentAnswers(1, 10_000_000)
    page = await sync_to_async(Client().get)("/greed/", asked)
    assert b'id="proof-title"' in page.content


async def test_a_draft_is_searched_for_its_owner_alone_and_again_once_it_is_saved() -> None:
    """The answer is that of a revision."""
    draft = await sync_to_async(store.create_draft)(OWNER, [("", GREEDY)])
    payload = {"source": {"draft": draft.pk}, "seconds": 1}
    async with connected(OWNER) as owner, connected(STRANGER) as stranger:
        assert (await owner.success("optimum.get", payload))["pending"] == 3
        assert (await stranger.error("optimum.get", payload))["code"] == "source.not-found"
        text = GREEDY + "\n---\n" + pod("more", "1")
        await owner.success("draft.save", {"draft": draft.pk, "text": text})
        assert (await owner.success("optimum.get", payload))["pending"] == 4


@pytest.mark.parametrize("how", ["cancel", "leave"])
async def test_who_gives_up_or_leaves_stops_the_search(how: str, pooled: None) -> None:
    """Soon, with progress before; the process is free for the next job."""
    name = await sync_to_async(shared)(HARD)
    async with connected(OWNER) as socket:
        request = await socket.send("optimum.get", {"source": {"scenario": name}, **LONG})
        while (report := await socket.push("request.progress"))["stage"] != "searching":
            pass
        assert report["request"] == request and report["of"] == 1000 * greed.MOST_SECONDS
        assert _computing()
        if how == "cancel":
            await socket.success("request.cancel", {"request": request})
            assert (await socket.answer(request))[2]["code"] == "request.superseded"
    await _until(lambda: not _computing())


async def test_another_visitors_steps_are_not_slowed_by_a_search(pooled: None) -> None:
    """A search, and another that waits for it, leave the web process and a process of the pool to others."""
    name = await sync_to_async(shared)(HARD)
    async with connected(OWNER) as one, connected(STRANGER) as two, connected("visitor-of-steps") as other:
        source = {"scenario": name}
        await other.success("scenario.open", {"source": source})
        await one.send("optimum.get", {"source": source, **LONG})
        while (await one.push("request.progress"))["stage"] != "searching":
            pass
        await two.send("optimum.get", {"source": source, **LONG})
        took = []
        for index in range(1, 16):
            began = time.monotonic()
            asked = {"source": source, "step": str(index), "parts": ["predicates"]}
            await other.success("cycle.get", asked)
            took.append(time.monotonic() - began)
        assert max(took) < STEP_SECONDS, took
        assert _computing()


def test_only_so_many_requests_of_the_api_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more is refused at once, with when to try again."""
    full = Gate(1, Bounds(1, 1, 1))
    monkeypatch.setattr(questions, "_requests", lambda: full)
    with full.stay("somebody"):
        answer = Client().get("/api/optimum", {"of": shared(GREEDY)})
    assert answer.status_code == 503 and answer.headers["Retry-After"]
    assert answer.json()["errors"][0]["message"] != BUSY
    assert Client().get("/api/optimum", {"of": shared(GREEDY)}).status_code == 200
