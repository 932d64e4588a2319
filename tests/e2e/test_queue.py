"""Real workers beside visitors with large runs: a small run starts, and a process that dies is noticed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.e2e.bundles import slow, small
from tests.faults.database import rows
from tests.faults.faults import Scene, redis_is_killed
from tests.services.fixtures import only
from tests.services.processes import wait_until
from tests.services.servers import Server
from tests.services.stack import Stack

pytestmark = [pytest.mark.services, pytest.mark.timeout(420)]

NOTICED = timedelta(seconds=20)
"""Less than the half minute after which a claim is stale; it takes a moment."""


def large() -> str:
    """Return a cluster that keeps a worker busy for minutes, and is read in a moment."""
    return slow("large", 1_500, 2_000)


class Visitor:
    """Somebody with a cookie, who starts runs of shared scenarios and cancels them."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        token = stack.post("/api/drafts", {"bundle": small("cookie")}).json["token"]
        self.cookie = {"Cookie": f"podstep_visitor={token}"}
        self.runs: list[str] = []

    def start(self, text: str) -> str:
        """Share a bundle and start a run of it; return its id."""
        stored = self.stack.post("/api/scenarios", {"bundle": text})
        assert stored.status == 201, stored.body[:300]
        with self.stack.socket(**self.cookie) as socket:
            run: str = socket.call("run.start", {"source": {"scenario": stored.json["id"]}})["run"]
        self.runs.append(run)
        return run

    def cancel_all(self) -> None:
        """Cancel what still runs, and wait until it has ended."""
        with self.stack.socket(**self.cookie) as socket:
            for run in self.runs:
                socket.call("run.cancel", {"run": run})
        for run in self.runs:
            self.stack.wait_for_run(run, ["cancelled", "done", "failed"], 90)


@pytest.fixture
def visitor(stack: Stack) -> Iterator[Callable[[], Visitor]]:
    """Visitors who leave no run behind for other tests."""
    made: list[Visitor] = []

    def make() -> Visitor:
        made.append(Visitor(stack))
        return made[-1]

    yield make
    for one in made:
        one.cancel_all()


def state_of(stack: Stack, run: str) -> dict[str, Any]:
    """Return what the API says of a run."""
    found: dict[str, Any] = stack.get(f"/api/runs/{run}").json
    return found


@only("embedded")
def test_a_small_run_starts_beside_large_ones(stack: Stack, visitor: Callable[[], Visitor]) -> None:
    """Beside two visitors with two large runs each, a third one's small run starts within seconds.

    On the other stack it does so after an outage: the next test.
    """
    starts_beside_large_ones(stack, visitor)


@only("compose")
def test_a_small_run_starts_after_an_outage_of_redis(
    stack: Stack, visitor: Callable[[], Visitor], postgres: Server, redis: Server
) -> None:
    """Workers that computed while they lost their connection serve again, and hold no message of others."""
    runs = visitor()
    under_way = [runs.start(text) for text in (large(), small("one"), small("two"), small("three"))]
    redis_is_killed(Scene(stack, postgres, redis), 2)
    stack.wait_until_ready()
    for run in under_way[1:]:
        stack.wait_for_run(run, ["done"], 90)
    assert "AttributeError" not in stack.workers_output()
    stack.wait_until_ready()
    runs.cancel_all()
    starts_beside_large_ones(stack, visitor)


def starts_beside_large_ones(stack: Stack, visitor: Callable[[], Visitor]) -> None:
    """Assert that a small run ends while two visitors have two large runs each, of which none has ended."""
    first, second, third = visitor(), visitor(), visitor()
    for one in (first, first, second, second):
        one.start(large())
    runs = [*first.runs, *second.runs]
    wait_until(lambda: "running" in states(stack, runs), 60, "one of them is computed")
    waiting = [place for place in positions(stack, runs) if place is not None]
    assert waiting, "a worker has at most three processes for long runs"
    assert sorted(waiting) == list(range(1, len(waiting) + 1))
    little = third.start(small("little"))
    assert stack.wait_for_run(little, ["done", "failed"], 120)["state"] == "done"
    assert states(stack, runs) <= {"running", "queued"}


def states(stack: Stack, runs: Sequence[str]) -> set[str]:
    """Return the states that the runs have; those that take turns are queued in between."""
    return {state_of(stack, run)["state"] for run in runs}


def positions(stack: Stack, runs: Sequence[str]) -> list[int | None]:
    """Return where each of the runs is in the queue, None if it is not."""
    return [state_of(stack, run)["position"] for run in runs]


def claim_of(stack: Stack, run: str) -> str:
    """Return the claim of a run, which names the process that computes it."""
    [(claim,)] = rows(stack, "SELECT claim FROM playground_run WHERE id = {}", run)
    return str(claim)


def enqueued_at(stack: Stack, run: str) -> datetime:
    """Return when a run was last given to the workers."""
    [(moment,)] = rows(stack, "SELECT enqueued FROM playground_run WHERE id = {}", run)
    found = datetime.fromisoformat(str(moment))
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def test_a_killed_process_is_noticed_at_once(stack: Stack, visitor: Callable[[], Visitor]) -> None:
    """A process that is killed, as for want of memory, is replaced, and its run goes on where it was."""
    run = visitor().start(large())
    stack.wait_for(f"/api/runs/{run}", lambda found: found["done"] > 0, 90)
    claim = claim_of(stack, run)
    os.kill(int(claim.split("/")[1].partition(".")[2]), signal.SIGKILL)
    killed = datetime.now(UTC)
    left = state_of(stack, run)["done"]
    wait_until(lambda: claim_of(stack, run) not in {claim, ""}, 120, "another process has the run")
    assert enqueued_at(stack, run) - killed < NOTICED
    # More than what was stored at the moment of the kill.
    stack.wait_for(f"/api/runs/{run}", lambda found: found["done"] > left + 1, 90)
    assert stack.processes["worker"].running
