"""A run that is packed as bytes continues in another process as if it had never stopped."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from scheduler_core import load
from scheduler_core.authoring.examples import Example, examples
from scheduler_core.run import simulate
from scheduler_core.run.trace import trace_line
from scheduler_core.run.v1_37.simulation import V1_37Simulation, unpacked
from scheduler_core.scenario.scenario import Scenario
from tests.core.timed.test_examples import CURRENT
from tests.core.v1_37.test_simulation import NODES, PODS, SCHEDULER

RESTART = """  - step: 3
    createOperation:
      object:
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        percentageOfNodesToScore: 50
  - step: 4
    createOperation:
      object:
        apiVersion: v1
        kind: Node
        metadata: {name: n3, labels: {zone: c}}
        status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
  - step: 5
    deleteOperation: {typeMeta: {kind: Node}, objectMeta: {name: n1}}
"""
TEXT = NODES + PODS + RESTART + SCHEDULER
CHILD = """
import sys
from scheduler_core import load
from scheduler_core.run import simulate
simulation = simulate(load(sys.stdin.read()), trace=False)
for _ in range(int(sys.argv[1])):
    simulation.step()
sys.stdout.buffer.write(simulation.packed())
"""


def rest(simulation: V1_37Simulation) -> list[str]:
    """Return the trace of the cycles that are left."""
    simulation.record(trace=True)
    return [trace_line(cycle) for cycle in simulation]


def stopped(scenario: Scenario, cycles: int) -> V1_37Simulation:
    """Return a run after so many cycles."""
    simulation = V1_37Simulation(scenario, trace=False)
    for _ in range(cycles):
        simulation.step()
    return simulation


@pytest.mark.parametrize("cycles", [1, 4])
def test_another_process_continues_it(cycles: int) -> None:
    """Hashes of strings differ there; so does the identity of every object."""
    seed = {"PYTHONHASHSEED": str(random.Random(cycles).randrange(1, 1000))}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(cycles)],
        input=TEXT.encode(), capture_output=True, check=True, env={**os.environ, **seed},
    )  # fmt: skip
    whole = [trace_line(cycle) for cycle in simulate(load(TEXT))]
    assert len(whole) > cycles
    assert rest(unpacked(done.stdout, load(TEXT))) == whole[cycles:]


@pytest.mark.parametrize(
    "example", [one for one in examples() if one.slug in CURRENT], ids=lambda one: one.slug
)
def test_groups_and_devices_continue(example: Example) -> None:
    """At every cycle; what continues does not touch what it was packed from."""
    whole = [trace_line(cycle) for cycle in V1_37Simulation(example.load())]
    for cycles in range(len(whole) + 1):
        simulation = stopped(example.load(), cycles)
        packed = simulation.packed()
        assert packed is not None
        assert rest(unpacked(packed, example.load())) == rest(simulation) == whole[cycles:]


def test_extenders_are_not_asked_again_elsewhere() -> None:
    """A run with extenders has answers of its own, so that it replays its decisions."""
    extender = """---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders: [{urlPrefix: "http://127.0.0.1:1/", filterVerb: filter}]
"""
    assert stopped(load(NODES + extender + SCHEDULER), 0).packed() is None
