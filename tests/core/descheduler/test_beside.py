"""The descheduler where other schedulers than a lone v1.37 place the replacements."""

from __future__ import annotations

import json

import jsonschema
import pytest

from scheduler_core import load
from scheduler_core.cli.descheduler_report import descheduler_lines
from scheduler_core.run.loop import Stepper
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.table import simulate
from scheduler_core.run.trace import trace_line
from scheduler_core.run.trace_schema import schema
from scheduler_core.scenario.scenario import Scenario
from tests.core.descheduler.test_controllers import CLUSTER, LOW, POLICY, nodes_of

QUEUE = """
apiVersion: scheduling.incubator.k8s.io/v1alpha1
kind: Queue
metadata: {name: default}
spec: {weight: 1}
"""
TWO = "time: virtual\nschedulers: [{name: default-scheduler, runs: v1.37}, {name: %s}]\nuntil: 400"
OF_RELEASE = TWO.replace("{name: %s}", "{name: %s, runs: %s, watchDelay: 0.2, bindDelay: 0.1}")
PLACED_BY = {
    "v1.37 beside another": (OF_RELEASE % ("other", "v1.37"), "default-scheduler"),
    "the other v1.37": (OF_RELEASE % ("other", "v1.37"), "other"),
    "v1.11 beside v1.37": (OF_RELEASE % ("old", "v1.11"), "old"),
    "v1.22": ("time: virtual\nscheduler: v1.22", "default-scheduler"),
    "kube-batch": ("time: virtual\nuntil: 400", "kube-batch"),
    "kube-batch beside v1.37": (TWO % "kube-batch", "kube-batch"),
    "Firmament": ("time: virtual\nuntil: 400", "poseidon"),
    "Firmament beside v1.37": (TWO % "poseidon", "poseidon"),
}
EACH = pytest.mark.parametrize(("settings", "name"), PLACED_BY.values(), ids=PLACED_BY)


def bundle(settings: str, name: str) -> Scenario:
    """Return six pods of a scheduler on one node, beside which an empty one comes, with a descheduler."""
    head = f"apiVersion: podstep/v1\nkind: SimulationSettings\ndescheduler: {{interval: 60s}}\n{settings}\n"
    named = CLUSTER.replace("spec: {containers", f"spec: {{schedulerName: {name}, containers")
    return load("\n---\n".join((head, POLICY % LOW, named, QUEUE)))


@EACH
def test_any_scheduler_places_the_replacements(settings: str, name: str) -> None:
    """As a lone v1.37 does: the nodes are even after one pass, and the second finds nothing."""
    scenario = bundle(settings, name)
    assert not any("descheduler has no effect" in one.message for one in scenario.warnings)
    made = simulate(scenario)
    assert isinstance(made, TimedSimulation)
    assert sum(len(list(cycle.decision.placements)) for cycle in made) == 9
    assert nodes_of(made) == {"n1": 3, "n2": 3}
    assert made.descheduler is not None
    assert list(descheduler_lines(made.descheduler)) == [
        "\nDescheduler: 2 passes, 3 evictions (LowNodeUtilization 3), 0 refused by a budget",
        "  requests of nodes differ by cpu 90 → 0%, memory 0 → 0%",
        "  LowNodeUtilization in the last pass: no node is underutilized",
    ]


@EACH
def test_its_run_forks_replays_and_is_traced(settings: str, name: str) -> None:
    """With the same decisions, and each pass in one line."""
    scenario = bundle(settings, name)
    whole = simulate(scenario)
    cycles = list(whole)
    lines = [json.loads(trace_line(cycle)) for cycle in cycles]
    validator = jsonschema.Draft202012Validator(schema())
    for line in (one for one in lines if one.get("descheduling") or one is lines[0]):
        validator.validate(line)
    assert sum(len(line.get("descheduling") or ()) for line in lines) == 1
    decisions = [cycle.decision for cycle in cycles]
    made = simulate(scenario)
    for _ in range(len(cycles) // 2):
        made.step()
    fork = made.fork(trace=True)
    assert [cycle.decision for cycle in fork] == decisions[len(cycles) // 2 :]
    again = simulate(scenario, trace=False)
    again.replay(decisions)
    assert again.done and again.placement() == whole.placement()


CONTESTED = """
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {podstep/release-seconds: "%s"}}
status: {allocatable: {cpu: "1", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {podstep/run-seconds: "5"}}
spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 600m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {schedulerName: other, containers: [{name: c, image: i, resources: {requests: {cpu: 600m}}}]}
"""
LATE = TWO.replace("{name: %s}", "{name: other, runs: v1.37, watchDelay: 2}")


def contested(late: int, *more: str) -> Stepper:
    """Return the end of a run in which two schedulers give away the room of one pod."""
    head = f"apiVersion: podstep/v1\nkind: SimulationSettings\ndescheduler: {{interval: 60s}}\n{LATE}\n"
    made = simulate(load("\n---\n".join((head, POLICY % LOW, CONTESTED % late, *more))))
    list(made)
    return made


def test_a_kubelet_refuses_what_does_not_fit() -> None:
    """Of two pods that were given the same room the later one fails for good, with the kubelet's reason."""
    made = contested(0)
    assert isinstance(made, TimedSimulation)
    assert not made.scenario.warnings
    assert {key: pod.phase for key, pod in made.framework.pods.items()} == {
        "default/a": "Succeeded",
        "default/b": "Failed",
    }
    rows = [(one.what, one.text) for one in made.rest.happenings if one.about == "default/b"]
    short = "Node didn't have enough resource: cpu, requested: 600, used: 600, capacity: 1000"
    assert ("OutOfcpu", short) in rows


PLACED = """
apiVersion: simulation.scheduling.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: later}
spec:
  operations:
  - id: "1"
    time: 20
    createOperation:
      object:
        apiVersion: v1
        kind: Pod
        metadata: {name: c}
        spec: {nodeName: n1, containers: [{name: c, image: i, resources: {requests: {cpu: 600m}}}]}
"""


@pytest.mark.parametrize(("late", "phase"), [(0, "Running"), (100, "Failed")])
def test_a_kubelet_counts_an_ended_pod_while_it_cleans_up(late: int, phase: str) -> None:
    """For the seconds that its node's annotation says; a pod that nobody scheduled is asked too."""
    made = contested(late, PLACED)
    assert isinstance(made, TimedSimulation)
    assert made.framework.pods["default/c"].phase == phase


@pytest.mark.parametrize(
    ("settings", "history", "message"),
    [
        ("scheduler: v1.11", "", "under v1.11, which has no controllers: write scheduler: v1.37"),
    ],
)
def test_where_it_cannot_run_the_settings_are_warned_of(settings: str, history: str, message: str) -> None:
    """With what to write instead."""
    found = bundle(settings, "default-scheduler")
    assert found.descheduler is None
    assert any(message in one.message and one.path == "descheduler" for one in found.warnings)
