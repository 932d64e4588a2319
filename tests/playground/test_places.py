"""Who runs the engine gives way in the middle of a step, and waits for nothing while holding a place."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from playground.playback import executor
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.pool import gate
from playground.pool.gate import Gate, GivingLock, Stay
from playground.pool.shares import Bounds
from playground.storage import bundles
from playground.visitors import identity
from scheduler_core.interrupts import look
from tests.playground.conftest import PATIENCE
from tests.services.processes import wait_until

LIVING = """
{apiVersion: podstep/v1, kind: SimulationSettings, scheduler: v1.37, time: virtual, until: 3000}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "64", pods: "110"}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {podstep/run-seconds: "1"}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
"""


def two(count: int = 2) -> Gate:
    return Gate(count, Bounds(max(1, count - 1), 100, 1_000))


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as pool:
        yield pool


def work(places: Gate, share: str, until: threading.Event, begun: threading.Event | None = None) -> None:
    """Compute as the engine does, for as long as it takes."""
    with places.stay(share):
        if begun is not None:
            begun.set()
        while not until.is_set():
            look()


def test_a_place_is_left_for_what_takes_a_moment(threads: ThreadPoolExecutor) -> None:
    """However many compute for long, somebody's step is next at once, and again."""
    places, done = two(), threading.Event()
    busy = [threads.submit(work, places, f"visitor {number}", done) for number in range(8)]
    try:
        wait_until(lambda: places._long == 1 and places._free == 1, PATIENCE, "all of them are long")
        for _ in range(5):
            with places.stay("a step", PATIENCE):
                assert places._long <= 1
    finally:
        done.set()
    for one in busy:
        one.result(PATIENCE)
    assert (places._free, places._long, len(places._shares)) == (2, 0, 0)


def test_long_work_goes_on_where_it_was(threads: ThreadPoolExecutor) -> None:
    """Two who compute for long take turns at one place, and each ends."""
    places = two(1)
    turns: list[str] = []

    def count(share: str) -> int:
        with places.stay(share, long=True):
            seen, until = 0, time.thread_time() + 5 * gate.TURN_SECONDS
            while time.thread_time() < until:
                look()
                seen += 1
                if not turns or turns[-1] != share:
                    turns.append(share)
            return seen

    counted = [threads.submit(count, share) for share in "ab"]
    assert all(one.result(PATIENCE) > 0 for one in counted)
    assert len(turns) > 3


def test_nobody_waits_for_a_lock_in_a_place(threads: ThreadPoolExecutor) -> None:
    """Another has the place meanwhile, and gives it back with the lock."""
    places, lock, go = two(1), GivingLock(), threading.Event()

    def needy() -> str:
        with places.stay("needy"), lock:
            return "has both"

    with lock:
        waiting = threads.submit(needy)
        wait_until(lambda: places._free == 1 and not len(places._shares), PATIENCE, "it waits outside")
        with places.stay("another", PATIENCE):
            go.set()
    assert go.is_set() and waiting.result(PATIENCE) == "has both"
    assert places._free == 1


def test_a_step_that_takes_long_delays_neither_who_asks_nor_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one who asked goes on after a slice, a neighbour steps, and the step ends as ever."""
    go, entered = threading.Event(), threading.Event()
    playback, other = (Playback(bundles.parse([("", LIVING)])) for _ in range(2))
    step = type(playback._begun()).step

    def slowly(self: Any) -> Any:
        if identity.asker() == "slow":
            entered.set()
            while not go.is_set():
                look()
        return step(self)

    monkeypatch.setattr(type(playback._begun()), "step", slowly)
    try:
        with identity.asked_by("slow"):
            assert playback.advance(SLICE_SECONDS)
            assert entered.wait(PATIENCE) and not len(playback)
            assert playback.advance(0.01)  # again, by another of their tabs: it waits no longer
        places = executor.places()
        with places.stay("neighbour", PATIENCE), identity.asked_by("neighbour"):
            other.reach(1)
            assert len(other) >= 1
    finally:
        go.set()
    with identity.asked_by("slow"):
        playback.reach(10**6)
    assert playback.complete and len(playback) >= len(other)


def test_interrupted_growth_gives_equal_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """A life that gives way at every look, among others, decides as one that is computed alone."""
    alone = Playback(bundles.parse([("", LIVING)]))
    alone.reach(10**6)
    with executor.places().stay("warm", PATIENCE):
        pass
    monkeypatch.setattr(gate, "TURN_SECONDS", 0.0)
    parked: list[str] = []
    give_way: Callable[[Gate, Stay], None] = Gate.give_way

    def noted(self: Gate, stay: Stay) -> None:
        parked.append(stay.share)
        give_way(self, stay)

    monkeypatch.setattr(Gate, "give_way", noted)
    several = [Playback(bundles.parse([("", LIVING)])) for _ in range(3)]

    def whole(number: int) -> None:
        with identity.asked_by(f"visitor-{number}"):
            several[number].reach(10**6)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(whole, range(3)))
    assert len(set(parked)) == 3 and len(parked) > 100
    for playback in several:
        assert playback.trail.decisions == alone.trail.decisions
        assert [*playback.trail.changes] == [*alone.trail.changes]
        assert playback.rest()[1].moves == alone.rest()[1].moves
