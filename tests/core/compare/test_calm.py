"""What operations do to a cluster at rest, played from there: the same as played from the start."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import CalmCluster, Scenario, load_documents, simulate
from scheduler_core.authoring.examples import find
from scheduler_core.authoring.verbs import planned
from scheduler_core.compare.calm import plane_of
from scheduler_core.compare.in_step import InStep
from scheduler_core.compare.plane import living, on_one_plane, reread
from scheduler_core.kubernetes.model import Node, Workload
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run import Stepper
from scheduler_core.run.several.lone import LoneSimulation
from scheduler_core.run.trace import trace_line
from scheduler_core.scenario.history_entries import with_entries
from scheduler_core.scenario.load import ExtensibleScenario
from tests.conformance.random_records import Dice

SECONDS = (0.0, 0.02, 5.0, 400.0)


def example(slug: str) -> Scenario:
    """Return an example's scenario."""
    found = find(slug)
    assert found is not None
    return found.load()


def entries(scenario: Scenario, *verbs: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the operations of verbs, as on the command line."""
    return [entry for _, _, made in planned(scenario.documents, verbs) for entry in made]


def reported(run: Stepper) -> tuple[Any, ...]:
    """Play a run to its end; return all that is said of it."""
    lines = [trace_line(cycle) for cycle in run]
    return lines, run.rest, run.placement(), run.availability(), list(run.notes()), counted(run)


def counted(run: Stepper) -> list[Any]:
    """Return what is counted of the pods on each node: their keys, amounts, least priority and labels."""
    cluster = run.cluster
    names, kinds = cluster.columns.names, cluster.index.kinds.values()
    labels = [
        (one.namespace, dict(one.labels), dict(sorted(one.nodes.items()))) for one in kinds if one.nodes
    ]
    keys = [(name, sorted(row)) for name, row in zip(names, cluster.residents, strict=True)]
    return [keys, cluster.used.tolist(), cluster.lowest_priority.tolist(), sorted(labels, key=repr)]


def anything(dice: Dice, scenario: Scenario, second: float) -> list[tuple[str, str]]:
    """Return one to three verbs on nodes and Deployments, at a second or soon after."""
    nodes = [one.meta.name for one in scenario.objects if isinstance(one, Node)]
    sets = [one.meta for one in scenario.objects if isinstance(one, Workload) and one.kind == "Deployment"]
    asked = [
        (verb, f"{dice.choice(nodes)}@{second + dice.choice((0, 0, 7)):g}")
        for verb in ("drain", "fail", "cordon", "force-drain")
        if nodes and dice.chance(0.4)
    ]
    if sets and (dice.chance(0.5) or not asked):
        chosen = dice.choice(sets)
        asked.append(("scale", f"deploy/{chosen.namespace}/{chosen.name}={dice.choice((0, 3))}@{second:g}"))
    return asked


@pytest.mark.parametrize("second", [2, 60])
@pytest.mark.parametrize("slug", ["zone-lost", "native-gang"])
def test_an_outcome_is_that_of_the_whole_run(slug: str, second: int) -> None:
    """Of drains and failures of each example at any second, but for the cycles that were played before."""
    scenario = example(slug)
    nodes = [one.meta.name for one in scenario.objects if isinstance(one, Node)]
    calm = CalmCluster(scenario, second)
    for verb, node in (("drain", nodes[0]), ("fail", nodes[-1])):
        made = entries(scenario, (verb, f"{node}@{second}"))
        whole = simulate(reread(scenario, with_entries(scenario.documents, made)))
        case = calm.after(made, trace=True)
        played = case.index
        lines, *rest = reported(whole)
        assert reported(case) == (lines[played:], *rest)
        assert played > 0


def test_a_case_changes_neither_the_calm_cluster_nor_other_cases() -> None:
    """Whatever is done in cases, in whichever order, each comes to the same, and the cluster goes on."""
    scenario = example("shop")
    calm = CalmCluster(scenario)
    made = [entries(scenario, ("drain", f"general-{number}")) for number in (1, 2, 3)]
    first = [reported(calm.after(one, trace=True)) for one in made]
    again = [reported(calm.after(one, trace=True)) for one in reversed(made)]
    assert again[::-1] == first
    whole = simulate(living(scenario), trace=False)
    assert reported(calm.run)[1:] == reported(whole)[1:]
    assert calm.run.decisions == whole.decisions


@pytest.mark.parametrize("seed", range(4))
def test_random_verbs_go_on_as_from_the_start(seed: int) -> None:
    """A fork that is played on equals the run from the start, and the one that it left does, too."""
    dice, scenario = Dice(seed), example("shop")
    second = dice.choice(SECONDS)
    calm = CalmCluster(scenario, second)
    before = reported(calm.run.fork(trace=True))
    for _ in range(2):
        made = entries(scenario, *anything(dice, scenario, second))
        lines, *rest = reported(simulate(reread(scenario, with_entries(scenario.documents, made))))
        case = calm.after(made, trace=True)
        played = case.index
        assert reported(case) == (lines[played:], *rest)
    assert reported(calm.run.fork(trace=True)) == before


@pytest.mark.parametrize("seed", range(3))
def test_random_verbs_come_to_the_same_unrecorded(seed: int) -> None:
    """Decisions, stored objects, the end, and typed objects, which have followed in one go where read."""
    dice, scenario = Dice(seed), example("shop")
    made = entries(scenario, *anything(dice, scenario, 5.0))
    one, other = (CalmCluster(scenario, 5.0, recorded=recorded).outcome(made) for recorded in (True, False))
    assert other.decisions == one.decisions
    assert other.placement() == one.placement()
    assert counted(other) == counted(one)
    assert other.controlled_objects() == one.controlled_objects()
    assert plane_of(other).server.objects == plane_of(one).server.objects
    assert isinstance(one, LoneSimulation) and isinstance(other, LoneSimulation)
    assert other.ending == one.ending


@pytest.mark.parametrize("second", SECONDS)
def test_runs_that_share_their_beginning_are_compared_as_two(second: float) -> None:
    """Every pair of cycles is as if both runs were played from the start."""
    shop = example("shop")
    made = entries(shop, ("drain", f"general-1@{second:g}"), ("fail", f"memory-1@{second + 30:g}"))
    sides = on_one_plane((shop, load_documents(with_entries(shop.documents, made))))
    for pair in (sides, sides[::-1]):
        shared, apart = InStep(*pair), InStep(*pair, shared=False)
        assert shared.a is shared.b
        for ours, theirs in zip(shared, apart, strict=True):
            for one, other in zip(ours, theirs, strict=True):
                assert (one and (one.decision, one.time, one.step)) == (
                    other and (other.decision, other.time, other.step)
                )
        assert reported(shared.b)[1:] == reported(apart.b)[1:]
        assert reported(shared.a)[1:] == reported(apart.a)[1:]


@pytest.mark.parametrize("slug", ["shop", "spread-over-zones", "making-room"])
def test_further_operations_are_read_as_with_their_cluster(slug: str) -> None:
    """Entries that are read by themselves give the scenario of all documents, and the same errors."""
    scenario = ExtensibleScenario(example(slug))
    own = scenario.scenario
    node = next(one.meta.name for one in own.objects if isinstance(one, Node))
    sets = [one.meta for one in own.objects if isinstance(one, Workload) and one.kind == "Deployment"]
    asked = [(verb, f"{node}@60") for verb in ("drain", "fail", "cordon", "force-drain")]
    asked += [("restart", f"deploy/{one.namespace}/{one.name}@60") for one in sets[:1]]
    for made in (entries(own, one) for one in asked):
        assert scenario.extended(made) == reread(own, with_entries(own.documents, made))
    missing = entries(own, asked[0])
    missing[0]["patchOperation"]["objectMeta"]["name"] = "nowhere"
    with pytest.raises(BundleError) as ours:
        scenario.extended(missing)
    with pytest.raises(BundleError) as theirs:
        reread(own, with_entries(own.documents, missing))
    assert str(ours.value) == str(theirs.value)


def test_a_restart_of_the_scheduler_is_read_with_its_cluster() -> None:
    """What an operation on the configuration says of the release is that of the whole scenario."""
    scenario = ExtensibleScenario(example("shop"))
    own = scenario.scenario
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "until": 500}
    made = [{"time": 60, "createOperation": {"object": settings}}]
    assert scenario.extended(made) == reread(own, with_entries(own.documents, made))


def test_a_later_operation_goes_on_from_the_kept_second() -> None:
    """A case whose first operation lands later shares what was played, and comes to the same."""
    scenario = example("shop")
    calm = CalmCluster(scenario)
    made = entries(scenario, ("drain", "general-1@300"))
    case = calm.after(made, trace=True)
    played = case.index
    lines, *rest = reported(simulate(reread(scenario, with_entries(scenario.documents, made))))
    assert played > 0
    assert reported(case) == (lines[played:], *rest)


def test_a_case_ends_with_what_it_changes() -> None:
    """A rollout that has finished keeps no run alive; one whose pod finds no place is given up in time."""
    placed = CalmCluster(example("drain-budget")).outcome([])
    assert placed.time < 120
    scenario = example("shop")
    calm, made = CalmCluster(scenario), entries(scenario, ("drain", "general-1@60"))
    whole, until = calm.outcome(made), calm.outcome(made, until=70)
    assert 60 < until.time <= 70 < whole.time
    assert until.decisions == whole.decisions[: until.index]
