"""The command ``explain`` of what Kueue holds, over files as people have them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from scheduler_core.__main__ import main
from tests.core.kueue.clusters import manifests, template

CLUSTER = {
    "queues": {
        "a": {"quota": {"default": 4}, "cohortName": "team", "preemption": {"reclaimWithinCohort": "Any"}},
        "b": {"quota": {"default": 4}, "cohortName": "team"},
    },
    "workloads": {"b1": "b 6"},
}


def job(name: str, queue: str, pods: int) -> dict[str, object]:
    """Return a Job of a LocalQueue."""
    meta = {"name": name, "namespace": "default", "labels": {"kueue.x-k8s.io/queue-name": queue}}
    spec = {"parallelism": pods, "completions": pods, "suspend": True, "template": template("1")}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Write a cluster with a Job that waits, and a Job to submit."""
    cluster, new = tmp_path / "cluster.yaml", tmp_path / "new.yaml"
    cluster.write_text(yaml.safe_dump_all([*manifests(CLUSTER), job("waits", "b", 3)]))
    new.write_text(yaml.safe_dump(job("new", "a", 4)))
    return str(cluster), str(new)


def test_a_job_is_explained_by_its_workload(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its place, what it asks, what is missing and who has it, and a change with its command."""
    assert main(["explain", files[0], "--job", "waits"]) == 0
    said = capsys.readouterr().out
    assert "is pending in ClusterQueue b: WaitingForQuota" in said
    assert "number 1 of 1 pending in the queue" in said
    assert "3 pods of cpu 1" in said
    assert "cpu in default: 3 wanted, 2 available (nominal 4, 6 used, 2 of it borrowed" in said
    assert "used by default/b1 6 (b)" in said
    assert "kubectl patch clusterqueue b --type=json" in said


def test_a_submission_says_whom_it_preempts(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """As JSON and in words, and the file's Job is not part of the cluster afterwards."""
    assert main(["explain", files[0], "--submit", files[1], "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["admitted"] and said["preempted"] == [
        {"workload": "default/b1", "reason": "InCohortReclamation"}
    ]
    assert main(["explain", files[0], "--submit", files[0]]) == 2
    assert "submit one" in capsys.readouterr().err


def test_what_kueue_does_not_know_is_named(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelled Job, files without queues, and settings that are not simulated."""
    assert main(["explain", files[0], "--job", "wait"]) == 2
    assert "did you mean 'default/waits'" in capsys.readouterr().err
    assert main(["explain", files[1], "--job", "new"]) == 2
    assert "no ClusterQueue" in capsys.readouterr().err
    settings = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    reported = tmp_path / "reported.yaml"
    reported.write_text(
        yaml.safe_dump_all([*manifests(CLUSTER), {**settings, "waitForPodsReady": {"timeout": "5m"}}])
    )
    assert main(["explain", str(reported), "--workload", "b1"]) == 0
    assert "not simulated: waitForPodsReady" in capsys.readouterr().out


def test_a_pod_of_a_job_that_waits_is_answered_by_kueue(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """No scheduler has the reason, so none is asked."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "waits", "uid": "u", "controller": True}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "waits-0", "namespace": "default", "ownerReferences": [owner]},
        **template("1"),
    }
    path = Path(files[0])
    path.write_text(f"{path.read_text()}---\n{yaml.safe_dump(pod)}")
    assert main(["explain", files[0], "--pod", "waits-0"]) == 0
    assert "is pending in ClusterQueue b: WaitingForQuota" in capsys.readouterr().out


def test_a_pod_that_kueue_gates_is_explained_by_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a living cluster: the scheduler names the gate, and Kueue says why it is still there."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "held",
            "namespace": "default",
            "labels": {"kueue.x-k8s.io/queue-name": "a"},
        },
        "spec": {"containers": template("9")["spec"]["containers"]},
    }
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-1"},
        "status": {"allocatable": {"cpu": "16", "memory": "8Gi", "pods": "10"}},
    }
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all([node, *manifests({**CLUSTER, "workloads": {}}), pod]))
    assert main(["explain", str(path), "--pod", "held"]) == 0
    said = capsys.readouterr().out
    assert "kueue.x-k8s.io/admission is removed" in said
    assert "Held by Kueue:" in said and "ExceedsMaxQuota" in said


def test_kueue_is_asked_at_a_second(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """After what verbs and operations did until then; a cycle of the scheduler is none of Kueue's."""
    assert main(["explain", files[0], "--job", "waits", "--at", "30"]) == 0
    assert "is pending in ClusterQueue b: WaitingForQuota" in capsys.readouterr().out
    assert main(["explain", files[0], "--submit", files[1], "--at", "30"]) == 0
    assert "Preempted in this order: default/b1 (InCohortReclamation)" in capsys.readouterr().out
    assert main(["explain", files[0], "--job", "waits", "--step", "3"]) == 2
    assert "ask Kueue with --at SECONDS" in capsys.readouterr().err
    assert main(["explain", files[0], "--pod", "some", "--at", "30"]) == 2
    assert "ask about a pod with --step" in capsys.readouterr().err


def test_pod_groups_are_named_where_they_could_change_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A warning at its line, in the summary of a run, and beside the answers for them and their cohort."""
    cluster = [*manifests({**CLUSTER, "workloads": {}}), job("beside", "b", 1)]
    labels = {"kueue.x-k8s.io/queue-name": "a", "kueue.x-k8s.io/pod-group-name": "team"}
    for name in ("one", "two"):
        meta = {"name": name, "namespace": "default", "labels": labels}
        containers = template("9")["spec"]["containers"]
        cluster.append(
            {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": containers}}
        )
    path = tmp_path / "groups.yaml"
    path.write_text(yaml.safe_dump_all(cluster))
    assert main(["simulate", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "pod groups of Kueue are not simulated: the 2 pods of default/team" in err
    assert "pods of group default/team are admitted one by one" in out
    for asked, said in (
        ("--pod=one", "all pods of the group team or none"),
        ("--job=beside", "pods of groups"),
    ):
        assert main(["explain", str(path), asked]) == 0
        text = capsys.readouterr().out
        assert said in text and "warning: " in text
