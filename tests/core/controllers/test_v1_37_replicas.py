"""Which pods ReplicaSets and Deployments of v1.37.1 remove, and what they report."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.cluster.v1_37 import server
from scheduler_core.run.living.records import answer
from tests.core.controllers.test_v1_37_nodes import node, pod

ADVANCE = {"do": "advance", "seconds": 100}


def workload(kind: str, replicas: int, **spec: Any) -> dict[str, Any]:
    """Return a workload ``web`` of one container; ``spec`` are more fields of its spec."""
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}
    meta = {"name": "web", "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec}


def expect(objects: list[dict[str, Any]], *steps: dict[str, Any]) -> dict[str, Any]:
    """Return timeline and final of a life."""
    return dict(answer({"id": "x", "config": None, "objects": objects, "steps": list(steps)})["expect"])


@pytest.mark.parametrize(("kind", "left"), [("ReplicaSet", {"a": 2}), ("Deployment", {"a": 1, "b": 1})])
def test_only_sets_of_a_deployment_thin_out_nodes(kind: str, left: dict[str, int]) -> None:
    """A set without a controller ranks no pods by node (getReplicaSetsWithSameController)."""
    scale = {"do": "scale", "kind": kind, "name": "web"}
    steps = (
        ADVANCE,
        {"do": "cordon", "node": "a"},
        {"do": "create", "object": node("b")},
        {**scale, "replicas": 3},
        {"do": "advance", "seconds": 10},
        {**scale, "replicas": 2},
        ADVANCE,
    )
    final = expect([node("a"), workload(kind, 2)], *steps)["final"]
    assert final["workloads"][f"{kind}/default/web"]["nodes"] == left


def test_old_sets_without_replicas_are_not_counted_as_available() -> None:
    """A set just scaled to 0 still reports its pods; they let no further old pod go within that second."""
    made = workload("Deployment", 3, strategy={"rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}})
    template = made["spec"]["template"]
    template["metadata"]["annotations"] = {"podstep/start-seconds": "2"}
    template["spec"]["terminationGracePeriodSeconds"] = 1
    image = {"do": "image", "kind": "Deployment", "name": "web"}
    three = {"do": "advance", "seconds": 3}
    steps = ({**three, "seconds": 10}, {**image, "image": "i:2"}, three, {**image, "image": "i:3"}, three)
    timeline = expect([node("a"), node("b"), made], *steps, ADVANCE)["timeline"]
    scaled = [one for one in timeline if one["what"] == "scaled" and one["revision"] == "2"]
    shrunk = [(one["time"], one["replicas"]) for one in scaled if one["from"] > one["replicas"]]
    assert shrunk == [(13, 2), (15, 1), (17, 0)]


def test_equal_pods_that_were_owned_go_before_one_just_adopted() -> None:
    """FilterPodsByOwner lists a set's own pods first, and sorting keeps the order of equal ones."""
    adopt = {"do": "patchPods", "node": "b", "patch": {"metadata": {"labels": {"app": "web"}}}}
    closed = node("b")
    closed["spec"] = {"unschedulable": True}
    objects = [node("a"), closed, pod("a-free", nodeName="b"), workload("ReplicaSet", 2)]
    nodes = expect(objects, ADVANCE, adopt, ADVANCE)["final"]["nodes"]
    assert {name: one["pods"] for name, one in nodes.items()} == {"a": 1, "b": 1}


def test_restarts_are_those_of_the_container_that_restarted_most() -> None:
    """Two containers restart together: their backoff doubles with each restart, not with their sum."""
    made = workload("ReplicaSet", 1)
    template = made["spec"]["template"]
    template["spec"]["containers"].append({"name": "d", "image": "i:1"})
    template["metadata"]["annotations"] = {"podstep/run-seconds": "1", "podstep/outcome": "Failed"}
    timeline = expect([node("a"), made], ADVANCE)["timeline"]
    assert [one["time"] for one in timeline if one["what"] == "ready"] == [3, 15, 37, 79]


def test_a_failure_to_create_pods_is_a_condition_of_set_and_deployment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ReplicaFailure names its reason, on the Deployment too (getReplicaFailures)."""
    full = property(lambda store: len(store.objects.get("Pod", ())) >= 1)
    monkeypatch.setattr(server.ApiServer, "is_full", full)
    final = expect([node("a"), workload("Deployment", 2)], ADVANCE)["final"]
    assert final["workloads"]["Deployment/default/web"]["conditions"]["ReplicaFailure"] == "True FailedCreate"


def test_a_paused_deployment_is_not_rolled_back() -> None:
    """Kubectl rollout undo refuses a Deployment that is paused."""
    by = {"kind": "Deployment", "name": "web"}
    steps = (
        {"do": "image", **by, "image": "i:2"},
        ADVANCE,
        {"do": "patch", **by, "patch": {"spec": {"paused": True}}},
        {"do": "rollback", **by},
        {"do": "patch", **by, "patch": {"spec": {"paused": None}}},
        ADVANCE,
    )
    final = expect([node("a"), workload("Deployment", 1)], ADVANCE, *steps)["final"]
    revisions = final["workloads"]["Deployment/default/web"]["revisions"]
    assert [(one["image"], one["replicas"]) for one in revisions] == [("i:1", 0), ("i:2", 1)]


@pytest.mark.parametrize(
    ("strategy", "patch", "pods"),
    [
        ({"type": "RollingUpdate"}, {"replicas": None}, 1),
        ({"type": "Recreate"}, {"strategy": {"type": "RollingUpdate"}}, 2),
    ],
)
def test_a_patched_workload_gets_its_defaults_again(strategy: Any, patch: Any, pods: int) -> None:
    """What a patch removes or does not say is what the API's defaults say."""
    by = {"kind": "Deployment", "name": "web"}
    steps = (
        ADVANCE,
        {"do": "patch", **by, "patch": {"spec": patch}},
        {"do": "image", **by, "image": "i:2"},
        ADVANCE,
    )
    final = expect([node("a"), workload("Deployment", 2, strategy=strategy)], *steps)["final"]
    revisions = final["workloads"]["Deployment/default/web"]["revisions"]
    assert [one["available"] for one in revisions] == [0, pods]
