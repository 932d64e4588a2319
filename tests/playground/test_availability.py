"""The workloads over time: in a playback, over HTTP, and of a run that a worker computed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from playground.celery import app
from playground.playback import over_time, sources
from playground.playback.playback import Playback
from playground.runs import figures
from playground.storage import store
from playground.tasks import run_simulation
from scheduler_core import load
from scheduler_core.kubernetes.plain import plain
from scheduler_core.run import simulate
from tests.playground.conftest import connected
from tests.playground.test_api import api, create, post  # noqa: F401 - a fixture
from tests.playground.test_socket_commands import draft
from tests.playground.test_virtual_time import example_text, played

FAILS = example_text("node-fails")


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs wait until the test computes them."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)


def by_itself(text: str) -> Any:
    """Return what the engine says of a whole run."""
    simulation = simulate(load(text), trace=False)
    for _ in simulation:
        pass
    return plain(simulation.availability())


@pytest.mark.django_db(transaction=True)
async def test_over_the_socket() -> None:
    """With how many cycles it covers; null where no time passes."""
    async with connected() as socket:
        for text in (FAILS, example_text("first-cycle")):
            source = await draft(socket, text)
            await socket.success("scenario.open", {"source": source})  # which computes all of it
            found = by_itself(text)
            answer = await socket.success("availability.get", {"source": source})
            assert answer == (found and {"known": len(played(text)), **found})


def test_it_is_known_while_it_is_computed_and_when_it_stopped() -> None:
    """As far as cycles are computed."""
    playback = Playback(load(FAILS))
    assert playback.availability() is None
    playback.advance(0)
    begun = playback.availability()
    assert begun is not None
    assert begun.until < 1
    while playback.advance(1):
        pass
    assert plain(playback.availability()) == by_itself(FAILS)


@pytest.mark.django_db(transaction=True)
def test_over_http(api: Client) -> None:  # noqa: F811
    """Of a scenario at once, of a run from when it has ended; not where no time passes."""
    made = create(api, FAILS)
    address = f"/api/scenarios/{made['id']}/availability"
    assert json.loads(api.get(address).content) == by_itself(FAILS)
    run = json.loads(post(api, "/api/runs", {"scenario": made["id"], "config": {}}).content)["id"]
    address = f"/api/runs/{run}/availability"
    assert api.get(address).status_code == 404
    run_simulation(run)
    assert json.loads(api.get(address).content) == by_itself(FAILS)
    still = create(api, example_text("first-cycle"))
    answer = api.get(f"/api/scenarios/{still['id']}/availability")
    assert answer.status_code == 404
    assert "No time passes" in json.loads(answer.content)["errors"][0]["message"]


@pytest.mark.django_db(transaction=True)
def test_a_run_in_the_workbench(api: Client) -> None:  # noqa: F811
    """What its worker stored; a run of before is computed again."""
    made = create(api, FAILS)
    run = json.loads(post(api, "/api/runs", {"scenario": made["id"], "config": {}}).content)["id"]
    run_simulation(run)
    row = store.find_run(run)
    assert row is not None
    opened = sources.open_playback(sources.find({"run": run}, ""))
    assert opened.availability() == over_time.of(row)
    again = opened.copy()
    again.remember(None)
    assert again.availability() == over_time.of(row)


@pytest.mark.django_db(transaction=True)
def test_the_page_of_a_run(api: Client) -> None:  # noqa: F811
    """It has a place for the workloads from the beginning, and what became of them at the end."""
    made = create(api, FAILS)
    run = json.loads(post(api, "/api/runs", {"scenario": made["id"], "config": {}}).content)["id"]
    row = store.find_run(run)
    assert row is not None
    assert figures.tables(row)[-1] == {**figures.tables(row)[-1], "title": "Workloads over time", "rows": []}
    assert over_time.KEY not in figures.figures(row)
    run_simulation(run)
    row.refresh_from_db()
    table = figures.tables(row)[-1]["rows"]
    assert [cells[0] for cells in table] == ["all workloads", "Deployment default/web"]
    assert table[1][1:] == ["5", "5", "0", "3 at 114.200 s", "787.800 s", "2", "0"]
    lines = {line["name"]: line["y"] for line in figures.figures(row)[over_time.KEY]["data"]}
    ready = lines["ready"]
    assert min(ready[ready.index(5) :]) == 3
