"""Clusters in virtual time, built in a few words."""

from __future__ import annotations

from typing import Any

from scheduler_core import load
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.simulation import TimedSimulation

VIRTUAL = """
apiVersion: podstep/v1
kind: SimulationSettings
time: virtual
quirks: v1.11
"""
COSCHEDULING = """
apiVersion: kubescheduler.config.k8s.io/{version}
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    queueSort: {{enabled: [{{name: Coscheduling}}], disabled: [{{name: "*"}}]}}
{points}
  pluginConfig:
  - name: Coscheduling
    args: {args}
"""
FRAMEWORK = """
---
apiVersion: podstep/v1
kind: SimulationSettings
scheduler: v1.22
"""
POINTS = ("preFilter", "postFilter", "permit", "reserve")


def coscheduling(version: str = "v1", **args: int) -> str:
    """Return a configuration of the framework with the plugin, classic for v1beta2, current for v1."""
    points = POINTS if version == "v1" else (*POINTS, "postBind")
    listed = "\n".join(f"    {point}: {{enabled: [{{name: Coscheduling}}]}}" for point in points)
    written = COSCHEDULING.format(version=version, points=listed, args=args)
    return written + FRAMEWORK if version == "v1" else written


def node(name: str, cpu: str | int = 4, annotations: dict[str, str] | None = None, **labels: str) -> str:
    """Return a node's manifest."""
    return (
        f'apiVersion: v1\nkind: Node\nmetadata: {{name: "{name}", labels: {labels}, '
        f"annotations: {dict(annotations or ())}}}\n"
        f'status: {{allocatable: {{cpu: "{cpu}", memory: 64Gi, pods: "110"}}, '
        'conditions: [{type: Ready, status: "True"}]}\n'
    )


def pod(name: str, cpu: str | int = 1, *, group: str = "", priority: int = 0, **annotations: str) -> str:
    """Return a pod's manifest; ``run``, ``start`` and ``outcome`` become the annotations of its life."""
    names = {"run": "podstep/run-seconds", "start": "podstep/start-seconds", "outcome": "podstep/outcome"}
    reported = {names[key]: value for key, value in annotations.items() if value}
    labels = {"scheduling.x-k8s.io/pod-group": group} if group else {}
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {labels}, annotations: {reported}}}\n"
        f"spec: {{priority: {priority}, containers: [{{name: c, "
        f'resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}\n'
    )


def group(name: str, members: int, timeout: int | None = None) -> str:
    """Return a PodGroup's manifest."""
    waits = "" if timeout is None else f", scheduleTimeoutSeconds: {timeout}"
    return (
        f"apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {{name: {name}}}\n"
        f"spec: {{minMember: {members}{waits}}}\n"
    )


def history(*operations: str) -> str:
    """Return a Scenario of operations, each a mapping in YAML's flow style."""
    listed = "".join(f"  - {{id: op{place}, {one}}}\n" for place, one in enumerate(operations))
    return (
        "apiVersion: simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1\nkind: Scenario\n"
        "metadata: {name: s}\n"
        f"spec:\n  operations:\n{listed}"
    )


def simulation(*documents: str, trace: bool = True) -> TimedSimulation:
    """Return a simulation of documents."""
    return TimedSimulation(load("---\n".join(documents)), trace=trace)


def ended(*documents: str, **options: Any) -> tuple[TimedSimulation, list[Cycle]]:
    """Return a simulation that has run to its end, and its cycles."""
    made = simulation(*documents, **options)
    return made, list(made)
