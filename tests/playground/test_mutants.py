"""A few bundles and frames of ``python -m tests.load abuse``: answered or refused, never a failure."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from playground.celery import app
from tests.load.corpus import starts
from tests.load.frames import commands, frame
from tests.load.mutants import mutant, written
from tests.playground.conftest import PATIENCE, connected

pytestmark = pytest.mark.django_db(transaction=True)

EACH = 12


@pytest.fixture(autouse=True)
def quick(limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is computed for long, and no worker takes a run."""
    limits(PODS=3_000, STEP_SECONDS=10, INTERACTIVE_SECONDS=5, INTERACTIVE_CYCLES=60)
    limits(API_WRITES_PER_MINUTE=10_000, API_READS_PER_MINUTE=10_000, FRAMES_PER_SECOND=10_000)
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


def test_the_same_seed_makes_the_same_bundle() -> None:
    """A defect is found again by its number; every bundle of the corpus is read."""
    assert written(mutant(7)) == written(mutant(7)) != written(mutant(8))
    assert len(starts()) > 100


@pytest.mark.parametrize("start", range(0, 5 * EACH, EACH))
def test_a_mutated_bundle_is_answered_in_words(start: int) -> None:
    """Shared or refused with its problems, and its first cycles too; an exception would be raised here."""
    client = Client()
    for seed in range(start, start + EACH):
        body = {"bundle": written(mutant(seed))}
        answer = client.post("/api/scenarios", body, "application/json")
        assert answer.status_code in {201, 400, 413, 422}, (seed, answer.content[:500])
        if answer.status_code != 201:
            assert all(problem["message"] for problem in answer.json()["errors"]), seed
            continue
        cycles = client.get(f"/api/scenarios/{answer.json()['id']}/cycles?count=10")
        assert cycles.status_code in {200, 422}, (seed, cycles.content[:500])


@pytest.mark.parametrize("start", [0, 1_000])
async def test_a_mutated_frame_is_answered(web: str, start: int) -> None:
    """Every command, with fields of their types and of others: never by ``server.error``."""
    async with connected() as socket:
        made = await socket.success("bundle.open", {"text": web, "title": "mine"})
        sources: list[dict[str, Any]] = [{"draft": made["draft"]}]
        for seed in range(start, start + len(commands())):
            text = frame(seed, sources)
            await socket.communicator.send_to(text_data=text)
            await socket.communicator.send_to(text_data=json.dumps(["session.hello", 10**6 + seed, {}]))
            async with asyncio.timeout(PATIENCE):
                while True:
                    kind, number, payload = json.loads(await socket.communicator.receive_from(PATIENCE))
                    assert kind != "error" or payload["code"] != "server.error", (seed, text[:500])
                    if number == 10**6 + seed:
                        break
