"""A run that is packed as bytes continues in another process as if it had never stopped."""

from __future__ import annotations

import gc
import json
import os
import random
import subprocess
import sys
import weakref

import pytest

from scheduler_core import load
from scheduler_core.authoring.examples import Example, examples
from scheduler_core.run import Stepper, pack, simulate, unpack
from scheduler_core.run.trace import trace_line
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.extenders.approval import using
from scheduler_core.schedulers.extenders.port import Reply
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
from scheduler_core.run import pack, simulate
simulation = simulate(load(sys.stdin.read()), trace=False)
for _ in range(int(sys.argv[1])):
    simulation.step()
sys.stdout.buffer.write(pack(simulation))
"""
SETTINGS = "---\n{{apiVersion: podstep/v1, kind: SimulationSettings, {}}}\n"
LIVING = NODES + PODS + SETTINGS.format("time: virtual")
CACHED = NODES + PODS + SETTINGS.format("scheduler: v1.11, cache: v1.11")


def rest(simulation: Stepper) -> list[str]:
    """Return the trace of the cycles that are left."""
    simulation.record(trace=True)
    return [trace_line(cycle) for cycle in simulation]


def stopped(scenario: Scenario, cycles: int) -> V1_37Simulation:
    """Return a run after so many cycles."""
    simulation = V1_37Simulation(scenario, trace=False)
    for _ in range(cycles):
        simulation.step()
    return simulation


@pytest.mark.parametrize(("text", "cycles"), [(TEXT, 1), (TEXT, 4), (LIVING, 2), (CACHED, 2)])
def test_another_process_continues_it(text: str, cycles: int) -> None:
    """Hashes of strings differ there; so does the identity of every object."""
    seed = {"PYTHONHASHSEED": str(random.Random(cycles).randrange(1, 1000))}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(cycles)],
        input=text.encode(), capture_output=True, check=True, env={**os.environ, **seed},
    )  # fmt: skip
    whole = [trace_line(cycle) for cycle in simulate(load(text))]
    assert len(whole) > cycles
    assert rest(unpack(done.stdout, load(text))) == whole[cycles:]


@pytest.mark.parametrize(
    "example", [one for one in examples() if one.slug in CURRENT], ids=lambda one: one.slug
)
def test_groups_and_devices_continue(example: Example) -> None:
    """At every cycle; what continues does not touch what it was packed from."""
    whole = [trace_line(cycle) for cycle in V1_37Simulation(example.load())]
    for cycles in range(len(whole) + 1):
        simulation = stopped(example.load(), cycles)
        packed = pack(simulation)
        assert packed is not None
        assert rest(unpack(packed, example.load())) == rest(simulation) == whole[cycles:]


@pytest.mark.parametrize("text", [TEXT, CACHED], ids=["v1.37", "v1.11"])
def test_nothing_but_its_reader_keeps_an_unpacked_run(text: str) -> None:
    """Servers collect garbage in full once an hour, and each opened cycle may unpack a run."""
    simulation = simulate(load(text), trace=False)
    simulation.step()
    packed = pack(simulation)
    assert packed is not None
    continued = unpack(packed, load(text))
    continued.step()
    cluster = weakref.ref(continued.cluster)
    gc.disable()
    try:
        del continued
        assert cluster() is None
    finally:
        gc.enable()


class Silent:
    """A transport to extenders that refuse nothing, which counts what they are asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def approves(self, url: str) -> bool:
        """Approve of any URL."""
        return bool(url)

    def post(self, url: str, body: str, timeout: float, about: str) -> Reply:
        """Answer the nodes of the call."""
        del url, timeout
        self.asked.append(about)
        return Reply(200, json.dumps({"NodeNames": json.loads(body)["NodeNames"]}), "", 0.0, "live")


def test_extenders_are_not_asked_again_elsewhere() -> None:
    """What they have answered is with the run; later cycles ask through the other process's transport."""
    extender = """---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders: [{urlPrefix: "http://127.0.0.1:1/", filterVerb: filter, nodeCacheCapable: true}]
"""
    text = NODES + PODS + extender + SCHEDULER
    here, there = Silent(), Silent()
    with using(here):
        simulation = stopped(load(text), 2)
        packed = pack(simulation)
        assert packed is not None
        asked = len(here.asked)
        whole = rest(simulation)
    with using(there):
        continued = unpack(packed, load(text))
        assert rest(continued) == whole
    assert asked > 0
    assert there.asked == here.asked[asked:]
    assert continued.recorded_answers() == simulation.recorded_answers()
