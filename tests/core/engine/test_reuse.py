"""What pods of one class share is reused, and no decision depends on it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from scheduler_core.cli.workloads import SHAPES, ZONE, workload
from scheduler_core.load import load_documents
from scheduler_core.objects.model import Container, Pod
from scheduler_core.scenario import Scenario
from scheduler_core.simulation import Simulation
from scheduler_core.trace import trace_line
from tests.conformance.random_records import record
from tests.core.engine.building import node, operation, pod


@pytest.mark.parametrize("start", range(0, 120, 30))
def test_reuse_is_exact_on_random_clusters(start: int) -> None:
    """With and without reuse between pods of one class, every line of the trace is the same."""
    for seed in range(start, start + 30):
        case = record(seed)
        scenario = replace(
            load_documents(case["objects"], expand=False, admission=False), policy=case["policy"]
        )
        reused, evaluated = Simulation(scenario), Simulation(scenario, reuse=False)
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
