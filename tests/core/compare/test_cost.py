"""What each strategy evaluates, keeps and takes, counted without a trace, and the command that prints it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from scheduler_core.__main__ import main
from scheduler_core.authoring.examples import examples, find
from scheduler_core.compare.cost import Cost, Progress, measure_costs, measuring, strategies_for, with_cache
from scheduler_core.run.instant import Simulation
from scheduler_core.scenario.load import load
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.settings import Settings
from tests.core.engine.builders import node, operation, pod, scenario
from tests.core.equivalence.test_engine import APART, bundle

FEW = 200  # cycles of an example that are counted
POLICY = {
    "apiVersion": "v1",
    "kind": "Policy",
    "predicates": [{"name": "PodToleratesNodeTaints", "order": 1}, {"name": "PodFitsResources", "order": 2}],
    "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
}
FILLING = """---
apiVersion: v1
kind: Policy
predicates: [{name: GeneralPredicates}]
priorities: [{name: LeastRequestedPriority, weight: 1}]
"""


SLUGS = [one.slug for one in examples() if one.outcome is None]  # in virtual time there is no cache


def example(slug: str) -> str:
    """Return the manifests of an example."""
    found = find(slug)
    assert found is not None
    return found.read()


def by_name(costs: list[Cost]) -> dict[str, Cost]:
    """Return the costs by strategy."""
    return {cost.strategy: cost for cost in costs}


@pytest.mark.parametrize("slug", SLUGS)
def test_what_is_asked_is_what_a_trace_shows(slug: str) -> None:
    """Without a matrix, with what classes share or not, the same number of pairs is counted."""
    read = with_cache(load(example(slug)), cache="off")
    runs = [Simulation(read), Simulation(read, trace=False), Simulation(read, trace=False, reuse=False)]
    for _ in range(FEW):
        traced, *others = [simulation.step() for simulation in runs]
        if traced is None:
            break
        assert [cycle.asked for cycle in others if cycle] == [traced.asked] * 2
        assert traced.evaluations == traced.asked
        if traced.matrix is not None and not traced.nominated_passes:
            own = traced.matrix.codes[: len(traced.order)]  # below are rows of extenders
            assert traced.asked == np.count_nonzero(own >= 0)


@pytest.mark.parametrize("nominated_cpu", ["4", "1"])
def test_both_passes_of_a_nominated_node_are_counted(nominated_cpu: str) -> None:
    """Where the pass with nominated pods fails a node, the second one is not begun there."""
    objects = [
        node("n1"),
        node("n2", taints=["gone=1:NoSchedule"]),
        pod("next", {"cpu": "1"}, priority=5),
        pod("due", {"cpu": nominated_cpu}, priority=5, nominatedNodeName="n1"),
    ]
    simulation = Simulation(scenario(*objects, policy=POLICY), trace=False)
    cycle = simulation.step()
    assert cycle is not None and cycle.pod == "default/next"
    predicates = len(simulation.profile.order)
    taints = simulation.profile.order.index("PodToleratesNodeTaints") + 1
    resources = simulation.profile.order.index("PodFitsResources") + 1
    on_n1 = resources if nominated_cpu == "4" else 2 * predicates
    assert cycle.asked == on_n1 + taints
    assert (cycle.node is None) == (nominated_cpu == "4")


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if slug not in {"gpu-trace", "five-hundred"}])
def test_what_a_sound_cache_answers_is_what_it_saves(slug: str) -> None:
    """Hits and evaluations are together what no cache evaluates, with nominated pods and operations too."""
    read = with_cache(load(example(slug)), stale_writes="generations")  # two examples have none on purpose
    off, sound = measure_costs(read, ("off", "sound"))
    assert sound.evaluations + sound.hits == off.evaluations
    assert (sound.first, sound.differing, sound.cycles) == (None, 0, off.cycles)
    assert sound.operations == sound.lookups + sound.writes + sound.invalidated


def test_the_scenario_s_own_mode_is_one_of_the_strategies() -> None:
    """No cache is compared with, no strategy comes twice, and the order is the same under every mode."""
    plain = bundle(2, 2)
    assert strategies_for(plain) == ("off", "sound", "batching")
    assert strategies_for(with_cache(plain, cache="designed")) == ("off", "designed", "sound", "batching")
    assert strategies_for(with_cache(plain, cache="batching")) == ("off", "sound", "batching")
    assert [cost.strategy for cost in measure_costs(plain)] == ["off", "sound", "batching"]


def test_wrong_answers_show_with_the_first_cycle() -> None:
    """A mode that breaks a promise places two pods more, from cycle 11 on."""
    costs = by_name(measure_costs(with_cache(bundle(10, 12, more=APART), cache="v1.11")))
    assert (costs["off"].placed, costs["v1.11"].placed) == (10, 12)
    assert (costs["v1.11"].first, costs["v1.11"].differing) == (11, 2)
    assert (costs["sound"].first, costs["sound"].differing) == (None, 0)


def test_a_mode_that_an_operation_sets_does_not_spoil_the_comparison() -> None:
    """A strategy holds from the beginning to the end, and what a restarted cache did counts on."""
    first = bundle(4, 4)
    changed = load(
        """apiVersion: podstep/v1
kind: SimulationSettings
cache: "v1.11"
"""
    )
    from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration

    again = operation(1, "create", pod("late", {"cpu": "1"}))
    settings = replace(again, kind="SimulationSettings", key="", action="update", object=None, id="set")
    restarted = replace(
        first,
        operations=(
            replace(settings, configuration=Configuration(None, changed.settings)),
            replace(again, id="late"),
        ),
    )
    off, sound = measure_costs(restarted, ("off", "sound"))
    assert off.hits == 0 and off.bytes == 0
    assert off.cycles == sound.cycles == 5
    assert sound.evaluations + sound.hits == off.evaluations


def test_a_run_that_ends_earlier_differs_where_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """More cycles under one strategy are a difference, even if all that both have are alike."""
    from scheduler_core.compare import cost as module

    class Shorter(Simulation):
        def step(self) -> Any:
            over = self.scenario.settings.cache == "sound" and self.index == 2
            return None if over else super().step()

    monkeypatch.setattr(module, "Simulation", Shorter)
    assert measure_costs(bundle(2, 4), ("off", "sound"))[1].first == 3
    assert measure_costs(bundle(2, 4), ("sound", "off"))[1].first == 3


def test_batching_tells_of_its_rankings() -> None:
    """Each pod fills its node: one ranking serves all, and ties are broken otherwise."""
    off, batching = measure_costs(bundle(5, 5, cpu="3", history=FILLING), ("off", "batching"))
    assert (batching.lookups, batching.hits, batching.writes, batching.invalidated) == (5, 4, 1, 0)
    assert batching.bytes == 128 + 8 * 4
    assert batching.evaluations < off.evaluations
    assert (batching.placed, batching.first, batching.differing) == (5, 2, 3)


def measured(read: Scenario, clock: Callable[[], float]) -> tuple[list[Progress], list[Cost]]:
    """Return the progress and the costs by a clock."""
    work = measuring(read, ("off", "sound"), clock=clock)
    reported = []
    while True:
        try:
            reported.append(next(work))
        except StopIteration as end:
            return reported, end.value


def test_short_runs_are_timed_twice_and_the_better_time_counts() -> None:
    """The clock stands between two cycles; a slow first run is forgotten."""
    ticks = count()
    slow = 9  # 5 steps of the first run, the last of which finds the end; 2 readings each

    def clock() -> float:
        at = next(ticks)
        return at * 0.01 + (0.5 if at >= slow else 0.0)

    reported, costs = measured(bundle(2, 4), clock)
    assert [cost.seconds for cost in costs] == pytest.approx([0.05, 0.05])
    assert costs[0].per_pod == pytest.approx(12_500)
    assert [(step.strategy, step.done, step.total) for step in reported[:8]] == [
        ("off", 1, 8),
        ("off", 2, 8),
        ("off", 3, 8),
        ("off", 4, 8),
        ("sound", 5, 8),
        ("sound", 6, 8),
        ("sound", 7, 8),
        ("sound", 8, 8),
    ]
    assert len(reported) == 16


def test_long_runs_are_timed_once() -> None:
    """Nobody waits twice for what takes seconds."""
    ticks = count()
    reported, costs = measured(bundle(2, 4), lambda: float(next(ticks)))
    assert [cost.seconds for cost in costs] == [5.0, 5.0]
    assert len(reported) == 8


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A bundle in a file, whose own mode is v1.11."""
    path = tmp_path / "apart.yaml"
    path.write_text(with_cache(bundle(5, 6, more=APART), cache="off").to_yaml())
    settings = '---\napiVersion: podstep/v1\nkind: SimulationSettings\ncache: "v1.11"\n'
    path.write_text(path.read_text() + settings)
    return str(path)


def test_the_command_prints_a_column_a_strategy(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The bundle's own mode is among them, and the last lines tell what each saved."""
    assert main(["cost", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["off", "v1.11", "sound", "batching"]
    rows = {line[:24].strip(): line[24:].split() for line in lines}
    assert rows["evaluations"][0] == "390"
    assert rows["pods placed differently"] == ["0", "1", "0", "0"]
    assert rows["first differing cycle"] == ["6", "none", "none"]
    assert lines[-1].startswith("batching: ")
    assert "% of the evaluations of off saved, with " in lines[-2]


def test_the_command_prints_json(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The figures are the table's, as the workbench gets them."""
    assert main(["cost", file, "--strategy", "off", "--strategy", "sound", "--json"]) == 0
    off, sound = json.loads(capsys.readouterr().out)
    assert (off["strategy"], off["evaluations"], off["firstDifference"]) == ("off", 390, None)
    assert sound["operations"] == sound["lookups"] + sound["writes"] + sound["invalidated"]


def test_settings_other_than_the_cache_stay() -> None:
    """Comparing strategies changes nothing else of how a scenario is simulated."""
    read = replace(bundle(2, 2), settings=Settings(quirks="fixed", equivalence_class="attributes"))
    assert with_cache(read, cache="sound").settings == replace(read.settings, cache="sound")
