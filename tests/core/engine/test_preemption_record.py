"""What a Cycle tells of preemption: every dry run, every comparison, and why the other nodes are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from scheduler_core import Simulation
from scheduler_core.authoring.examples import find
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.cycle import Cycle
from scheduler_core.record.preemption import Preemption, PutBack
from scheduler_core.run.trace import preemption_detail, trace_cycle
from scheduler_core.settings.settings import Settings
from tests.core.engine.builders import affinity, budget, node, obj, one, pod, scenario, simulate


def tried(cycle: Cycle | None) -> Preemption:
    """Return what a cycle's preemption tried."""
    assert cycle is not None
    assert cycle.preemption is not None
    return cycle.preemption


def fixed(*manifests: dict[str, Any]) -> Simulation:
    """Make a simulation in which no quirk is in force."""
    return Simulation(replace(scenario(*manifests), settings=Settings(quirks="fixed")))


def hopeless(record: Preemption) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return why each node is no candidate, and the reasons, by name."""
    return {
        record.nodes[at]: (group.why, group.reasons)
        for group in record.hopeless
        for at in group.nodes.tolist()
    }


@pytest.fixture(scope="module")
def making_room() -> list[Cycle]:
    """The cycles of the example that shows preemption."""
    example = find("making-room")
    assert example is not None
    return list(Simulation(example.load()))


def test_a_dry_run_tells_who_was_put_back_and_why_not() -> None:
    """Violating pods come first, then by priority; a victim's step says what the pod would have lacked."""
    record = tried(
        simulate(
            one("n"),
            pod("low", {"cpu": "300m"}, on="n", priority=1),
            pod("high", {"cpu": "300m"}, on="n", priority=5),
            pod("db", {"cpu": "400m"}, on="n", priority=0, labels={"app": "db"}),
            budget("db", 0, app="db"),
            pod("p", {"cpu": "500m"}, priority=10),
        ).step()
    )
    (run,) = record.candidates
    assert [p.key for p in run.removed] == ["default/low", "default/high", "default/db"]
    assert list(run.steps()) == [
        PutBack("default/db", 0, ("default/db",), True, ()),
        PutBack("default/high", 5, (), False, ("Insufficient cpu",)),
        PutBack("default/low", 1, (), False, ("Insufficient cpu",)),
    ]
    assert (run.victims, run.violations) == (["default/high", "default/low"], 0)


def test_every_node_that_is_no_candidate_is_reported_with_the_reason() -> None:
    """A taint, a higher priority and a node that is too small are three different reasons."""
    record = tried(
        simulate(
            node("tainted", taints=["k=v:NoSchedule"]),
            one("higher"),
            one("small"),
            pod("important", {"cpu": "1"}, on="higher", priority=99),
            pod("tiny", {"cpu": "100m"}, on="small"),
            pod("p", {"cpu": "2"}, priority=10),
        ).step()
    )
    assert hopeless(record) == {
        "tainted": ("unresolvable", ("node(s) had taints that the pod didn't tolerate",)),
        "higher": ("nothing-lower", ("Insufficient cpu",)),
        "small": ("still-unfit", ("Insufficient cpu",)),
    }
    assert (record.candidates, record.node, record.victims, record.decided_by) == ([], None, [], None)


def test_an_error_is_the_reason_where_one_keeps_the_pod_off() -> None:
    """A node where a predicate would raise an error even without the others is reported with the error."""
    claim = obj("PersistentVolumeClaim", "c", spec={"volumeName": "gone"})
    cycle = simulate(
        one("n"),
        claim,
        pod("v", {"cpu": "1"}, on="n"),
        pod(
            "p",
            {"cpu": "1"},
            priority=10,
            volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
        ),
    ).step()
    assert hopeless(tried(cycle)) == {"n": ("still-unfit", ('could not find v1.PersistentVolume "gone"',))}


def test_every_node_is_a_candidate_or_hopeless(making_room: list[Cycle]) -> None:
    """No node is left out, and none is reported twice."""
    for cycle in making_room:
        if cycle.preemption is not None:
            record = cycle.preemption
            listed = [record.nodes[run.node] for run in record.candidates]
            assert sorted([*listed, *hopeless(record)]) == sorted(cycle.nodes)


def test_the_comparisons_narrow_down_to_the_chosen_node(making_room: list[Cycle]) -> None:
    """Each criterion starts with those that stayed; the values say why the others are out."""
    record = tried(making_room[0])
    assert [
        (row.criterion, dict(zip([record.nodes[at] for at in row.nodes], row.values.tolist())), row.decided)
        for row in record.comparisons
    ] == [
        ("no-victims", dict.fromkeys(["worker-1", "worker-2", "worker-3", "worker-4", "worker-5"], 1), False),
        (
            "pdb-violations",
            {"worker-1": 1, "worker-2": 0, "worker-3": 0, "worker-4": 0, "worker-5": 0},
            False,
        ),
        ("first-priority", {"worker-2": 100, "worker-3": 10, "worker-4": 10, "worker-5": 10}, False),
        ("priority-sum", {"worker-3": 2**32 + 20, "worker-4": 2**31 + 10, "worker-5": 2**31 + 10}, False),
        ("victim-count", {"worker-4": 1, "worker-5": 1}, False),
        ("name", {"worker-4": 0, "worker-5": 1}, True),
    ]
    assert (record.node, record.decided_by, record.ties) == ("worker-4", "name", ("worker-4", "worker-5"))
    for row in record.comparisons:
        assert row.stay.tolist() == (row.values == row.values.min()).tolist()


def test_one_candidate_is_not_compared() -> None:
    """With a single candidate no criterion decides anything."""
    record = tried(
        simulate(one("n"), pod("v", {"cpu": "1"}, on="n"), pod("p", {"cpu": "1"}, priority=1)).step()
    )
    assert (record.node, record.comparisons, record.decided_by) == ("n", [], None)


def test_victims_that_are_still_leaving_are_named() -> None:
    """A pod that waits for its victims to go tells which, and from where."""
    record = tried(
        simulate(
            one("n"),
            pod("leaving", {"cpu": "1"}, on="n", priority=0, deletionTimestamp="2018-06-01T00:00:00Z"),
            pod("p", {"cpu": "1"}, priority=2, nominatedNodeName="n"),
        ).step()
    )
    assert (record.eligible, record.leaving, record.leaving_from) == (False, ("default/leaving",), "n")
    assert (record.candidates, record.hopeless) == ([], [])


def test_cleared_nominations_are_in_the_record() -> None:
    """The record and the decision name the same pods that lose their nomination."""
    cycle = simulate(
        one("n"),
        pod("v", {"cpu": "1"}, on="n", priority=0),
        pod("low", {"cpu": "1"}, priority=1, nominatedNodeName="n"),
        pod("high", {"cpu": "1"}, priority=2),
    ).step()
    assert tried(cycle).cleared == ("default/low",)


PASSES = {
    "fails with the nominated pod there": ("800m", "400m", 1),
    "passes both times": ("300m", "400m", None),
    "fails without it too": ("300m", "2", 1),
}


@pytest.mark.parametrize("case", PASSES)
def test_a_node_with_nominated_pods_tells_which_pass_failed(case: str) -> None:
    """The first pass is with the nominated pods of equal or higher priority; nodes without are not shown."""
    nominated, asked, failed = PASSES[case]
    cycle = simulate(
        one("other", unschedulable=True),
        one("n"),
        pod("p", {"cpu": asked}, priority=5),
        pod("waiting", {"cpu": nominated}, priority=5, nominatedNodeName="n"),
        pod("lower", {"cpu": "1"}, priority=4, nominatedNodeName="other"),
    ).step()
    assert cycle is not None
    assert cycle.pod == "default/p"
    assert [(entry.node, entry.pods, entry.failed) for entry in cycle.nominated_passes] == [
        (1, ("default/waiting",), failed)
    ]


def test_the_second_pass_alone_fails_where_affinity_rests_on_the_nominated_pod() -> None:
    """Where nominated pods count as targets, a pod that wants to be near one fits only while it counts."""
    cycle = fixed(
        one("n", labels={"zone": "z"}),
        pod("p", {"cpu": "100m"}, priority=5, affinity=affinity("podAffinity", app="x")),
        pod("waiting", {"cpu": "100m"}, priority=5, labels={"app": "x"}, nominatedNodeName="n"),
    ).step()
    assert cycle is not None
    assert [(entry.pods, entry.failed) for entry in cycle.nominated_passes] == [(("default/waiting",), 2)]


def test_without_a_trace_nothing_is_recorded(making_room: list[Cycle]) -> None:
    """The decisions are the same; the record is left out."""
    example = find("making-room")
    assert example is not None
    bare = list(Simulation(example.load(), trace=False))
    assert [cycle.decision for cycle in bare] == [cycle.decision for cycle in making_room]
    assert [(cycle.preemption, cycle.nominated_passes) for cycle in bare] == [(None, ())] * len(bare)


def test_the_trace_tells_the_whole_record(making_room: list[Cycle]) -> None:
    """The detail beside the recorded format keeps to its schema and names the criterion that decided."""
    schema = json.loads((Path(__file__).parents[3] / "docs" / "trace.schema.json").read_text())
    line = plain(trace_cycle(making_room[0]))
    jsonschema.Draft202012Validator(schema).validate(line)
    detail = line["preemptionDetail"]
    assert detail["dryRuns"]["worker-1"]["putBack"][0] == {
        "pod": "default/db-0",
        "priority": 100,
        "violates": ["default/db"],
        "result": "victim",
        "reasons": ["Insufficient cpu"],
    }
    assert detail["decidedBy"] == "name"
    assert detail["criteria"][1]["stay"] == ["worker-2", "worker-3", "worker-4", "worker-5"]
    assert preemption_detail(None) is None


# --- the two quirks, in force and fixed


def two_victims_of_one_budget() -> list[dict[str, Any]]:
    """Make one node whose two pods have to go, under a budget that allows one of them."""
    return [
        one("n"),
        *(pod(f"v{i}", {"cpu": "500m"}, on="n", labels={"app": "db"}, priority=i) for i in range(2)),
        budget("db", 1, app="db"),
        pod("p", {"cpu": "1"}, priority=10),
    ]


def test_a_budget_of_one_covers_every_victim_in_v1_11() -> None:
    """With disruptions-not-counted-down no victim violates the budget."""
    run = tried(simulate(*two_victims_of_one_budget()).step()).candidates[0]
    assert (run.victims, run.violations) == (["default/v1", "default/v0"], 0)


def test_a_budget_is_used_up_where_the_quirk_is_fixed() -> None:
    """The pod of the higher priority uses up the one disruption; the other violates, and so stands first."""
    run = tried(fixed(*two_victims_of_one_budget()).step()).candidates[0]
    assert (run.victims, run.violations) == (["default/v0", "default/v1"], 1)
    assert run.budgets == {"default/v0": ("default/db",)}


def test_each_of_several_budgets_is_counted_down_on_its_own() -> None:
    """A pod that two budgets select uses up both and names those that have nothing left."""
    run = tried(
        fixed(
            one("n"),
            pod("a", {"cpu": "500m"}, on="n", labels={"app": "db", "tier": "x"}, priority=2),
            pod("b", {"cpu": "500m"}, on="n", labels={"app": "db"}, priority=1),
            pod("plain", on="n", labels={"app": "web"}),
            pod("bare", on="n"),
            budget("db", 1, app="db"),
            budget("x", 0, tier="x"),
            pod("p", {"cpu": "1"}, priority=10),
        ).step()
    ).candidates[0]
    assert run.budgets == {"default/a": ("default/x",), "default/b": ("default/db",)}


def violating_first() -> list[dict[str, Any]]:
    """Make two nodes with one violation each: a's first victim is lowest, but its second is the highest."""
    return [
        one("a"),
        one("b"),
        pod("a-db", {"cpu": "500m"}, on="a", priority=1, labels={"app": "db"}),
        pod("a-top", {"cpu": "500m"}, on="a", priority=9),
        pod("b-db", {"cpu": "500m"}, on="b", priority=5, labels={"app": "db"}),
        pod("b-low", {"cpu": "500m"}, on="b", priority=0),
        budget("db", 0, app="db"),
        pod("p", {"cpu": "1"}, priority=10),
    ]


@pytest.mark.parametrize(
    ("run", "criterion", "chosen"),
    [(simulate, "first-priority", "a"), (fixed, "highest-priority", "b")],
    ids=["v1.11", "fixed"],
)
def test_first_or_highest_victim_decides(run: Callable[..., Simulation], criterion: str, chosen: str) -> None:
    """v1.11 compares the first victims; where that is fixed, the highest ones."""
    record = tried(run(*violating_first()).step())
    assert (record.decided_by, record.node) == (criterion, chosen)
