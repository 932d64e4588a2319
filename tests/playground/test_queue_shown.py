"""A visitor sees where a run is in the queue: on its page, in the list, over HTTP, and as it moves up."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from playground.celery import app
from playground.live import notifications
from playground.models import Run
from playground.runs import compute, fairness, service
from playground.storage import bundles
from playground.tasks import run_simulation
from tests.playground.conftest import DATA, OWNER, STRANGER, connected

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nobody_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is started waits."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


def queued(owner: str, address: str) -> Run:
    scenario = bundles.parse([("", (DATA / "preempt.yaml").read_text())], "history")
    run, _ = service.start(scenario, owner, address)
    return run


def test_the_page_and_the_list_say_it(owner: Client) -> None:
    """Without JavaScript, too; a run that is not queued has no position."""
    theirs, ours = queued(STRANGER, "2.2.2.2"), queued(OWNER, "1.1.1.1")
    for address in (f"/runs/{ours.pk}/", "/runs/"):
        assert "2nd in the queue" in owner.get(address).content.decode(), address
    assert owner.get(f"/api/runs/{theirs.pk}").json()["position"] == 1
    assert compute.claim_run(theirs.pk)
    assert owner.get(f"/api/runs/{theirs.pk}").json()["position"] is None
    assert "1st in the queue" in owner.get(f"/runs/{ours.pk}/").content.decode()
    assert compute.claim_run(ours.pk)
    assert "in the queue" not in owner.get(f"/runs/{ours.pk}/").content.decode()
    assert "in the queue" not in owner.get("/runs/").content.decode()


async def test_who_watches_is_reported_as_it_moves_up() -> None:
    """A run that starts moves the ones behind it, with nothing in their rows changed."""
    first = await sync_to_async(queued)(STRANGER, "2.2.2.2")
    second = await sync_to_async(queued)(OWNER, "1.1.1.1")
    async with connected() as socket:
        assert (await socket.success("run.watch", {"run": second.pk}))["position"] == 2
        assert (await socket.push("run.changed"))["position"] == 2
        await sync_to_async(compute.claim_run)(first.pk)
        assert (await socket.push("run.changed"))["position"] == 1
        await sync_to_async(run_simulation)(second.pk, second.queue)
        reported = await socket.push("run.changed")
        assert (reported["state"], reported["position"]) in {("running", None), ("done", None)}


async def test_the_queue_is_read_once_for_all_who_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many who wait cost one look, and those who watch runs that do not wait cost none."""
    runs = [await sync_to_async(queued)(f"visitor-{number}", f"10.0.0.{number}") for number in range(3)]
    looks: list[int] = []
    look = fairness.positions

    def counted() -> Any:
        looks.append(1)
        return look()

    monkeypatch.setattr(fairness, "positions", counted)
    monkeypatch.setattr(notifications, "POLL_SECONDS", 600.0)  # this test looks itself
    async with connected() as socket, connected(STRANGER) as other:
        for run in runs:
            await socket.success("run.watch", {"run": run.pk})
            await other.success("run.watch", {"run": run.pk})
        looks.clear()
        await notifications.poller.look()
        reported = [(await one.push("run.changed"))["position"] for one in (socket, other) for _ in runs]
        assert sorted(reported) == [1, 1, 2, 2, 3, 3]
        assert len(looks) == 1
        await sync_to_async(Run.objects.update)(state="running")
        await notifications.poller.look()
        assert len(looks) == 1
