"""What another release decides otherwise: the rule behind it, by running without it, and every pod's end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.__main__ import main
from scheduler_core.compare.again import taken_off
from scheduler_core.compare.compare import PolicyComparison, compare
from scheduler_core.compare.upgrade import rules_behind
from scheduler_core.run import simulate
from scheduler_core.scenario.load import load_documents


def node(name: str, cpu: str, memory: str, **fields: Any) -> dict[str, Any]:
    """Return a node with so much of both."""
    status = {"allocatable": {"cpu": cpu, "memory": memory, "pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status, **fields}


def pod(name: str, cpu: str, memory: str, **spec: Any) -> dict[str, Any]:
    """Return a pod that requests so much of both."""
    requests = {"requests": {"cpu": cpu, "memory": memory}}
    containers = [{"name": "c", "image": "a", "resources": requests}]
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": containers, **spec}}


def under(first: str, second: str, *documents: dict[str, Any]) -> PolicyComparison:
    """Compare two releases."""
    a, b = (load_documents(documents, scheduler=one) for one in (first, second))
    return compare(a, b)


def test_the_rule_behind_a_different_node_is_proven_and_put_into_words() -> None:
    """Both ways round: without it, the release decides as the other one does."""
    for releases in (("v1.35", "v1.37"), ("v1.37", "v1.35"), ("v1.35", "v1.36")):
        made = under(*releases, *SCORED)
        assert made.decision is not None
        assert made.upgrade is not None
        (rule,) = made.upgrade.rules
        assert (rule.subject, rule.proven) == ("NodeResourcesBalancedAllocation", True)
        assert (rule.release, rule.other) == ("v1.35", "v1.36")
        assert made.decision.history == (rule.sentence,)
        assert rule.source.endswith(
            "/release-1.35/pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go"
        )
        assert made.upgrade.counts["other node"] == 1
    assert under("v1.36", "v1.37", *SCORED).same


SCORED = [
    node("a", "10", "10Gi"),
    node("b", "10", "10Gi"),
    # With the next pod a is used more evenly, but the pod makes b more even than it is.
    pod("on-a", "3", "4Gi", nodeName="a"),
    pod("on-b", "1", "5Gi", nodeName="b"),
    pod("p", "1", "3Gi"),
]


def test_messages_that_differ_name_their_rule_and_pods_keep_their_places() -> None:
    """A pod that stays pending is mentioned with both messages; nothing else changes."""
    made = under("v1.36", "v1.37", *SCORED, pod("large", "90", "1Gi"))
    assert made.decision is None
    assert made.upgrade is not None
    assert made.upgrade.message is not None
    (rule,) = made.upgrade.message.rules
    assert (rule.subject, rule.proven) == ("DynamicResources", True)
    assert made.upgrade.message.a.startswith("0/2 nodes are available: 2 Insufficient cpu. no new claims")
    assert made.upgrade.counts == {
        "same node": 3, "other node": 0, "newly pending": 0, "newly placed": 0, "other message": 1,
    }  # fmt: skip
    assert [(row.pod, row.change) for row in made.upgrade.rows] == [("default/large", "other message")]


def test_a_gate_that_is_off_in_a_release_keeps_a_pod_pending_in_the_other() -> None:
    """Extended resources that devices back: v1.35 looks at what the node reports alone."""
    backed = {
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
        "spec": {"extendedResourceName": "example.com/gpu"},
    }  # fmt: skip
    piece = {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
        "spec": {
            "driver": "d", "nodeName": "a", "devices": [{"name": "g"}],
            "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
        },
    }  # fmt: skip
    asking = pod("p", "1", "1Gi")
    asking["spec"]["containers"][0]["resources"] = {
        "requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}
    }  # fmt: skip
    made = under("v1.37", "v1.35", node("a", "4", "8Gi"), backed, piece, asking)
    assert made.upgrade is not None
    assert [(row.pod, row.change, row.a) for row in made.upgrade.rows] == [
        ("default/p", "newly pending", "a")
    ]
    assert "DRAExtendedResource" in made.upgrade.history[0]


def test_what_lives_or_is_too_late_is_named_as_possible() -> None:
    """Nothing is claimed that was not run."""
    scenarios = tuple(load_documents(SCORED, scheduler=one) for one in ("v1.35", "v1.36"))
    a, b = (next(iter(simulate(one))) for one in scenarios)
    found = rules_behind((scenarios[0], scenarios[1]), 10**6, a, b, lambda cycle: cycle.node)
    assert len(found) > 3
    assert not any(rule.proven for rule in found)
    assert found[0].sentence.startswith("It may be ")


def test_pods_are_taken_off_their_nodes_but_for_those_that_belong_there() -> None:
    """DaemonSets, static pods and what has ended stay."""
    owned = pod("daemon", "1", "1Gi", nodeName="a")
    owned["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "d", "controller": True}]
    static = pod("static", "1", "1Gi", nodeName="a")
    static["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    ended = {**pod("ended", "1", "1Gi", nodeName="a"), "status": {"phase": "Succeeded"}}
    running = {**pod("running", "1", "1Gi", nodeName="a"), "status": {"phase": "Running"}}
    made = list(taken_off([node("a", "1", "1Gi"), owned, static, ended, running]))
    stay = [one["metadata"]["name"] for one in made[1:] if one["spec"].get("nodeName")]
    assert stay == ["daemon", "static", "ended"]
    assert "status" not in made[-1]


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_command_says_it_of_a_whole_cluster(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--again`` schedules all pods once more, and the table counts what becomes of them."""
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": SCORED}))
    asked = ["compare", str(path), "--again", "--scheduler", "v1.35", "--scheduler", "v1.37", *options]
    assert main(asked) == 0
    said = capsys.readouterr().out
    if options:
        assert sum(json.loads(said)["upgrade"]["counts"].values()) == 3
    else:
        assert "From v1.35 to v1.37, of 3 pods:" in said
