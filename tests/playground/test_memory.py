"""The bound on open playbacks is one of real bytes, and what is let go returns to the system."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable

import pytest

from playground.limits import MIB, limit
from playground.playback import free_memory, releases
from playground.playback.free_memory import Freed
from playground.playback.library import Library
from playground.playback.playback import Playback
from playground.playback.sizes import AT_ONCE, weigh, weight_of
from playground.runtime import garbage
from playground.storage import bundles
from tests.parts import REPOSITORY
from tests.playground.bundle_kinds import KINDS, text_of
from tests.playground.conftest import PATIENCE
from tests.services.processes import wait_until

SIZE = 200_000  # bytes of a text: what is kept once for all bundles hardly counts beside it
NEAR, ROUNDS = 0.25, 4
POOLS = ("engine", "growing", "parsing", "export", "storage", "waiting")
"""How the names of the threads that work for visitors begin."""


def opened(text: str) -> Playback:
    playback = Playback(bundles.parse([("", text)]))
    bundles.last_read.clear()
    playback.reach(1)
    with playback._grow_lock:  # the slice is over
        pass
    if len(playback):
        playback.cycle(1)
        with playback.before(1):
            pass
    return playback


def others_rest() -> bool:
    """Return whether no thread that an earlier test started computes: what it allocates is counted, too."""
    mine, names = threading.get_ident(), {one.ident: one.name for one in threading.enumerate()}
    frames = sys._current_frames().items()
    pooled = [frame for thread, frame in frames if thread != mine and names.get(thread, "").startswith(POOLS)]
    return all(frame.f_code.co_name == "_worker" for frame in pooled)


def in_use() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimate_is_near_what_is_allocated(kind: str) -> None:
    """Whatever takes the memory: pods, texts, operations, or objects that are only kept."""
    estimated(text_of(kind, 20_000), text_of(kind, SIZE, 1))


@pytest.mark.parametrize("kind", ["pods", "workloads"])
def test_the_simulations_of_v1_37_count(kind: str) -> None:
    """They have an object compiled from each manifest."""

    def current(size: int) -> str:
        newer = '"status":{"nodeInfo":{"kubeletVersion":"v1.37.1"},'
        text = text_of(kind, size, 1).replace('"status":{', newer, 1)
        assert newer in text
        return text

    assert bundles.parse([("", current(20_000))]).release == "v1.37"
    estimated(current(20_000), current(SIZE))


def estimated(small: str, text: str) -> None:
    """Assert that the estimate of a text's playback is near what is allocated for it, in one of a few rounds.

    What another test's thread allocates meanwhile only adds to a round.
    """
    opened(small)  # fills the caches that all bundles share
    ratios = []
    for _ in range(ROUNDS):
        wait_until(others_rest, 3 * PATIENCE, "what earlier tests began ends")
        tracemalloc.start()
        try:
            before = in_use()
            playback = opened(text)
            ratios.append(playback.bytes / (in_use() - before))
        finally:
            tracemalloc.stop()
        if abs(ratios[-1] - 1) < NEAR:
            return
    raise AssertionError(f"estimated and allocated: {ratios}")


def test_what_is_shared_is_weighed_once() -> None:
    """Objects in many places count once, NumPy's arrays with their data, modules and classes not at all."""
    one = "x" * 10_000
    assert weigh([one, one, {"a": one}]) < 11_000
    assert weigh(gc, str, len) == 0
    assert weigh(bytearray(5_000)) >= 5_000


def test_very_many_objects_are_weighed_part_by_part() -> None:
    """The parts come to what the whole is."""
    scenario = bundles.parse([("", text_of("pods", 215 * (AT_ONCE + 500)))])
    assert weight_of(scenario).bytes == pytest.approx(weigh(scenario), rel=0.05)


def test_replicas_weigh_what_they_take() -> None:
    """One is weighed for all, beside what it shares with them."""
    text = text_of("workloads", 8_000).replace('"replicas":5', '"replicas":900')
    scenario = bundles.parse([("", text)])
    assert len(scenario.objects) > 10 * len(scenario.documents)
    assert weight_of(scenario).bytes == pytest.approx(weigh(scenario), rel=0.05)


def test_a_pause_of_collections_ends() -> None:
    """Also with an error, and one within another only with the outer one."""
    with garbage.paused():
        with pytest.raises(ValueError, match="no"), garbage.paused():
            raise ValueError("no")
        assert not gc.isenabled()
    assert gc.isenabled()


def test_those_that_are_too_many_bytes_go(limits: Callable[..., None]) -> None:
    """Room is made by what playbacks hold, the documents of their bundles included."""
    shelf = Library()
    first = shelf.open(0, lambda: opened(text_of("annotations", SIZE)))
    limits(PLAYBACK_BYTES=int(2.5 * first.bytes))
    for number in range(1, 5):
        shelf.open(number, lambda n=number: opened(text_of("annotations", SIZE, n)))  # type: ignore[misc]
    assert len(shelf) == 2
    assert shelf.bytes < 2.5 * first.bytes
    assert shelf.entry(4) is not None


def test_one_beyond_the_bound_is_kept_alone(limits: Callable[..., None], web: str) -> None:
    """It is played all the same; the next that is opened takes its place."""
    limits(PLAYBACK_BYTES=200_000)
    shelf = Library()
    shelf.open("small", lambda: opened(web))
    shelf.open("large", lambda: opened(text_of("annotations", SIZE)))
    assert [key for key in ("small", "large") if shelf.entry(key)] == ["large"]
    shelf.open("small", lambda: opened(web))
    assert [key for key in ("small", "large") if shelf.entry(key)] == ["small"]


def test_what_is_being_opened_counts(limits: Callable[..., None], web: str) -> None:
    """Room is made before a source is read, also while another is."""
    limits(PLAYBACK_BYTES=1_000_000)
    shelf = Library()
    shelf.open("old", lambda: opened(web))
    reading, go_on = threading.Event(), threading.Event()

    def slowly() -> Playback:
        reading.set()
        assert go_on.wait(30)
        return opened(web)

    thread = threading.Thread(target=lambda: shelf.open("slow", slowly, expected=900_000))
    thread.start()
    assert reading.wait(30)
    assert shelf.bytes > 900_000
    shelf.open("new", lambda: opened(web), expected=200_000)
    assert shelf.entry("old") is None
    go_on.set()
    thread.join()
    assert shelf.entry("slow") is not None


def test_the_last_read_bundles_go_first(limits: Callable[..., None], web: str) -> None:
    """They are kept to save time, not at the cost of what is open."""
    bundles.parse([("", text_of("annotations", SIZE))])
    assert bundles.last_read.held_bytes > SIZE
    limits(PLAYBACK_BYTES=1_000_000)
    Library().open("k", lambda: opened(web))
    assert bundles.last_read.held_bytes == 0


def test_freed_memory_is_handed_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it is worth it, and from the beginning after that."""
    trimmed: list[int] = []
    monkeypatch.setattr(free_memory, "_trim", lambda: trimmed.append)
    freed = Freed()
    assert not freed.add(free_memory.WORTH_BYTES - 1)
    assert freed.add(1)
    assert not freed.add(free_memory.WORTH_BYTES)
    assert trimmed == [0]
    assert freed.add(free_memory.MUCH_BYTES)
    assert trimmed == [0, 0]


def test_only_what_refers_to_itself_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full collection stops every thread, so it rests after one for a multiple of what that took."""
    collected: list[float] = []
    monkeypatch.setattr(free_memory, "_trim", lambda: None)

    def full() -> float:
        collected.append(1.0)
        return 1.0

    monkeypatch.setattr(garbage, "full", full)
    freed = Freed()
    assert freed.add(free_memory.WORTH_BYTES)
    assert collected == []
    assert freed.add(free_memory.MUCH_BYTES, free_memory.MUCH_BYTES)
    assert len(collected) == 1
    assert freed.add(free_memory.MUCH_BYTES, free_memory.MUCH_BYTES)
    assert len(collected) == 1


@pytest.mark.parametrize("kind", ["pods", "virtual", "operations", "workloads"])
@pytest.mark.parametrize("release", ["v1.11", "v1.37"])
def test_what_is_left_out_of_collections_frees_itself(kind: str, release: str) -> None:
    """A playback that is said not to refer to itself is gone with its last reference."""
    playback = Playback(releases.under(bundles.parse([("", text_of(kind, 20_000))]), release))
    playback.reach(10**6)
    with playback.after(len(playback)):
        pass
    steppers = [weakref.ref(one) for one in playback.replays.simulations if one is not None]
    refers = playback.refers_to_itself
    gc.disable()
    try:
        del playback
        assert steppers
        assert refers or not any(one() for one in steppers)
    finally:
        gc.enable()


def test_no_full_collection_begins_by_itself() -> None:
    """Half a second of pause for everybody, however many objects a bundle makes; and garbage is found."""
    code = """
import gc
from playground.runtime import garbage

began = []
gc.callbacks.append(lambda phase, info: began.append(info["generation"]) if phase == "start" else None)
garbage.begin()
began.clear()
kept = [[[] for _ in range(1_000)] for _ in range(1_000)]
assert 2 not in began, began.count(2)
assert 1 in began

class Cycle:
    pass

one = Cycle()
one.itself = one
gone = []
import weakref
weakref.finalize(one, gone.append, 1)
garbage.exempt()
del one
gc.collect()
assert not gone
garbage.full()
assert gone
"""
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True, timeout=60)


LIVING = """
{apiVersion: podstep/v1, kind: SimulationSettings, scheduler: v1.37, time: virtual, until: 2000}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "64", pods: "110"}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 60
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {podstep/run-seconds: "1"}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
"""


def test_a_cluster_that_lives_is_weighed_by_what_it_takes() -> None:
    """Its API server's store, statuses and typed copies, and all that happened."""
    playback = Playback(bundles.parse([("", LIVING)]))
    playback.reach(10**6)
    with playback.before(2), playback.after(len(playback) + 1):
        steppers = [one for one in playback.replays.simulations if one is not None]
        real = weigh(playback.scenario, playback.tables, playback.trail, playback._rest, *steppers)
        estimate = playback.bytes - playback.checkpoints.bytes  # a slow machine keeps copies to go back to
        assert 0.5 * real < estimate < 1.5 * real, f"{estimate / real:.2f} of {real:,}"


def test_room_is_made_by_real_memory(monkeypatch: pytest.MonkeyPatch, web: str) -> None:
    """What estimates miss is seen in the process: those that nobody looks at go until it fits."""
    resident = [100 * MIB]
    monkeypatch.setattr("playground.playback.library.resident_bytes", lambda: resident[0])
    monkeypatch.setattr(free_memory.freed, "_last", -math.inf)
    monkeypatch.setattr(free_memory, "_trim", lambda: None)
    shelf = Library()
    for number in range(4):
        shelf.open(number, lambda: opened(web))
    assert len(shelf) == 4
    resident[0] += 2 * limit("PLAYBACK_BYTES")
    shelf.open(4, lambda: opened(web))
    assert [number for number in range(5) if shelf.entry(number)] == [2, 3, 4]
