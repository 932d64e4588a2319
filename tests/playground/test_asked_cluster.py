"""The audit on the server: rows as they come, kept, cancelled, over HTTP, and the branch that a row opens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from asgiref.sync import sync_to_async
from django.core.cache import cache
from django.test import Client

from playground.comparisons import questions
from playground.playback import sources
from playground.playback.answers import RecentAnswers
from playground.pool.gate import Gate
from playground.pool.pool import pool
from playground.pool.shares import Bounds
from playground.storage import store
from tests.bench.living_clusters import Size, text_of
from tests.core.audit.clusters import Document, budget, node, pod, workload
from tests.playground.conftest import OWNER, STRANGER, connected
from tests.playground.test_two_sources import shared

pytestmark = pytest.mark.django_db(transaction=True)

CROWDED = (node("n1"), node("n2"), workload("web", 6), budget("web", "web", minAvailable=4))
LARGE = Size(60, 10, 30)
SECONDS = 20.0


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


def text(*documents: Document) -> str:
    """Return a bundle."""
    return yaml.safe_dump_all(documents)


async def rows_of(name: str, *subjects: str) -> tuple[list[Any], list[Any]]:
    """Return the rows that are pushed, and those of the answer."""
    async with connected(OWNER) as socket:
        asked = {"source": {"scenario": name}, "subjects": [*subjects]}
        found = await socket.success("audit.get", asked)
        pushed = [frame[2]["row"] for frame in socket.pushed if frame[0] == "audit.row"]
    return pushed, found["rows"]


async def test_rows_come_one_by_one_and_are_kept(pooled: None) -> None:
    """Each is pushed once, in order, from the pool; who asks again, or over HTTP, gets the same at once."""
    name = await sync_to_async(shared)(text(*CROWDED))
    pushed, rows = await rows_of(name, "n+1", "drains")
    assert rows and pushed == rows
    assert {row["title"] for row in rows} == {"Drains", "N+1"}
    assert await rows_of(name, "n+1", "drains") == ([], rows)
    address = f"/api/scenarios/{name}/audit"
    answer = await sync_to_async(Client().get)(address, {"subject": "drains,n+1"})
    assert answer.json() == {"rows": rows}


async def test_a_draft_is_audited_for_its_owner_alone_and_again_once_it_is_saved() -> None:
    """The answer is that of a revision."""
    draft = await sync_to_async(store.create_draft)(OWNER, [("", text(node("n1"), pod("a", "1")))])
    asked = {"source": {"draft": draft.pk}, "subjects": ["pending"]}
    async with connected(OWNER) as owner, connected(STRANGER) as stranger:
        assert (await owner.success("audit.get", asked))["rows"][0]["verdict"] == "ok"
        assert (await stranger.error("audit.get", asked))["code"] == "source.not-found"
        await owner.success("draft.save", {"draft": draft.pk, "text": text(node("n1"), pod("a", "9"))})
        assert (await owner.success("audit.get", asked))["rows"][0]["verdict"] == "risk"


async def test_an_unknown_subject_is_refused_by_name() -> None:
    """Over the socket and over HTTP, with those that there are."""
    name = await sync_to_async(shared)(text(*CROWDED))
    async with connected(OWNER) as socket:
        error = await socket.error("audit.get", {"source": {"scenario": name}, "subjects": ["luck"]})
    assert (error["code"], error["field"]) == ("payload.invalid", "subjects") and "n+1" in error["message"]
    answer = await sync_to_async(Client().get)(f"/api/scenarios/{name}/audit", {"subject": "luck"})
    assert answer.status_code == 400 and "'luck'" in answer.json()["errors"][0]["message"]
    assert (await sync_to_async(Client().get)("/api/scenarios/nothing/audit")).status_code == 404


@pytest.mark.parametrize("how", ["cancel", "leave"])
async def test_who_gives_up_or_leaves_stops_the_audit(how: str, pooled: None) -> None:
    """Soon, with rows and progress before; the process is free for the next job."""
    name = await sync_to_async(shared)(text_of(LARGE))
    async with connected(OWNER) as socket:
        request = await socket.send("audit.get", {"source": {"scenario": name}})
        assert (await socket.push("audit.row"))["request"] == request
        while (await socket.push("request.progress"))["stage"] != "drains":
            pass
        if how == "cancel":
            await socket.success("request.cancel", {"request": request})
            assert (await socket.answer(request))[2]["code"] == "request.superseded"
    began = time.monotonic()
    while any(process.working for process in pool().processes):
        assert time.monotonic() - began < SECONDS
        await asyncio.sleep(0.05)


def test_only_so_many_requests_of_the_api_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more is refused at once, with when to try again."""
    full = Gate(1, Bounds(1, 1, 1))
    monkeypatch.setattr(questions, "_requests", lambda: full)
    address = f"/api/scenarios/{shared(text(*CROWDED))}/audit?subject=pending"
    with full.stay("somebody"):
        answer = Client().get(address)
    assert answer.status_code == 503 and answer.headers["Retry-After"]
    assert Client().get(address).status_code == 200


@pytest.mark.parametrize("subject", ["n+1", "drains", "drains under v1.11", "policy and release"])
async def test_a_row_opens_its_branch_at_the_step_that_decided(subject: str) -> None:
    """The branch is a draft of the visitor; its cycle at the row's step is about the row's pod."""
    documents = (
        [*CROWDED] if subject != "policy and release" else [*CROWDED[:2], pod("a", "2"), pod("b", "1")]
    )
    subject, _, release = subject.partition(" under ")
    if release:
        documents.append({"kind": "SimulationSettings", "scheduler": release})
    name = await sync_to_async(shared)(text(*documents))
    _, rows = await rows_of(name, subject)
    row = next(row for row in rows if row["verdict"] in ("risk", "note") and row["opens"]["pod"])
    async with connected(OWNER) as socket:
        asked = {"source": {"scenario": name}, "opens": row["opens"], "title": row["sentence"]}
        made = await socket.success("audit.branch", asked)
    assert made["title"] == row["sentence"]

    def decided() -> tuple[str, bool]:
        playback = sources.open_playback(sources.find({"draft": made["draft"]}, OWNER))
        index = playback.seek(row["opens"]["step"])
        assert index
        cycle = playback.cycle(index)
        return cycle.pod, cycle.node is None

    assert await sync_to_async(decided)() == (row["opens"]["pod"], row["verdict"] == "risk")


WRONG: dict[str, Any] = {
    "no opening": {"kind": 3},
    "another verb": {"kind": "verb", "verb": "set-image", "targets": ["deploy/web"]},
    "nothing": {"kind": "verb", "verb": "drain"},
    "too many": {"kind": "verb", "verb": "drain", "targets": ["n1"] * 201},
    "an unknown release": {"kind": "again", "value": "v9.9"},
    "a step": {"kind": "step", "step": "1.1"},
}


@pytest.mark.parametrize("case", WRONG)
async def test_only_what_a_row_opens_becomes_a_branch(case: str) -> None:
    """Anything else is refused, and stores nothing."""
    name = await sync_to_async(shared)(text(*CROWDED))
    async with connected(OWNER) as socket:
        error = await socket.error("audit.branch", {"source": {"scenario": name}, "opens": WRONG[case]})
        assert (error["code"], error["field"]) == ("payload.invalid", "opens")


async def test_an_unknown_node_has_no_branch() -> None:
    """The error names the nodes that there are."""
    name = await sync_to_async(shared)(text(*CROWDED))
    opens = {"kind": "verb", "verb": "drain", "targets": ["n9"], "second": 60}
    async with connected(OWNER) as socket:
        error = await socket.error("audit.branch", {"source": {"scenario": name}, "opens": opens})
    assert "there is no node 'n9'" in error["message"]


async def test_a_pasted_pod_is_counted() -> None:
    """Two fit; for four one more node is needed. What is no pod is refused with what is expected."""
    name = await sync_to_async(shared)(text(node("n1"), workload("web", 2)))
    async with connected(OWNER) as socket:
        asked = {"source": {"scenario": name}, "text": text(pod("batch", "1")), "replicas": 4}
        row = await socket.success("audit.capacity", asked)
        assert row["sentence"] == "2 more pods like default/batch fit."
        assert "a node like n1 (cpu 4, memory 64Gi): 1 more node" in row["evidence"]
        error = await socket.error("audit.capacity", {**asked, "text": text(node("n1"))})
        assert error["field"] == "text" and "a Pod or a Deployment" in error["message"]
        assert (await socket.error("audit.capacity", {**asked, "text": "}{"}))["code"] == "bundle.invalid"
