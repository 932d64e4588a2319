"""What pods of one class share is reused, and no decision depends on it."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.cli.workloads import SHAPES, ZONE, workload
from scheduler_core.kubernetes.model import Container, Pod
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_line
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11 import vectors
from scheduler_core.schedulers.v1_11.vectors import ClassVectors
from tests.conformance.random_records import record
from tests.core.engine.builders import node, obj, operation, pod, scenario
from tests.core.trials import trials


@pytest.mark.parametrize("start", range(0, trials(30), 30))
def test_reuse_is_exact_on_random_clusters(start: int) -> None:
    """With and without reuse between pods of one class, every line of the trace is the same."""
    for seed in range(start, start + 30):
        case = record(seed)
        made = replace(load_documents(case["objects"], expand=False, admission=False), policy=case["policy"])
        reused, evaluated = Simulation(made), Simulation(made, reuse=False)
        assert [trace_line(cycle) for cycle in reused] == [trace_line(cycle) for cycle in evaluated], seed


@pytest.mark.parametrize("shape", SHAPES)
def test_reuse_is_exact_while_a_cluster_fills_and_changes(shape: str) -> None:
    """Pods of two classes overfill a cluster whose nodes come and go; reuse decides as evaluation does."""
    base = workload(shape, 9, 60)
    big = (Container("c", "big", {"cpu": 900, "memory": 100}),)
    heavy = [
        replace(p, meta=replace(p.meta, name=f"x-{p.meta.name}"), priority=n % 3, containers=big)
        for n, p in enumerate(base.objects[-60:])
        if isinstance(p, Pod)
    ]
    mixed = [pod for pair in zip(base.objects[-60:], heavy) for pod in pair]
    operations = (
        operation(1, "delete", node("node-00003")),
        operation(2, "create", node("node-99", labels={"disktype": "ssd", ZONE: "zone-1"})),
        operation(3, "delete", pod("pod-00001")),
        operation(4, "create", pod("late", {"cpu": "3"}, priority=9)),
    )
    history = Scenario("", (), (*base.objects[:-60], *mixed), operations)
    reused, evaluated = Simulation(history), Simulation(history, reuse=False)
    lines = [trace_line(cycle) for cycle in reused]
    assert lines == [trace_line(cycle) for cycle in evaluated]
    assert len(lines) > 120
    assert {json.loads(line)["result"] for line in lines} == {"scheduled", "unschedulable"}


NODE_SHAPES = (
    {"cpu": "2", "memory": "4Gi", "pods": "6"},
    {"cpu": "3", "memory": "2Gi", "pods": "9", "example.com/gpu": "2"},
    {"cpu": "2", "memory": "4Gi", "pods": "6", "example.com/gpu": "1"},
)
POD_CLASSES: tuple[dict[str, Any], ...] = (
    {"requests": {"cpu": "300m", "memory": "300Mi"}},
    {"requests": {"cpu": "100m", "example.com/gpu": "1"}},
    {"requests": {"memory": "700Mi"}, "nodeSelector": {"disk": "ssd"}},
    {"requests": {}, "volumes": [{"name": "scratch", "emptyDir": {}}]},
    {"requests": {"cpu": "200m"}, "ports": [{"hostPort": 8080}]},
    {"requests": {"cpu": "50m"}, "volumes": [{"name": "d", "awsElasticBlockStore": {"volumeID": "v"}}]},
)


def mixed(seed: int) -> Scenario:
    """Make nodes of a few shapes and more pods of a few classes than fit, all in random order."""
    random = Random(seed)
    nodes = [
        node(f"n{i}", labels={"disk": random.choice(("ssd", "hdd"))}, allocatable=random.choice(NODE_SHAPES))
        for i in range(6)
    ]
    pods = [
        pod(f"p{i}", priority=random.choice((0, 0, 0, 5)), labels={"app": "a"}, **random.choice(POD_CLASSES))
        for i in range(60)
    ]
    service = obj("Service", "a", spec={"selector": {"app": "a"}})
    always = {"kind": "Policy", "apiVersion": "v1", "alwaysCheckAllPredicates": True}
    return scenario(*nodes, service, *pods, policy=random.choice((None, always)))


@pytest.mark.parametrize("seed", range(20))
def test_a_node_in_a_known_state_is_looked_up(seed: int) -> None:
    """On nodes that differ in resources, labels, ports and disks, what is looked up is what is true."""
    mix = mixed(seed)
    reused, evaluated = Simulation(mix), Simulation(mix, reuse=False)
    assert [trace_line(cycle) for cycle in reused] == [trace_line(cycle) for cycle in evaluated]
    untraced = Simulation(mix, trace=False)
    assert [cycle.decision for cycle in untraced] == evaluated.decisions


def test_nodes_that_fill_alike_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine equal nodes take 60 pods of one class: rules run for the seven fillings of one of them."""
    renew, renewed = ClassVectors._renew, []

    def counted(*arguments: Any) -> Any:
        renewed.append(arguments)
        return renew(*arguments)

    monkeypatch.setattr(ClassVectors, "_renew", counted)
    filled = Simulation(workload("plain", 9, 60), trace=False)
    assert sum(cycle.result == "scheduled" for cycle in filled) == 60
    assert len(renewed) == 7


def test_states_are_forgotten_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class remembers only so many states of nodes, and decides the same after it forgot."""
    monkeypatch.setattr(vectors, "FOUND_LIMIT", 9)
    mix = mixed(3)
    forgetful, evaluated = Simulation(mix, trace=False), Simulation(mix, trace=False, reuse=False)
    assert [cycle.decision for cycle in forgetful] == [cycle.decision for cycle in evaluated]
    assert all(len(kept._found) <= 9 for kept in forgetful._schedulers[""].vectors._kept.values())
