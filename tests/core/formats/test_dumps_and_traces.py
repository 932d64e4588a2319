"""Recorded clusters: what a user would paste."""

from __future__ import annotations

from pathlib import Path

from scheduler_core import load
from scheduler_core.authoring.examples import trace_files
from scheduler_core.kubernetes.model import Pod


def _files(folder: Path) -> list[tuple[str, bytes]]:
    return [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]


def test_a_gke_cluster_loads_without_a_word(shared_folder: Path) -> None:
    """A whole dump of a healthy cluster gives no warning: none would be worth reading."""
    scenario = load(_files(shared_folder / "dumps" / "gke"))
    assert scenario.summary == {"Node": 5, "Pod": 32, "PriorityClass": 3, "Service": 10}
    assert scenario.warnings == ()
    assert all(o.node_name for o in scenario.objects if isinstance(o, Pod) and not o.terminal)
    assert load(scenario.to_yaml()).objects == scenario.objects


def test_dumps_of_pending_pods_say_which_node_and_which_pods_are_missing(shared_folder: Path) -> None:
    """A pod of another cluster is left out with one warning; StatefulSets become their pods."""
    scenario = load(_files(shared_folder / "dumps" / "pending"))
    assert sum(w.incomplete for w in scenario.warnings) == 2
    assert [w.message for w in scenario.warnings if not w.incomplete] == [
        "node 'chart-testing-control-plane' does not exist: its pods are left out of the cluster"
    ]
    pending = [o.meta.name for o in scenario.objects if isinstance(o, Pod) and not o.node_name]
    assert "pending-pod-resources-5fddcf7688-djjfc" in pending
    assert sum(name.startswith(("alertmanager", "prometheus")) for name in pending) >= 2


def test_the_recorded_gpu_cluster_becomes_a_history(shared_folder: Path) -> None:
    """Every pod of the trace is created at its time, in any order of the two files."""
    files = _files(shared_folder / "traces")
    kept = load([f for f in files if f[0].endswith(".gz")][::-1])
    assert kept.summary == {"Node": 1523, "Scenario": 1}
    assert sum(op.action == "create" for op in kept.operations) == 8152
    times = [op.time for op in kept.operations]
    assert times == sorted(times)
    ignored = load([f for f in files if f[0].endswith(".gz")], times="ignore")
    assert ignored.summary == {"Node": 1523, "Pod": 8152}
    assert ignored.operations == ()


def test_a_trace_s_columns_become_resources_and_affinity() -> None:
    """GPUs are extended resources, a share asks for the share alone, gpu_spec is required affinity."""
    nodes = "sn,cpu_milli,memory_mib,gpu,model\nn1,4000,8192,2,T4\n"
    header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
    pods = header + "whole,1000,1024,2,1000\nshare,500,512,1,250\nall,1,1,0,0"
    node, *found = load([("", pods), ("", nodes)]).objects
    assert node.allocatable["alibabacloud.com/gpu-milli"] == 2000
    assert [dict(p.containers[0].requests) for p in found] == [
        {"cpu": 1000, "memory": 2**30, "alibabacloud.com/gpu-count": 2, "alibabacloud.com/gpu-milli": 2000},
        {"cpu": 500, "memory": 2**29, "alibabacloud.com/gpu-milli": 250},
        {"cpu": 1, "memory": 2**20},
    ]


def test_the_shipped_excerpt_has_the_trace_s_form() -> None:
    """The example's CSV files read as a history of forty tasks."""
    scenario = load(trace_files())
    assert scenario.summary == {"Node": 12, "Scenario": 1}
    created = [op.object for op in scenario.operations if op.action == "create"]
    assert len(created) == 40
    assert any(pod.affinity.node_required for pod in created if isinstance(pod, Pod) and pod.affinity)
