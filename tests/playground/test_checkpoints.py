"""Jumping by copies of a simulation shows what stepping there shows, within bounds."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import pytest

from playground.panels.cache_map import Page, classes, entry_map, level_map
from playground.playback import checkpoints, replay
from playground.playback.deadlines import Superseded
from playground.playback.playback import Playback
from scheduler_core import load
from scheduler_core.run import Stepper, simulate
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_line
from scheduler_core.scenario.scenario import Scenario
from tests.bench.living_clusters import LIVING, Size, text_of
from tests.playground.conftest import DATA

TEXT = (DATA / "cache.yaml").read_text()
MODES = ("designed", "v1.11", "sound", "batching")
RESTART = """  - id: attributes
    step: 4
    createOperation:
      object: {apiVersion: podstep/v1, kind: SimulationSettings, cache: sound, equivalenceClass: attributes}
  - id: node
    step: 5
    createOperation:
      object:
        apiVersion: v1
        kind: Node
        metadata: {name: n0}
        status: {allocatable: {cpu: "1", pods: "10"}, conditions: [{type: Ready, status: "True"}]}
  - id: delete
    step: 5
    deleteOperation: {typeMeta: {apiVersion: v1, kind: Pod}, objectMeta: {name: alone, namespace: default}}
"""


def more(count: int) -> str:
    """Make pods that come one by one, after a restart and other operations."""
    return "".join(
        f"""  - id: more-{number}
    step: {5 + number // 4}
    createOperation:
      object:
        apiVersion: v1
        kind: Pod
        metadata:
          name: more-{number}
          namespace: default
          labels: {{app: batch}}
          ownerReferences:
          - {{apiVersion: apps/v1, kind: ReplicaSet, name: r{number % 2}, controller: true, uid: r}}
        spec:
          containers: [{{name: c, image: x, resources: {{requests: {{cpu: 50m}}}}}}]
"""
        for number in range(count)
    )


def scenario(mode: str) -> Scenario:
    return load(TEXT.replace("cache: v1.11", f"cache: '{mode}'") + RESTART + more(12))


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy after every few cycles, and use every copy."""
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "COPY_SHARE", 0)
    monkeypatch.setattr(checkpoints, "NEAR", 0)
    monkeypatch.setattr(replay, "REPLAYED_AT_ONCE", 2)


def played(whole: Scenario) -> Playback:
    """Play to the end, a slice a cycle."""
    made = Playback(whole)
    while made.advance(0.000_001):
        pass
    return made


@pytest.mark.parametrize("mode", MODES)
def test_jumps_show_what_stepping_shows(mode: str, often: None) -> None:
    """Every cycle and every map, in whatever order they are asked for, across a restart and lost pods."""
    whole = scenario(mode)
    stepped = [trace_line(cycle) for cycle in Simulation(whole)]
    made = played(whole)
    assert len(made.checkpoints.indices) > 5
    plain = Simulation(whole, trace=False)
    wanted = [reported(plain, made) for _ in plain]
    order = list(range(1, len(stepped) + 1)) * 2
    random.Random(7).shuffle(order)
    for index in order:
        made.replays._cycles.clear()
        assert trace_line(made.cycle(index)) == stepped[index - 1]
        with made.after(index) as there:
            assert reported(there, made) == wanted[index - 1]
        with made.before(index) as there:
            assert there.index == index - 1


def test_a_life_is_copied_while_controllers_write(often: None) -> None:
    """A jump to a cycle after a zone was lost begins at a copy; what is shown after a cycle is exact."""
    whole = load(text_of(Size(12, 3, 30), lost=60) + LIVING)
    straight = simulate(whole)
    shown = [(trace_line(cycle), states(straight)) for cycle in straight]
    made = played(whole)
    ahead = [copy.index for copy, _ in made.checkpoints._kept if copy.is_ahead]
    assert any(states(copy) != shown[copy.index - 1][1] for copy, _ in made.checkpoints._kept)
    assert len(ahead) > 1
    for index in ahead:
        with made.after(index) as there:
            assert states(there) == shown[index - 1][1]
        made.replays._cycles.clear()
        for at in range(min(index + 1, len(shown)), index - 1, -1):
            assert trace_line(made.cycle(at)) == shown[at - 1][0]


def states(simulation: Stepper) -> dict[str, object]:
    """Return the pods that a run has at its API server."""
    objects = simulation.controlled_objects()
    assert objects is not None
    return {key: one for (kind, key), one in objects.items() if kind == "Pod"}


def reported(simulation: Stepper, made: Playback) -> list[Any]:
    at = made.tables.node_index
    keys = level_map(simulation, "predicate", Page())["rows"]
    cache = simulation.cache
    return [
        classes(simulation, Page()),
        [entry_map(simulation, "predicate", row["key"], Page(), at) for row in keys],
        simulation.placement(),
        deepcopy(cache.totals) if cache is not None else None,  # it is counted on
    ]


@pytest.mark.parametrize("mode", MODES)
def test_a_fork_goes_on_by_itself(mode: str) -> None:
    """The copy and the simulation it was made of end alike, and neither hears of the other."""
    whole = scenario(mode)
    stepped = [trace_line(cycle) for cycle in Simulation(whole)]
    quiet = Simulation(whole, trace=False)
    for index in range(len(stepped)):
        assert [trace_line(cycle) for cycle in quiet.fork(trace=True)] == stepped[index:]
        cycle = quiet.step()
        assert cycle is not None and cycle.index == index + 1
    assert quiet.step() is None


def test_a_stored_run_makes_its_copies_while_it_is_read(often: None) -> None:
    """Nothing is computed forward there: whoever replays first leaves copies for those who come later."""
    whole = scenario("sound")
    stepped = [trace_line(cycle) for cycle in Simulation(whole)]
    rows = played(whole).trail
    stored = Playback(whole, stored=True)
    stored.follow(lambda _: [[rows.row(index) for index in range(1, len(rows) + 1)]], complete=True)
    assert stored.checkpoints.indices == []
    last = len(stepped)
    assert trace_line(stored.cycle(last)) == stepped[last - 1]
    assert len(stored.checkpoints.indices) > 3
    assert trace_line(stored.cycle(last - 3)) == stepped[last - 4]
    assert stored.replays._reader is not None and stored.replays._reader.index == last - 3


def test_copies_are_bounded(often: None, limits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By number and by bytes: when there are too many every second one goes."""
    monkeypatch.setattr(checkpoints, "MOST", 4)
    made = played(scenario("sound"))
    assert 1 <= len(made.checkpoints.indices) <= 4
    assert made.bytes > made.checkpoints.bytes > 0
    limits(CHECKPOINT_BYTES=0)
    made = played(scenario("sound"))
    assert made.checkpoints.indices == [] and made.checkpoints.bytes == 0
    assert made.cycle(len(made)).index == len(made)


def test_no_copy_is_made_within_the_first_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    """No jump would use it, and a copy of a large cluster would delay the first cycle by seconds."""
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
    made = played(scenario("sound"))
    assert 1 < len(made) <= checkpoints.NEAR
    assert made.checkpoints.indices == []


def test_without_a_cache_nothing_is_copied(often: None) -> None:
    """Decisions alone are applied faster than a copy is made."""
    plain = played(load((DATA / "web.yaml").read_text()))
    assert plain.checkpoints.indices == []


def test_a_jump_back_begins_at_the_kept_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """What took long to begin is begun once, however often a reader goes back to the first cycles."""
    monkeypatch.setattr(checkpoints, "START_SECONDS", -1.0)
    starts: list[Any] = []

    def begun(*args: Any, **options: Any) -> Any:
        starts.append(simulate(*args, **options))
        return starts[-1]

    monkeypatch.setattr(replay, "simulate", begun)
    plain = played(load((DATA / "web.yaml").read_text()))
    assert [plain.cycle(index).index for index in (3, 2, 1)] == [3, 2, 1]
    assert len(starts) == 1


def test_a_long_replay_ends_when_nobody_wants_it(often: None) -> None:
    """Scrubbing away gives a jump up in between; what it got to is used by the next one."""
    whole = scenario("sound")
    made = played(whole)
    made.replays._checkpoints = checkpoints.Checkpoints(load((DATA / "web.yaml").read_text()))
    asked = iter([False] * 2)
    with pytest.raises(Superseded):
        made.cycle(len(made), lambda: next(asked, True))
    assert made.replays._reader is not None and 0 < made.replays._reader.index < len(made) - 1
    asked = iter([False] * 2)
    with pytest.raises(Superseded), made.after(len(made), lambda: next(asked, True)):
        pass
    assert made.cycle(len(made)).index == len(made)
    with made.after(len(made)) as there:
        assert there.index == len(made)
