"""Another policy in a running simulation: the scheduler restarts, and what it held in memory is gone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from scheduler_core import load
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_cycle, trace_line
from scheduler_core.scenario.reconfiguration import RESTARTS
from scheduler_core.scenario.scenario import Scenario
from tests.core.engine.builders import Manifest, node, pod

SCHEMA = Path(__file__).parents[3] / "docs" / "trace.schema.json"
POLICY: Manifest = {"apiVersion": "v1", "kind": "Policy"}
SETTINGS: Manifest = {"apiVersion": "podstep/v1", "kind": "SimulationSettings"}


def create(manifest: Manifest, step: int = 1, **more: Any) -> Manifest:
    """Make a create operation."""
    return {"step": step, "createOperation": {"object": manifest}, **more}


def delete(kind: str, step: int = 1) -> Manifest:
    """Make an operation that goes back to the default configuration."""
    return {"step": step, "deleteOperation": {"typeMeta": {"kind": kind}}}


def patch(kind: str, patched: Any, step: int = 1, **more: Any) -> Manifest:
    """Make a patch operation on a configuration document."""
    return {"step": step, "patchOperation": {"typeMeta": {"kind": kind}, "patch": patched, **more}}


def story(*manifests: Manifest, operations: Iterable[Manifest]) -> Scenario:
    """Load a cluster and its history, lines included."""
    history = {"apiVersion": "v1", "kind": "Scenario", "spec": {"operations": list(operations)}}
    return load(write_yaml([*manifests, history]))


def tried(cycles: Iterable[Cycle]) -> list[tuple[str, str, str, str | None]]:
    """Return step, pod, result and node of each cycle."""
    return [(c.step, c.pod.partition("/")[2], c.result, c.node) for c in cycles]


def test_a_restart_tries_every_pending_pod_again() -> None:
    """Under another policy the unschedulable pods are active again, in the queue's order, with new rules."""
    scenario = story(
        node("plain"),
        pod("late", nodeSelector={"disk": "ssd"}),
        pod("first", nodeSelector={"disk": "ssd"}, priority=5),
        operations=[create({**POLICY, "predicates": [{"name": "PodFitsResources"}]}, id="lenient")],
    )
    cycles = list(Simulation(scenario))
    assert tried(cycles) == [
        ("1.1", "first", "unschedulable", None),
        ("1.2", "late", "unschedulable", None),
        ("2.1", "first", "scheduled", "plain"),
        ("2.2", "late", "scheduled", "plain"),
    ]
    restart = cycles[2].restart
    assert restart is not None
    assert restart.operations == cycles[2].operations == ("lenient",)
    assert restart.changes[1] == "PodFitsResources is evaluated"
    assert [c.restart for c in cycles if c is not cycles[2]] == [None, None, None]
    assert cycles[1].order != cycles[2].order == ("CheckNodeCondition", "PodFitsResources")
    assert plain(trace_cycle(cycles[2]))["restart"] == {
        "operations": ["lenient"],
        "changes": list(restart.changes),
    }
    assert plain(trace_cycle(cycles[0]))["restart"] is None


def test_the_round_robin_counter_starts_anew() -> None:
    """The counter of ties is the scheduler's memory: a restart sets it back to 0."""
    later = [create(pod(f"p{i}"), 2) for i in range(2)]
    scenario = story(
        node("a"), node("b"), pod("p"), operations=[create({**POLICY, "priorities": []}), *later]
    )
    cycles = list(Simulation(scenario))
    assert [(c.last_node_index, c.node) for c in cycles] == [(0, "b"), (0, "b"), (1, "a")]


def test_nominations_outlive_a_restart() -> None:
    """A nomination stands in the pod's status, so a scheduler that starts finds it."""
    scenario = story(
        node("n", allocatable={"cpu": "2", "memory": "1Gi", "pods": "9"}),
        pod("blocker", {"cpu": "2"}, on="n", priority=100),
        pod("waiting", {"cpu": "2"}, priority=50, nominatedNodeName="n"),
        operations=[
            create({**POLICY, "priorities": []}),
            {
                "step": 2,
                "deleteOperation": {
                    "typeMeta": {"kind": "Pod"},
                    "objectMeta": {"name": "blocker", "namespace": "default"},
                },
            },
            create(pod("small", {"cpu": "1"}, priority=60), 2),
        ],
    )
    simulation = Simulation(scenario)
    first = simulation.step()
    restarted = simulation.step()
    assert first is not None
    assert restarted is not None
    assert restarted.restart is not None
    nominated = [p.key for p in simulation.queue.nominated_to("n")]
    assert nominated == ["default/waiting"]


def test_a_patch_changes_the_policy_in_force() -> None:
    """Priorities are merged by name; what the patch leaves out stays; the next patch starts from there."""
    given = {**POLICY, "priorities": [{"name": "EqualPriority", "weight": 1}]}
    scenario = story(
        node("a"),
        given,
        pod("p", {"cpu": "99"}),
        operations=[
            patch("Policy", {"priorities": [{"name": "EqualPriority", "weight": 7}]}, 1),
            patch("Policy", [{"op": "add", "path": "/alwaysCheckAllPredicates", "value": True}], 2),
            delete("Policy", 3),
            create({**SETTINGS, "predicateOrder": "proposal"}, 4),
        ],
    )
    changes = [c.restart.changes for c in Simulation(scenario) if c.restart is not None]
    assert changes[0] == ("EqualPriority weighs 7 instead of 1",)
    assert changes[1] == ("every predicate runs on every node",)
    assert changes[2][0] == "EqualPriority is no longer used"
    assert changes[3][2] == "the static order is the proposal's"
    assert len(changes) == 4


def test_several_changes_before_one_cycle_are_one_restart_to_see() -> None:
    """What differs is reported against the last cycle, not against each document in between."""
    scenario = story(
        node("a"),
        operations=[
            create({**POLICY, "alwaysCheckAllPredicates": True}, id="x"),
            delete("Policy", 2) | {"id": "y"},
            create(pod("p"), 3),
        ],
    )
    [cycle] = Simulation(scenario)
    assert cycle.restart is not None
    assert (cycle.restart.operations, cycle.restart.changes) == (("x", "y"), ())
    assert cycle.always_check_all is False


def test_replaying_across_a_restart_ends_in_the_same_state() -> None:
    """Replayed up to any cycle it goes on with the same lines, which keep to the schema, as does its text."""
    scenario = story(
        node("a"),
        node("b", taints=["k=v:NoSchedule"]),
        *(pod(f"p{i}", {"cpu": "1"}) for i in range(6)),
        operations=[
            create({**POLICY, "predicates": []}),
            create(pod("more"), 1),
            delete("Policy", 2),
            create(pod("last"), 2),
        ],
    )
    run = Simulation(scenario)
    lines = [trace_line(cycle) for cycle in run]
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    checked = jsonschema.validators.validator_for(schema)(schema)
    for line in lines:
        checked.validate(json.loads(line))
    assert sum(json.loads(line)["restart"] is not None for line in lines) == 2
    for half in range(len(lines) + 1):
        resumed = Simulation(scenario)
        resumed.replay(run.decisions[:half])
        assert [trace_line(cycle) for cycle in resumed] == lines[half:]
    assert [trace_line(cycle) for cycle in Simulation(load(scenario.to_yaml()))] == lines


HEAD = "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\n---\nkind: Scenario\nspec:\n  operations:\n"

# what the row says: the operations from line 8 on, the line, the end of the path, a part of the message
BAD = {
    "an unknown predicate": (
        (
            "  - step: 1\n    createOperation:\n      object:\n        kind: Policy\n"
            "        predicates:\n        - name: Nope\n"
        ),
        13,
        "createOperation.object.predicates[0].name",
        "Nope",
    ),
    "a weight of zero": (
        (
            "  - step: 1\n    createOperation:\n      object:\n        kind: Policy\n"
            "        priorities: [{name: EqualPriority, weight: 0}]\n"
        ),
        12,
        "createOperation.object.priorities[0].weight",
        "positive integer",
    ),
    "settings of an unknown word": (
        "  - step: 1\n    createOperation: {object: {kind: SimulationSettings, quirks: some}}\n",
        9,
        "createOperation.object.quirks",
        "allowed are",
    ),
    "a patch of no policy": (
        "  - step: 1\n    patchOperation:\n      typeMeta: {kind: Policy}\n      patch: {priorities: []}\n",
        10,
        "patchOperation.typeMeta.kind",
        "there is no Policy",
    ),
    "deleting settings that are not there": (
        "  - step: 1\n    deleteOperation: {typeMeta: {kind: SimulationSettings}}\n",
        9,
        "deleteOperation.typeMeta.kind",
        "there is no SimulationSettings",
    ),
    "a patch that changes the kind": (
        (
            "  - {step: 1, createOperation: {object: {kind: Policy}}}\n"
            "  - {step: 2, patchOperation: {typeMeta: {kind: Policy}, patch: {kind: Node}}}\n"
        ),
        9,
        "patchOperation.patch",
        "must leave an object of the kind Policy",
    ),
    "a patch that changes the apiVersion": (
        (
            "  - {step: 1, createOperation: {object: {kind: Policy}}}\n"
            "  - {step: 2, patchOperation: {typeMeta: {kind: Policy}, patch: {apiVersion: v2}}}\n"
        ),
        9,
        "patchOperation.patch",
        "the apiVersion v1",
    ),
    "an object without objectMeta": (
        "  - {step: 1, deleteOperation: {typeMeta: {kind: Node}}}\n",
        8,
        "deleteOperation.objectMeta",
        "name the Node",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_configuration_is_refused_on_its_line(case: str) -> None:
    """Loading tells what is wrong with an operation's policy, by line and path, before anything runs."""
    text, line, path, part = BAD[case]
    with pytest.raises(BundleError) as caught:
        load(HEAD + text)
    problem = caught.value.problems[0]
    assert problem.line == line
    assert problem.path.endswith(path)
    assert part in problem.message


def test_restarts_are_bounded() -> None:
    """A scenario that restarts its scheduler more often than is useful is refused."""
    flag = [create({**POLICY, "alwaysCheckAllPredicates": True}, n + 1) for n in range(RESTARTS + 1)]
    with pytest.raises(BundleError, match="more than 1,000 changes of the configuration"):
        story(node("a"), operations=flag)


def test_a_policy_of_another_system_is_still_ignored() -> None:
    """A kind called Policy of some other API group restarts nothing."""
    other = {"apiVersion": "kyverno.io/v1", "kind": "Policy", "metadata": {"name": "p"}}
    scenario = story(node("a"), operations=[create(other)])
    assert scenario.operations == ()
    assert any("has no effect" in problem.message for problem in scenario.warnings)
