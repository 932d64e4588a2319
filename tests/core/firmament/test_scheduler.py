"""Poseidon beside kube-scheduler in virtual time: rounds, gangs, records, replay, several schedulers."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from scheduler_core import load
from scheduler_core.explain import explain
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.table import simulate
from scheduler_core.run.trace import trace_line
from scheduler_core.schedulers.firmament.record import RoundRecord
from tests.core.timed.parts import history

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "trace.schema.json").read_text())
TIME = "{apiVersion: podstep/v1, kind: SimulationSettings, time: virtual}"
NODE = (
    "{{apiVersion: v1, kind: Node, metadata: {{name: {}}}, "
    "status: {{allocatable: {{cpu: '{}', memory: 8Gi, pods: '20'}}}}}}"
)
POD = (
    "{{apiVersion: v1, kind: Pod, metadata: {{name: {}}}, spec: {{schedulerName: poseidon, "
    "containers: [{{name: c, resources: {{requests: {{cpu: '{}', memory: 1Gi}}}}}}]}}}}"
)
GANG = (
    "{{apiVersion: batch/v1, kind: Job, metadata: {{name: gang}}, spec: {{parallelism: 4, completions: 4, "
    "template: {{metadata: {{annotations: {{firmament-gang-scheduling: '{}'}}}}, "
    "spec: {{schedulerName: poseidon, restartPolicy: Never, "
    "containers: [{{name: c, resources: {{requests: {{cpu: 1500m, memory: 1Gi}}}}}}]}}}}}}}}"
)
CLUSTER = (TIME, NODE.format("n1", 4), NODE.format("n2", 4), POD.format("a", 1), POD.format("b", 1))


def simulated(*documents: str):
    """Return a simulation of documents."""
    return simulate(load("\n---\n".join(documents)))


def cycles_of(*documents: str) -> list[Cycle]:
    """Return all cycles."""
    return list(simulated(*documents))


def test_a_round_places_all_pods_in_one_decision() -> None:
    """It runs at ten seconds, spreads the pods, and records its network."""
    (cycle,) = cycles_of(*CLUSTER)
    assert (cycle.scheduler, cycle.time) == ("poseidon", 10.0)
    assert sorted(dict(cycle.decision.placements).values()) == ["n1", "n2"]
    record = cycle.session
    assert isinstance(record, RoundRecord)
    (phase,) = record.phases
    (only,) = phase.classes
    assert [(arc.to, arc.flow, arc.capacity, arc.cost) for arc in only.arcs] == [
        ("n1", 1, 3, 2000),
        ("n2", 1, 3, 2000),
    ]
    path = record.paths["default/a"]
    assert (path.node, path.index, path.cost) == (cycle.node, 0, 2000)
    assert path.next_cost > 2000


def test_the_trace_has_the_round() -> None:
    """Its line satisfies the schema."""
    (cycle,) = cycles_of(*CLUSTER)
    line = json.loads(trace_line(cycle))
    jsonschema.validate(line, SCHEMA)
    assert line["round"]["number"] == 1
    assert "session" not in line


def test_an_exact_fit_is_refused_and_reported_once() -> None:
    """Why? begins with what Firmament reports."""
    run = simulated(TIME, NODE.format("n1", 4), POD.format("a", 4), POD.format("b", 1))
    cycles = list(run)
    assert dict(cycles[0].decision.placements) == {"default/b": "n1"}
    why = "1 refused by resources or the number of pods"
    reports = [
        event.message
        for cycle in cycles
        for event in cycle.events
        if event.reason == "FailedScheduling" and event.object == "pod/default/a"
    ]
    assert reports
    assert "Firmament failed to schedule the pod a in default namespace" in reports[0]
    assert why in reports[0]
    assert why in json.dumps(explain(run, "default/a").as_dict())


@pytest.mark.parametrize(("percent", "bound"), [("100", 0), ("75", 3), ("50", 3), ("101", 3), ("x", 3)])
def test_a_gang_is_placed_only_from_its_minimum_on(percent: str, bound: int) -> None:
    """Two nodes have room for three of four pods; what is no percentage is no gang."""
    nodes = NODE.format("n1", "3100m"), NODE.format("n2", "1600m")
    placed = [
        pair for cycle in cycles_of(TIME, *nodes, GANG.format(percent)) for pair in cycle.decision.placements
    ]
    assert len(placed) == bound


def test_a_run_is_replayed_and_forked_between_rounds() -> None:
    """The decisions rebuild the run; a copy goes on as the original does."""
    late = history("time: 15, createOperation: {object: " + POD.format("late", 1) + "}")
    decisions = [cycle.decision for cycle in cycles_of(*CLUSTER, late)]
    assert len(decisions) == 2
    again = simulated(*CLUSTER, late)
    again.replay(decisions[:1])
    copy = again.fork(trace=True)
    assert [cycle.decision for cycle in copy] == [cycle.decision for cycle in again] == decisions[1:]


@pytest.mark.parametrize("runs", ["v1.11", "v1.22", "v1.37"])
def test_it_runs_beside_any_kube_scheduler(runs: str) -> None:
    """Each places its own pods, and Firmament counts what the other has placed."""
    settings = (
        "{apiVersion: podstep/v1, kind: SimulationSettings, time: virtual, schedulers: ["
        f"{{name: default-scheduler, runs: {runs}, decisionTime: 0.01}}, {{name: poseidon}}]}}"
    )
    other = POD.format("other", "3500m").replace("schedulerName: poseidon, ", "")
    cycles = cycles_of(settings, *CLUSTER[1:], other)
    placed = {key: node for cycle in cycles for key, node in cycle.decision.placements}
    assert placed["default/a"] == placed["default/b"] != placed["default/other"]


def test_no_view_is_kept_for_it_unless_a_pod_names_it() -> None:
    """A run of several schedulers without its pods has no process of it."""
    settings = (
        "{apiVersion: podstep/v1, kind: SimulationSettings, time: virtual, "
        "schedulers: [{name: default-scheduler, decisionTime: 0.01}]}"
    )
    plain = POD.format("p", 1).replace("schedulerName: poseidon, ", "")
    assert "poseidon" not in simulated(settings, CLUSTER[1], plain).peers.peers
    assert "poseidon" in simulated(settings, CLUSTER[1], CLUSTER[3]).peers.peers
