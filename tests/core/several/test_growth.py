"""How the work of a run grows with its cluster: a zone that is lost, with all that follows from it."""

from __future__ import annotations

from cProfile import Profile

import pytest

from scheduler_core.run import simulate
from scheduler_core.run.several.lone import LoneSimulation
from scheduler_core.scenario.load import load

NODE = """\
kind: Node
apiVersion: v1
metadata: {{name: node-{number:03}, labels: {{topology.kubernetes.io/zone: {zone}}}}}
status:
  allocatable: {{cpu: "8", memory: 32Gi, pods: "110"}}
  conditions: [{{type: Ready, status: "True"}}]
---
"""
DEPLOYMENT = """\
kind: Deployment
apiVersion: apps/v1
metadata: {{name: web-{number:03}, namespace: default}}
spec:
  replicas: 5
  selector: {{matchLabels: {{app: web-{number:03}}}}}
  template:
    metadata: {{labels: {{app: web-{number:03}}}}}
    spec: {{containers: [{{name: c, image: x, resources: {{requests: {{cpu: 300m}}}}}}]}}
---
"""
SETTINGS = "kind: SimulationSettings\ntime: virtual\nscheduler: v1.37\n"


def bundle(size: int, fails_at: int | None) -> str:
    """Return a cluster of 40 × ``size`` nodes in three zones and 2 × ``size`` Deployments."""
    nodes = [NODE.format(number=number, zone="abc"[number % 3]) for number in range(40 * size)]
    if fails_at is not None:
        mark = f"annotations: {{podstep/fails-at: '{fails_at}'}}, labels:"
        nodes = [one.replace("labels:", mark) if "zone: a" in one else one for one in nodes]
    return "".join(nodes + [DEPLOYMENT.format(number=one) for one in range(2 * size)]) + SETTINGS


def work(size: int, fails_at: int | None) -> tuple[int, int]:
    """Return how many calls a run makes from its start to its end, and how many events it has."""
    scenario = load(bundle(size, fails_at))
    profile = Profile()
    profile.enable()
    simulation = simulate(scenario, trace=False)
    assert isinstance(simulation, LoneSimulation)
    for _ in simulation:
        pass
    profile.disable()
    return sum(one.callcount for one in profile.getstats()), simulation.happenings


@pytest.mark.parametrize("fails_at", [None, 30])
def test_twice_the_cluster_is_twice_the_work(fails_at: int | None) -> None:
    """The calls of a run grow with what happens in it, not with nodes × moments or pods × writes."""
    work(1, fails_at)  # imports and caches
    (small, few), (large, many) = work(2, fails_at), work(4, fails_at)
    assert 1.8 < many / few < 2.2, "twice the cluster has twice the events"
    assert large / small < 2.3
