"""What the StatefulSet controller and the garbage collector of v1.37.1 do."""

from __future__ import annotations

import pytest

from tests.core.controllers.lives import Facts, live, node, seconds, template, workload

NODES = [node("n1"), node("n2")]
ORPHANED = {"do": "delete", "kind": "StatefulSet", "name": "a", "propagation": "Orphan"}


def test_a_recreated_set_adopts_pods_and_revisions() -> None:
    """Its template's revision is the one that orphaned pods have: none is replaced (adoptOrphanRevisions)."""
    again = {"do": "create", "object": workload("StatefulSet", replicas=2)}
    expect = live([*NODES, workload("StatefulSet", replicas=2)], 10, ORPHANED, 5, again, 30)
    assert seconds(expect, "deleting") == []
    assert expect["final"]["workloads"]["StatefulSet/default/a"]["status"]["updated"] == 2


def test_a_recreated_set_counts_its_revisions_on() -> None:
    """Another template is the second revision, and its pods replace the adopted ones."""
    other = {"do": "create", "object": workload("StatefulSet", replicas=2, template=template("app:2"))}
    expect = live([*NODES, workload("StatefulSet", replicas=2)], 10, ORPHANED, 5, other, 30)
    assert expect["final"]["workloads"]["StatefulSet/default/a"]["status"]["updateRevision"] == "2"
    assert len(seconds(expect, "deleting", by="statefulset")) == 2


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_undoing_a_set_brings_the_revision_before(kind: str) -> None:
    """``kubectl rollout undo`` restores the template of the last revision but one."""
    image = {"do": "image", "kind": kind, "name": "a", "image": "app:2"}
    undo = {"do": "rollback", "kind": kind, "name": "a"}
    expect = live([*NODES, workload(kind)], 5, image, 20, undo, 20)
    last = [one for one in expect["timeline"] if one["what"] == "created"][-1]
    assert (last["time"] > 25, last["revision"]) == (True, "3")


def test_several_containers_restart_as_one_does() -> None:
    """The kubelet waits by the restarts of a container, not by their sum over a pod's containers."""
    two = template(run_seconds=5)
    two["spec"]["containers"] = [{"name": name, "image": "app:1"} for name in ("main", "side")]
    expect = live([*NODES, workload("ReplicaSet", template=two)], 60)
    assert seconds(expect, "ready") == [7, 23, 49]


@pytest.mark.parametrize(
    ("made", "field"),
    [
        (workload("StatefulSet", replicas=3), "replicas"),
        (workload("Deployment", replicas=3), "replicas"),
        (workload("Job", template=template(policy="Never"), parallelism=3, completions=5), "parallelism"),
    ],
)
def test_a_patch_that_takes_a_size_away_leaves_the_default(made: Facts, field: str) -> None:
    """The API server gives defaults on every write: one pod is left."""
    patch = {"do": "patch", "kind": made["kind"], "name": "a", "patch": {"spec": {field: None}}}
    expect = live([*NODES, made], 10, patch, 20)
    assert expect["final"]["workloads"][f"{made['kind']}/default/a"]["pods"] == 1
