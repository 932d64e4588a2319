"""Playing: any cycle again, from any side, within bounds."""

from __future__ import annotations

import gzip
import json
import random
import sys
from array import array
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from playground.panels import steps
from playground.playback import changes, trail
from playground.playback.deadlines import Superseded
from playground.playback.playback import OutOfRangeError, Playback
from playground.playback.trail import CHECKPOINT, Trail
from playground.wire import encode
from scheduler_core import load, load_documents
from scheduler_core.run import simulate
from scheduler_core.run.instant import Simulation
from tests.playground.conftest import DATA, PATIENCE
from tests.services.processes import wait_until

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "late"},
    "spec": {"containers": [{"name": "c", "image": "x"}]},
}


def play(text: str) -> Playback:
    playback = Playback(load(text, title="t"))
    while playback.advance(1):
        pass
    return playback


def recorded(shared: Path, count: int) -> list[dict[str, Any]]:
    with gzip.open(shared / "conformance" / "scheduler-v1.11-runs.jsonl.gz", "rt") as lines:
        return [json.loads(line) for _, line in zip(range(count), lines, strict=False)]


@pytest.mark.parametrize("few", [0, changes.FEW])
def test_the_trail_places_every_pod_where_the_simulation_does(
    few: int, shared_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each cycle of recorded runs, also far from a kept placement, as in runs of a million cycles.

    A trail that is read from stored rows does so, too.
    """
    monkeypatch.setattr(changes, "FEW", few)
    monkeypatch.setattr(trail, "CHECKPOINT", 2)
    monkeypatch.setattr(trail, "KEPT_BYTES", 1_000)
    for record in recorded(shared_folder, 12):
        documents = [*record["objects"], *([record["policy"]] if record["policy"] else [])]
        playback = Playback(load_documents(documents, expand=False, admission=False, presumed="v1.11"))
        while playback.advance(1):
            pass
        stored = Trail(playback.scenario, playback.tables)
        rows = [playback.trail.row(index) for index in range(1, len(playback) + 1)]
        for first in range(0, len(rows), 7):
            stored.extend(rows[first : first + 7])
        assert [*stored.changes] == [*playback.trail.changes]
        simulation = Simulation(playback.scenario, trace=False)
        names = [node.meta.name for node in playback.tables.nodes]
        for index in range(1, len(playback) + 2):
            placed = playback.trail.placement_before(index).tolist()
            shown = {
                pod.meta.key: names[node] if node >= 0 else ""
                for pod, node in zip(playback.tables.pods, placed, strict=True)
                if node != -2
            }
            assert shown == simulation.placement()
            assert placed == stored.placement_before(index).tolist()
            simulation.step()


def test_any_order_of_reading_gives_the_same_cycles(web: str) -> None:
    """Scrubbing back and forth shows what reading from the front shows."""
    forward = json.loads(steps.window(play(web), 1, 100))["cycles"]
    playback = play(web)
    order = [*range(1, len(playback) + 1)] * 2
    random.Random(7).shuffle(order)
    for index in order:
        assert json.loads(steps.window(playback, index, 1))["cycles"] == [forward[index - 1]]


def test_changes_lead_from_one_placement_to_the_next() -> None:
    """A client that applies a window's changes ends where the next window begins."""
    playback = play((DATA / "preempt.yaml").read_text())
    placement = json.loads(steps.window(playback, 1, 1))["placement"]
    assert placement == playback.tables.pod_wire()["node"]
    for index in range(1, len(playback) + 1):
        window = json.loads(steps.window(playback, index, 1))
        assert window["placement"] == placement
        for pod, node in window["cycles"][0]["changes"]:
            placement[pod] = node
    assert json.loads(steps.window(playback, len(playback) + 1, 1)) == {
        "from": len(playback) + 1,
        "placement": placement,
        "nodes": [[1, {"unschedulable": True}]],
        "cycles": [],
    }


def test_a_trail_counts_only_whole_rows(web: str) -> None:
    """Whoever reads while a cycle is added finds everything of the cycles counted."""
    playback = play(web)
    trail = Trail(playback.scenario, playback.tables)
    columns = [name for name in vars(trail) if isinstance(getattr(trail, name), list | bytearray | array)]
    columns = [name for name in columns if name not in ("_operations", "_marks")]
    lengths: list[tuple[int, int]] = []

    def look(*_: object) -> None:
        fewest = min(len(getattr(trail, name)) - (name in ("_applied", "_met")) for name in columns)
        lengths.append((len(trail), fewest))

    rows = [playback.trail.row(i) for i in range(1, len(playback) + 1)]
    sys.setprofile(look)  # called before and after every append
    try:
        trail.extend(rows)
    finally:
        sys.setprofile(None)
    assert len(columns) == 9
    assert lengths and all(length <= fewest for length, fewest in lengths)
    assert len(trail) == len(playback)


def test_a_stored_trail_is_the_same_trail() -> None:
    """Rows written to JSON and read again give the same decisions, marks and addresses."""
    playback = play((DATA / "preempt.yaml").read_text())
    rows = json.loads(json.dumps([playback.trail.row(i) for i in range(1, len(playback) + 1)]))
    again = Trail(playback.scenario, playback.tables)
    again.extend(rows)
    assert again.decisions == playback.trail.decisions
    assert [*again.changes] == [*playback.trail.changes]
    assert again.marks(1, 99) == playback.trail.marks(1, 99)
    assert [again.step(i) for i in range(6)] == [playback.trail.step(i) for i in range(6)]
    assert again.time(5) == 2.0


def test_placements_are_right_on_both_sides_of_a_checkpoint() -> None:
    """Kept placements and replayed changes agree."""
    ready = [{"type": "Ready", "status": "True"}]
    status = {"allocatable": {"cpu": "64", "pods": "2000"}, "conditions": ready}
    spec = {"containers": [{"name": "c", "image": "x"}]}
    items: list[Any] = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}"}, "status": status}
        for i in range(2)
    ]
    items += [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{i}", "namespace": "d"}, "spec": spec}
        for i in range(CHECKPOINT + 20)
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    playback = play(text)
    assert len(playback) == CHECKPOINT + 20
    for index in (CHECKPOINT - 1, CHECKPOINT, CHECKPOINT + 1, CHECKPOINT + 2, CHECKPOINT + 21):
        placed = playback.trail.placement_before(index)
        assert int(np.count_nonzero(placed >= 0)) == index - 1


def test_the_step_after_the_greatest_is_addressed() -> None:
    """An operation may land at the greatest step that an int32 holds; its cycles are in the step after it."""
    major = 2**31 - 1
    operation = {"id": "last", "step": {"major": major}, "createOperation": {"object": POD}}
    scenario = {
        "apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "s"},
        "spec": {"operations": [operation]},
    }
    playback = play(json.dumps(scenario))
    assert playback.resolve(f"{major + 1}.1") == len(playback) == 1


@pytest.mark.parametrize(
    ("step", "index"), [("0", 0), ("5", 5), ("1.1", 1), ("1.3", 3), ("2.1", 4), ("3.1", 5)]
)
def test_addresses(step: str, index: int) -> None:
    """A step is a cycle's number or major.minor."""
    assert play((DATA / "preempt.yaml").read_text()).resolve(step) == index


@pytest.mark.parametrize("step", ["6", "1.4", "2.2", "9.1", "1.0"])
def test_addresses_that_are_not_there(step: str) -> None:
    """A well-formed step beyond the history is nowhere."""
    assert play((DATA / "preempt.yaml").read_text()).resolve(step) is None


@pytest.mark.parametrize("step", ["", "x", "-1", "1.2.3", "1.", ".1", "٣", "1" * 20, "1e3"])
def test_addresses_that_are_none(step: str) -> None:
    """Anything else is refused with what is allowed."""
    with pytest.raises(ValueError, match="write a cycle's number"):
        play((DATA / "preempt.yaml").read_text()).resolve(step)


@pytest.mark.parametrize("release", ["", "v1.37"])
@pytest.mark.parametrize("name", ["web", "cache", "restart", "preempt"])
def test_the_first_window_of_what_takes_long_to_begin_is_not_rebuilt(
    name: str, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large bundle no second simulation is made for it; its cycles are those of any other reading."""
    scenario = load((DATA / f"{name}.yaml").read_text(), scheduler=release)
    rebuilt = Playback(scenario)
    rebuilt.reach(100)
    monkeypatch.setattr("playground.playback.playback.SLICE_SECONDS", -1.0)
    first = Playback(scenario)
    first.reach(100)
    begun = Mock(side_effect=simulate)
    monkeypatch.setattr("playground.playback.replay.simulate", begun)
    window = steps.window(first, 1, 100)
    assert not begun.called
    assert encode(window) == encode(steps.window(rebuilt, 1, 100))
    assert begun.called


def test_cycles_out_of_range(web: str) -> None:
    """There is no cycle 0, and none after the last."""
    playback = play(web)
    for index in (0, 6):
        with pytest.raises(OutOfRangeError):
            playback.cycle(index)
    with pytest.raises(OutOfRangeError):
        steps.window(playback, 7, 1)


def test_work_that_nobody_wants_is_not_begun(web: str) -> None:
    """A request that was replaced costs nothing; a cycle that is kept is given all the same."""
    playback = play(web)
    with pytest.raises(Superseded):
        playback.cycle(2, lambda: True)
    playback.cycle(2)
    assert playback.cycle(2, lambda: True).index == 2


def test_kept_cycles_are_bounded_by_their_size(web: str, limits: Any) -> None:
    """Old matrices go when there are too many."""
    limits(CYCLE_CACHE_BYTES=1, LIGHT_CACHE=2)
    playback = play(web)
    steps.window(playback, 1, 5)
    assert len(playback.replays._cycles) == 1
    assert len(playback._light) == 2


def test_computing_ends_at_the_limit_and_says_so(web: str, limits: Any) -> None:
    """A history too long for the workbench stops with advice."""
    limits(INTERACTIVE_CYCLES=3)
    playback = play(web)
    assert (len(playback), playback.complete) == (3, True)
    assert playback.stopped and "start a run" in playback.stopped


def test_computing_ends_after_the_time_allowed(web: str, limits: Any) -> None:
    """The same for time."""
    limits(INTERACTIVE_SECONDS=0)
    playback = Playback(load(web))
    while playback.advance(0):
        pass
    assert len(playback) == 1
    assert playback.stopped and "seconds" in playback.stopped


def test_a_failure_of_the_engine_is_reported_to_whoever_comes_after(
    web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only to the request that met it: the next one would else show a run of no cycles."""
    playback = Playback(load(web))
    playback.advance(0)
    wait_until(lambda: playback._growth is not None and playback._growth.over, PATIENCE, "the slice ends")
    computed = len(playback)

    def breaks(_simulation: object) -> None:
        raise KeyError("of the engine")

    monkeypatch.setattr(Simulation, "step", breaks)
    with pytest.raises(KeyError):
        playback.advance(PATIENCE)  # who waits for less than the slice takes finds it in `stopped`
    assert not playback.advance(1)
    assert (len(playback), playback.complete) == (computed, True)
    assert playback.stopped and "internal error" in playback.stopped
