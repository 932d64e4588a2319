"""A sweep whose worker is killed, and whose servers are restarted, ends as an undisturbed one does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.e2e.bundles import slow
from tests.faults.faults import FAULTS, Scene
from tests.services.servers import Server
from tests.services.stack import Stack

pytestmark = [pytest.mark.services, pytest.mark.timeout(900), pytest.mark.xdist_group("compose")]

GRID = {"weights.LeastRequestedPriority": [0, 1, 2], "seed": [1, 2]}
PATIENCE = 120.0  # seconds for a cell: 20 until a lost message is sent again, 30 until a claim is stale
SIZE = (200, 200)
BY_NAME = {fault.name: fault for fault in FAULTS}


def start(stack: Stack, name: str) -> str:
    """Start a sweep of a scenario by this name, which the store has not seen; return its id."""
    shared = stack.post("/api/scenarios", {"bundle": f"# {name}\n{slow('sweeps', *SIZE)}"})
    assert shared.status == 201, shared.body
    sweep = stack.post("/api/sweeps", {"scenario": shared.json["id"], "grid": GRID})
    assert sweep.status == 201, sweep.body
    return str(sweep.json["id"])


def wait_for(stack: Stack, sweep: str, done: int) -> dict[str, Any]:
    """Wait until so many cells have ended, each within a bound; return the sweep."""
    for number in range(done + 1):
        found = stack.wait_for(f"/api/sweeps/{sweep}", partial(has_ended, number), PATIENCE)
    return found


def has_ended(number: int, sweep: dict[str, Any]) -> bool:
    """Return whether so many cells have ended; an answer without them says that the database is away."""
    return sweep.get("done", -1) >= number


def figures(sweep: dict[str, Any]) -> list[Any]:
    """Return what a sweep came to: the values and the figures of each cell."""
    assert sweep["state"] == "done", sweep
    return [[cell["values"], cell["metrics"]] for cell in sweep["cells"]]


def test_a_sweep_outlives_its_worker_and_its_servers(
    stacks: Callable[[str], Stack], postgres: Server, redis: Server
) -> None:
    """The worker is killed after a third of the cells, and PostgreSQL and Redis are restarted meanwhile."""
    scene = Scene(stacks("compose"), postgres, redis)
    stack = scene.stack
    expected = wait_for(stack, start(stack, "undisturbed"), 6)
    struck = start(stack, "struck")
    wait_for(stack, struck, 2)
    for fault in ("kill -9 worker", "restart postgres", "kill -9 redis"):
        BY_NAME[fault].strike(scene, 2)
    stack.wait_until_ready()
    assert figures(wait_for(stack, struck, 6)) == figures(expected)
