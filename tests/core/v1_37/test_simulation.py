"""Scenarios that kube-scheduler v1.37 answers: the driver decides what the recorded runs decide."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduler_core import Scenario, load, load_documents
from scheduler_core.objects.problems import BundleError
from scheduler_core.simulation.trace import trace_cycle
from scheduler_core.simulation.v1_37.record import release_record
from scheduler_core.simulation.v1_37.simulation import CurrentSimulation
from scheduler_core.simulation.virtual import simulate

DATA = Path(__file__).parents[2] / "conformance" / "data"
SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37"}
OWNERS = ("ReplicaSet", "StatefulSet", "ReplicationController")
STARTS = range(0, 200, 40)


def records(name: str, first: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield recorded runs."""
    with gzip.open(DATA / f"scheduler-v1.37-{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if first <= number < first + count:
                yield json.loads(line)


def owner(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded object; a controller, recorded for its selector, gets a template and no replicas."""
    spec = manifest.get("spec") or {}
    if manifest["kind"] not in OWNERS or spec.get("template"):
        return manifest
    selector = spec.get("selector") or {}
    labels = selector.get("matchLabels", selector) or {"app": "none"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {**manifest, "spec": {**spec, "replicas": 0, "template": template}}


def operation(number: int, step: dict[str, Any]) -> dict[str, Any] | None:
    """Return a recorded step as an operation; None for one that a Scenario cannot express."""
    if step["do"] == "advance" or step.get("hold"):
        return None
    meta = {key: step[key] for key in ("name", "namespace") if step.get(key)}
    target = {"typeMeta": {"kind": step.get("kind")}, "objectMeta": meta}
    body: dict[str, Any] = {"createOperation": {"object": owner(step["object"])}} if "object" in step else {}
    if step["do"] == "patch":
        body = {"patchOperation": {**target, "patch": step["patch"]}}
    elif step["do"] == "delete":
        body = {"deleteOperation": target}
    return {"id": str(number), "step": {"major": number}, **body}


def scenario_of(record: dict[str, Any]) -> Scenario | None:
    """Return a record as a scenario; None if it has steps or objects that a bundle has not."""
    if record.get("featureGates"):
        return None
    operations = [operation(number, step) for number, step in enumerate(record.get("steps", []), 1)]
    documents = [*map(owner, record["objects"]), SETTINGS]
    if record.get("config"):
        version = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        documents.append({**record["config"], **version})
    if None in operations:
        return None
    if operations:
        documents.append({"kind": "Scenario", "spec": {"operations": operations}})
    try:
        return load_documents(documents)
    except BundleError:  # the recorder took host ports that the API server refuses
        return None


def decided(record: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the recorded outcome of each attempt."""
    return [
        (
            each["pod"],
            each["result"],
            each["node"] if each["result"] == "scheduled" else None,
            each["message"],
        )
        for cycle in record["expect"]["cycles"]
        for each in cycle["attempts"]
        for node in (each["node"],)
    ]


@pytest.mark.parametrize("start", STARTS)
def test_a_scenario_is_decided_as_the_record_is(start: int) -> None:
    """Pods, results, nodes and messages of every cycle are those of the real scheduler."""
    compared = 0
    for record in records("cycles", start, 20):
        scenario = scenario_of(record)
        if scenario is None:
            continue
        cycles = list(simulate(scenario))
        assert [(c.pod, c.result, c.node, c.message) for c in cycles] == decided(record), record["id"]
        for cycle, expected in zip(cycles, record["expect"]["cycles"], strict=True):
            kept = release_record(cycle)
            assert kept is not None
            assert json.loads(json.dumps(kept.attempts[0].document())) == expected["attempts"][0], record[
                "id"
            ]
        compared += 1
    assert compared >= 12


def test_operations_are_decided_as_the_recorded_steps() -> None:
    """Patches, creations and deletions wake the pods that the plugins' hints name."""
    compared = 0
    for record in records("runs", 0, 40):
        scenario = scenario_of(record)
        if scenario is not None and not ignores(scenario):
            outcomes = [(c.pod, c.result, c.node, c.message) for c in simulate(scenario, trace=False)]
            assert outcomes == decided(record), record["id"]
            compared += 1
    assert compared >= 8


def ignores(scenario: Scenario) -> bool:
    """Return whether an operation of the record is on a kind without a reader."""
    return any("operation on a" in problem.message for problem in scenario.warnings)


NODES = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {zone: a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {zone: b}}
spec: {taints: [{key: dedicated, effect: NoSchedule}]}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
SCHEDULER = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.37\n"
PODS = """
---
apiVersion: v1
kind: Pod
metadata: {name: low}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: late}
spec: {priority: -1, nodeSelector: {disk: nvme}, containers: [{name: c, image: i}]}
---
kind: Scenario
spec:
  operations:
  - step: 1
    createOperation:
      object:
        apiVersion: v1
        kind: Pod
        metadata: {name: high}
        spec: {priority: 9, containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}
  - step: 2
    patchOperation:
      typeMeta: {kind: Node}
      objectMeta: {name: n1}
      patch: {metadata: {labels: {disk: nvme}}}
"""


def test_preemption_hints_and_filters_are_in_the_cycle() -> None:
    """A victim goes for the higher priority; the pod that waits for a label is woken by the node's change."""
    simulation = simulate(load(NODES + PODS + SCHEDULER))
    cycles = list(simulation)
    assert [(c.pod, c.result, c.node) for c in cycles] == [
        ("default/low", "scheduled", "n1"),
        ("default/late", "unschedulable", None),
        ("default/high", "unschedulable", None),
        ("default/high", "scheduled", "n1"),
        ("default/late", "scheduled", "n1"),
    ]
    failed = cycles[1]
    assert failed.matrix is not None
    codes = dict(zip(failed.matrix.order, failed.matrix.codes.tolist(), strict=True))
    assert codes["NodeName"] == [0, 0]
    assert codes["TaintToleration"][1] > 0
    assert codes["NodeAffinity"][0] > 0
    assert codes["NodeAffinity"][1] == -1, "a node is done at its first failing plugin"
    preempting = cycles[2]
    assert preempting.preemption is not None
    assert (preempting.preemption.node, preempting.preemption.victims) == ("n1", ["default/low"])
    assert preempting.decision.victims == ("default/low",)
    assert simulation.deleted == ["default/low"]
    record = release_record(failed)
    assert record is not None
    (hint,) = record.waiting
    assert next((plugin, text) for plugin, _, text in hint.events) == (
        "NodeAffinity",
        "a node with disk=nvme is added, or a node's labels change to that",
    )
    woken = release_record(cycles[4])
    assert woken is not None
    assert ("NodeUpdateNodeLabel", "active") in [(m["event"], m["to"]) for m in woken.moves]


def test_replay_and_fork_reach_the_same_cycles() -> None:
    """Decisions replayed on a copy, and steps of a fork, are those of the run; nothing is shared."""
    scenario = load(NODES + PODS + SCHEDULER)
    whole = simulate(scenario)
    traces = [trace_cycle(cycle) for cycle in whole]
    again = simulate(scenario, trace=False)
    again.replay(whole.decisions[:2])
    fork = again.fork(trace=True)
    assert isinstance(fork, CurrentSimulation)
    assert [trace_cycle(cycle) for cycle in fork] == traces[2:]
    assert again.index == 2
    again.replay(whole.decisions[2:])
    assert again.placement() == whole.placement() == fork.placement()
    with pytest.raises(ValueError, match="no pod is left"):
        again.replay(whole.decisions[:1])


def test_a_daemon_that_fits_nowhere_is_pending_with_its_reason() -> None:
    """The scheduler places the pods of DaemonSets: one too large waits, where v1.11 creates none."""
    daemon = """
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "5"}}}]}
"""
    (cycle,) = simulate(load(NODES + daemon + SCHEDULER))
    assert cycle.result == "unschedulable"
    assert (cycle.message or "").startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )
    assert not list(simulate(load(NODES + daemon, presumed="v1.11")))


def test_sidecars_pod_level_requests_and_limits_count() -> None:
    """A pod's requests are the API server's: from limits where none are given, with sidecars."""
    pods = """
---
apiVersion: v1
kind: Pod
metadata: {name: sidecar}
spec:
  initContainers: [{name: s, image: i, restartPolicy: Always, resources: {limits: {cpu: "2"}}}]
  containers: [{name: c, image: i, resources: {limits: {cpu: "2"}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: next}
spec: {resources: {limits: {cpu: 100m}}, containers: [{name: c, image: i}]}
"""
    first, second = simulate(load(NODES + pods + SCHEDULER))
    assert (first.node, second.result) == ("n1", "unschedulable")
    assert "1 Insufficient cpu" in (second.message or "")
