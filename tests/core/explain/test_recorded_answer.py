"""The condition that a dump recorded for a pending pod, beside the simulated answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core import load
from scheduler_core.__main__ import main
from scheduler_core.explain import explain
from scheduler_core.explain.recorded_answer import RecordedAnswer

SYSTEM_POD = ("kube-system", "proxy", "1")


def node(name: str = "n1", *, real: bool = True, **status: Any) -> dict[str, Any]:
    """Return a node of 2 CPUs, as a kubelet v1.37 reports it."""
    info = {"nodeInfo": {"kubeletVersion": "v1.37.1"}} if real else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, **({"uid": f"u-{name}"} if real else {})},
        "status": {
            "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"},
            "conditions": [{"type": "Ready", "status": "True"}],
            **info,
            **status,
        },
    }


def pod(namespace: str, name: str, cpu: str, message: str | None = None, **spec: Any) -> dict[str, Any]:
    """Return a pod; with a message it is pending, as the cluster recorded it."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}], **spec},
        "status": {"phase": "Running"}
        if message is None
        else {"phase": "Pending", "conditions": [condition]},
    }


def system(node_name: str = "n1", cpu: str = "1") -> dict[str, Any]:
    return pod("kube-system", f"proxy-{node_name}", cpu, nodeName=node_name)


def answered(*objects: dict[str, Any]) -> RecordedAnswer:
    """Return the comparison for the pod default/web."""
    found = explain(load(yaml.safe_dump_all(objects)), "default/web").recorded
    assert found is not None
    return found


def insufficient(count: int, of: int) -> str:
    return f"0/{of} nodes are available: {count} Insufficient cpu."


@pytest.mark.parametrize(
    ("message", "objects"),
    [
        (insufficient(1, 1), [node(), system()]),
        ((f"{insufficient(1, 1)} preemption: 0/1 nodes are available: 1 No preemption victims found for "
         "incoming pod."), [node(), system()]),
        (
            "0/1 nodes are available: 1 node(s) had taint {a: }, that the pod didn't tolerate.",
            [node() | {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}, system()],
        ),
        (
            "0/1 nodes are available: 1 node(s) had taints that the pod didn't tolerate.",
            [node() | {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}, system()],
        ),
    ],
)  # fmt: skip
def test_the_same_reasons_agree_whatever_release_worded_them(
    message: str, objects: list[dict[str, Any]]
) -> None:
    """Counts and reasons are compared, not texts; what preemption found is not."""
    answer = answered(*objects, pod("default", "web", "1500m", message))
    assert answer.agrees, answer.differences
    assert answer.causes == ()
    assert answer.as_dict()["message"] == message


@pytest.mark.parametrize(
    ("message", "objects", "difference", "cause"),
    [
        (
            insufficient(1, 1),
            [node(), pod("web", "other", "100m", nodeName="n1")],
            "here the pod is placed on n1",
            "no pod of the namespace kube-system",
        ),
        (
            insufficient(3, 3),
            [node(), system()],
            "3 nodes recorded, 1 node here",
            "the cluster had 3 nodes when the condition was written, the dump has 1",
        ),
        (
            "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
            [node(), system()],
            "node affinity or selector: 1 recorded, none here",
            "taints or labels of nodes have changed",
        ),
        (
            insufficient(1, 1),
            [node(nodeInfo={"kubeletVersion": "v1.33.4"}), system(cpu="100m")],
            "here the pod is placed on n1",
            "the cluster runs v1.33 (its kubelets), the answer is kube-scheduler v1.37's",
        ),
        (
            "0/1 nodes are available: 1 node(s) had volume node affinity conflict.",
            [node(), system()],
            "Insufficient cpu: none recorded, 1 here",
            "the dump has no PersistentVolumes, claims or storage classes",
        ),
        (
            "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
            [node(), system(cpu="100m")],
            "here the pod is placed on n1",
            "the pod that holds the port is not in the dump",
        ),
        (
            "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
            [node(), system()],
            "Insufficient cpu: none recorded, 1 here",
            "the pod that holds the port is not in the dump",
        ),
        (
            "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.",
            [node(), system(cpu="100m")],
            "here the pod is placed on n1",
            "the pod whose anti-affinity excludes this one is not in the dump",
        ),
        (
            insufficient(1, 1),
            [node(), system(cpu="100m")],
            "here the pod is placed on n1",
            "the cluster has changed since its scheduler wrote the condition",
        ),
    ],
)
def test_a_difference_comes_with_its_likely_cause(
    message: str, objects: list[dict[str, Any]], difference: str, cause: str
) -> None:
    """What differs is counted, and what the dump shows about why is said."""
    answer = answered(*objects, pod("default", "web", "1500m", message))
    assert not answer.agrees
    assert any(difference in one for one in answer.differences), answer.differences
    assert any(cause in one for one in answer.causes), answer.causes


def test_the_commands_quote_what_the_cluster_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``simulate`` compares every pod with a condition, ``explain`` the one asked about."""
    path = tmp_path / "dump.json"
    objects = [node(), system(), pod("default", "web", "1500m", insufficient(2, 2))]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    for command in (["simulate", str(path)], ["explain", str(path), "--pod", "web"]):
        assert main(command) == 0
        out = capsys.readouterr().out
        assert f"recorded by the cluster: {insufficient(2, 2)}" in out
        assert "the simulation differs: 2 nodes recorded, 1 node here" in out
        assert "likely cause: the cluster had 2 nodes" in out


def test_after_an_operation_the_cluster_is_no_longer_the_one_that_was_dumped() -> None:
    """A condition is compared with the answer before any change that the scenario makes."""
    created = {"createOperation": {"object": node("n2")}}
    history = {"kind": "Scenario", "spec": {"operations": [{"step": 1, **created}]}}
    objects = [node(), system(), pod("default", "web", "1500m", insufficient(1, 1)), history]
    scenario = load(yaml.safe_dump_all(objects))
    assert explain(scenario, "default/web").recorded is None
    before = explain(scenario, "default/web", step=1).recorded
    assert before is not None and before.agrees
