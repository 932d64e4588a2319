"""A scenario in virtual time tells the same story in every process."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.core.timed.parts import coscheduling, group, history, node, pod
from tests.core.timed.test_gang_changes import CLASS, claim, member, volume

WORKLOADS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {podstep/start-seconds: "2"}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  completions: 4
  parallelism: 2
  template:
    metadata: {annotations: {podstep/run-seconds: "7"}}
    spec: {restartPolicy: Never, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
"""
GROUP = "scheduling.x-k8s.io/pod-group: g"
PROGRAM = """
import sys
from scheduler_core import load
from scheduler_core.schedulers.coscheduling.observer import phases_of
from scheduler_core.run.trace import trace_line
from scheduler_core.run.simulation import TimedSimulation

made = TimedSimulation(load(sys.stdin.read()))
for cycle in made:
    print(trace_line(cycle))
print(made.rest, made.placement(), phases_of(made.observers))
"""


def bundle() -> str:
    """Return gangs, controllers and claims that meet on three nodes, one of which fails."""
    claims = [f", volumes: [{{name: v, persistentVolumeClaim: {{claimName: c-{place}}}}}]" for place in "01"]
    roll = (
        "time: 30, patchOperation: {typeMeta: {kind: Deployment}, objectMeta: {name: web}, "
        "patchType: merge, patch: {spec: {replicas: 4, template: {metadata: {labels: {v: two}}}}}}"
    )
    failing = {"podstep/fails-at": "20", "podstep/recovers-at": "90"}
    return "---\n".join(
        (
            coscheduling(permitWaitingTimeSeconds=5),
            CLASS,
            *(node(f"n{place}", 2, failing if place == 2 else None, host=f"n{place}") for place in range(3)),
            *(volume(f"pv-{place}", f"n{place}") for place in range(3)),
            *(claim(f"c-{place}") for place in range(2)),
            group("g", 3),
            *(member(f"g-{place}", GROUP, spec=claims[place]) for place in range(2)),
            member("g-2", GROUP),
            group("h", 3),
            *(pod(f"h-{place}", 2, group="h") for place in range(3)),
            pod("urgent", 2, priority=9, run="12"),
            WORKLOADS,
            history(roll),
        )
    )


def story(seed: str) -> str:
    """Return the trace of the scenario, written by a process of its own with a seed of its hashes."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=bundle(),
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


def test_two_processes_tell_the_same_story() -> None:
    """Not even the order in which sets happen to list strings shows in the trace or at the end."""
    first = story("1")
    reported = first.splitlines()
    assert len(reported) > 20
    assert all(word in first for word in ('"waiting"', "default/g-0", "default/web-", "default/work-"))
    assert story("2").splitlines() == reported
