"""Real clusters as ``kubectl get`` printed them, scheduled, with messages as the real scheduler said them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core.__main__ import main

TRACE_FIELDS = {
    "index", "step", "time", "pod", "result", "node", "message", "order", "predicates", "failed", "feasible",
    "priorities", "totals", "lastNodeIndex", "preemption", "queue", "cache", "podGroup", "phases", "events",
}  # fmt: skip


def items(path: Path) -> list[dict[str, Any]]:
    """Read the items of a dumped List."""
    read: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["items"]
    return read


def write(path: Path, objects: list[dict[str, Any]]) -> str:
    """Write objects as a List."""
    path.write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, default=str), encoding="utf-8"
    )
    return str(path)


def cycles(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Simulate with the trace on standard output and read it."""
    assert main(["simulate", *arguments, "--trace", "-"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_real_cluster_schedules_two_of_its_pods_again(
    shared_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With two pods' nodeName deleted, both find a place on the five nodes, in traces with every field."""
    dump = shared_folder / "dumps" / "gke"
    pods = items(dump / "pods.yaml")
    freed = [pod for pod in pods if pod["status"]["phase"] == "Running" and "ReplicaSet" in str(pod)][:2]
    for pod in freed:
        del pod["spec"]["nodeName"]
        pod["status"] = {"phase": "Pending"}
    others = [str(dump / name) for name in ("nodes.yaml", "priorityclass.yaml", "service.yaml")]
    traced = cycles([*others, write(tmp_path / "pods.json", pods)], capsys)
    names = {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in freed}
    assert {cycle["pod"] for cycle in traced} == names
    assert all(cycle["result"] == "scheduled" and set(cycle) >= TRACE_FIELDS for cycle in traced)
    assert all(len(cycle["predicates"]) == 5 for cycle in traced)


def test_a_missing_gpu_is_named_as_the_real_scheduler_named_it(
    shared_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On one large node the message is the first sentence of the pod's own condition."""
    dump = shared_folder / "dumps" / "pending"
    node = next(n for n in items(dump / "nodes.json") if n["metadata"]["name"] == "repldev-marc")
    pod = items(dump / "pods-message-pending-pod-resources.json")[0]
    said = next(c["message"] for c in pod["status"]["conditions"] if c.get("reason") == "Unschedulable")
    (cycle,) = cycles([write(tmp_path / "one.json", [node, pod])], capsys)
    message = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
    assert cycle["message"].startswith(message)  # v1.37 also says why preemption does not help
    assert said.startswith(message)


def test_node_affinity_keeps_a_pod_off_the_only_node(
    shared_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On an arm64 node, as the real one must have been, the pod pends, in the words of today's scheduler."""
    dump = shared_folder / "dumps" / "pending"
    node = items(dump / "nodes.json")[0]
    node["metadata"]["labels"]["kubernetes.io/arch"] = "arm64"
    affine = [p for p in items(dump / "pods-message-pending-node-affinity.json") if p["spec"].get("affinity")]
    pending = [p for p in affine if not p["spec"].get("nodeName")]
    (cycle,) = cycles([write(tmp_path / "one.json", [node, *pending])], capsys)
    assert cycle["message"].startswith(
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: "
    )
