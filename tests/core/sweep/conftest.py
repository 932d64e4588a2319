"""A small cluster to sweep over."""

from __future__ import annotations

import pytest

from scheduler_core.scenario.load import load
from scheduler_core.scenario.scenario import Scenario

NODE = """
apiVersion: v1
kind: Node
metadata:
  name: n{number}
  labels: {{kubernetes.io/hostname: n{number}}}
  annotations: {{podstep/price-per-hour: "0.5"}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "110"}}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec: {{containers: [{{name: c, image: i, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}
"""
PODS = {"small-1": "1", "small-2": "1", "small-3": "1", "large-1": "3", "large-2": "3"}


@pytest.fixture(scope="session")
def small() -> Scenario:
    """Two nodes of four cpus, and pods of nine cpus in all: the order of arrival decides who waits."""
    nodes = [NODE.format(number=number) for number in (1, 2)]
    pods = [POD.format(name=name, cpu=cpu) for name, cpu in PODS.items()]
    return load("---".join([*nodes, *pods]))
