"""Where a pod is and why: placed, bound, pending, gone; which moment; what is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from scheduler_core import Simulation, load, load_documents
from scheduler_core.explain import ExplainError, explain
from scheduler_core.formats.patch import apply_patch
from tests.core.engine.builders import node, obj, operation, pod, scenario, simulate

TIGHT = {"cpu": "1", "memory": "1Gi", "pods": "10"}
WIDE = {"cpu": "8", "memory": "16Gi", "pods": "110"}


def test_the_only_node_that_fits() -> None:
    """A pod with one feasible node is there because there was no other."""
    answer = explain(scenario(node("a", allocatable=TIGHT), node("b"), pod("p", {"cpu": "2"})), "default/p")
    assert (answer.state, answer.node, answer.index, answer.step) == ("placed", "b", 1, "1.1")
    assert answer.summary == "default/p was placed on b in cycle 1. b is the only node of 2 that fits."
    assert answer.changes == ()


def test_the_best_total_and_what_made_the_difference() -> None:
    """The chosen node is compared with the next best, priority by priority."""
    answer = explain(scenario(node("a"), node("b", allocatable=WIDE), pod("p", {"cpu": "2"})), "default/p")
    assert answer.node == "b" and answer.story is not None
    assert answer.story.rival == "a"
    leads = {lead.priority: lead.points for lead in answer.story.leads if lead.points}
    assert "LeastRequestedPriority" in leads
    totals = answer.as_dict()["story"]["totals"]
    assert sum(leads.values()) == totals["b"] - totals["a"] > 0
    assert f"b is {sum(leads.values())} before a" in answer.summary


def test_a_tie_is_broken_by_the_counter() -> None:
    """Equal nodes are taken in turn, by name in descending order."""
    story = explain(scenario(node("a"), node("b"), pod("p"), pod("q")), "default/q").story
    assert story is not None
    shown = story.as_dict()
    assert (shown["ties"], shown["lastNodeIndex"], shown["node"]) == (["b", "a"], 1, "a")
    first = explain(scenario(node("a"), node("b"), pod("p"), pod("q")), "default/p")
    assert first.node == "b"
    assert (
        "2 nodes have it; in descending order of name, the round-robin counter, 0 modulo 2, " in first.summary
    )


def test_why_not_the_other_node() -> None:
    """Of a placed pod and another node: what failed there then, and what would have helped."""
    objects = [node("a", taints=["gpu:NoSchedule"]), node("b"), pod("p")]
    answer = explain(scenario(*objects), "default/p", "a")
    assert (answer.state, answer.node, answer.asked) == ("placed", "b", "a")
    assert answer.summary.endswith("a did not fit: node(s) had taints that the pod didn't tolerate.")
    assert answer.changes[0].words == ("tolerate the taint gpu:NoSchedule",)


def test_why_not_a_node_that_fitted_too() -> None:
    """A node that lost by its total needs no change, and the totals are compared with it."""
    objects = [node("a"), node("b", allocatable=WIDE), node("c"), pod("p", {"cpu": "2"})]
    answer = explain(scenario(*objects), "default/p", "c")
    assert answer.story is not None and answer.story.rival == "c"
    assert answer.summary.endswith("c fitted too.")
    assert answer.changes == ()


def test_pods_that_no_cycle_placed() -> None:
    """Bound, finished and other schedulers' pods are distinguished."""
    objects = [
        node("a"),
        node("b", unschedulable=True),
        pod("there", on="a"),
        pod("done", on="a", phase="Succeeded"),
        pod("else", schedulerName="mine"),
    ]
    whole = scenario(*objects)
    assert explain(whole, "default/there").summary == (
        "default/there is bound to a by its manifest: no cycle placed it."
    )
    moved = explain(whole, "default/there", "b")
    assert (moved.state, moved.node) == ("bound", "a")
    assert moved.summary.endswith("default/there does not fit on b: node(s) were unschedulable.")
    assert moved.changes[0].words == ("uncordon node b",)
    assert explain(whole, "default/done").state == "finished"
    other = explain(whole, "default/else")
    assert other.state == "other" and "assigned to the scheduler mine" in other.summary


def test_a_victim_is_reported_by_whom() -> None:
    """A preempted pod is gone, and its explanation names the pod that it made room for."""
    objects = [node("a", allocatable=TIGHT), pod("low", {"cpu": "1"}, on="a")]
    answer = explain(scenario(*objects, pod("high", {"cpu": "1"}, priority=9)), "default/low")
    assert answer.state == "preempted"
    assert answer.summary == "default/low was preempted on a to make room for default/high."


def test_a_step_shows_how_things_stood_then() -> None:
    """A pod that an operation lets in later is pending before it, by index and by major.minor."""
    first = scenario(node("n", unschedulable=True), pod("p"))
    history = replace(first, operations=(operation(1, "update", node("n")),))
    assert explain(history, "default/p").state == "placed"
    for step in ("1", 1, "1.1"):
        answer = explain(history, "default/p", step=step)
        assert (answer.state, answer.step) == ("pending", "1.1")
        assert answer.changes[0].words == ("uncordon node n",)
    with pytest.raises(ExplainError, match="there is no step 9"):
        explain(history, "default/p", step=9)


def test_a_node_that_an_operation_changed_is_patched_as_it_is() -> None:
    """The patch starts from the node at that moment, not from its first manifest."""
    first = scenario(node("n", taints=["old:NoSchedule"]), pod("p"))
    changed = node("n", taints=["new:NoSchedule"])
    history = replace(first, operations=(operation(1, "update", changed),))
    answer = explain(history, "default/p")
    assert answer.nodes[0].details == ("taint new:NoSchedule is not tolerated",)
    words = [change.words for change in answer.changes]
    assert ("remove the taint new:NoSchedule from node n",) in words


def test_a_running_simulation_is_left_alone() -> None:
    """Explaining does not step, and what comes after is decided as without it."""
    objects = [node("a"), node("b"), *(pod(f"p{n}", {"cpu": "1"}) for n in range(12))]
    asked, alone = simulate(*objects), simulate(*objects)
    for _ in range(5):
        asked.step()
        alone.step()
    before = (asked.index, dict(asked.placement()), asked.last_node_index, len(asked.queue))
    assert explain(asked, "default/p9").summary.startswith("default/p9 has not been tried yet.")
    assert explain(asked, "default/p2", "a").state == "placed"
    assert explain(asked, "default/p2", step=2).state == "pending"
    assert (asked.index, dict(asked.placement()), asked.last_node_index, len(asked.queue)) == before
    assert [c.decision for c in asked] == [c.decision for c in alone]


@pytest.mark.parametrize(
    ("name", "where", "message"),
    [
        ("default/wbe", None, "there is no pod 'default/wbe': did you mean 'default/web'?"),
        ("default/web", "nod-1", "there is no node 'nod-1': did you mean 'node-1'?"),
    ],
)
def test_what_does_not_exist_is_named_with_what_was_meant(name: str, where: str | None, message: str) -> None:
    """An unknown pod or node is an error with the nearest name."""
    with pytest.raises(ExplainError) as error:
        explain(scenario(node("node-1"), pod("web")), name, where)
    assert str(error.value) == message


def test_a_controllers_pod_is_patched_in_its_template() -> None:
    """The patch names the Deployment; loaded again with it, all replicas find a place."""
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "2"}}}]},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    deployment = obj("Deployment", "web", "apps/v1", spec=spec)
    tainted = node("n", taints=["gpu:NoSchedule"])
    read = load_documents([tainted, deployment])
    (key, _) = Simulation(read).placement()
    change = next(c for c in explain(read, key).changes if "tolerate the taint gpu:NoSchedule" in c.words)
    (patch,) = change.patches
    assert (patch["kind"], patch["name"]) == ("Deployment", "default/web")
    again = Simulation(load_documents([tainted, apply_patch(deployment, patch["patch"], "merge")]))
    for _ in again:
        pass
    assert set(again.placement().values()) == {"n"}


def test_limits_that_became_requests_are_lowered() -> None:
    """Where admission made a request of a limit, the patch sets the request beside the limit."""
    manifest = pod("p", limits={"cpu": "2"})
    del manifest["spec"]["containers"][0]["resources"]["requests"]
    small = node("n", allocatable=TIGHT)
    answer = explain(load_documents([small, manifest]), "default/p")
    assert answer.changes[0].words == ("lower the pod's cpu request from 2 to 1",)
    patched = apply_patch(manifest, answer.changes[0].patches[0]["patch"], "merge")
    assert patched["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}


def test_the_answer_is_bounded_json() -> None:
    """Of many nodes the first hundred are listed, their number is exact, and all is plain JSON."""
    objects = [node(f"n{k:03}", allocatable=TIGHT) for k in range(150)]
    shown = explain(scenario(*objects, pod("p", {"cpu": "2"})), "default/p").as_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert (len(shown["nodes"]), shown["nodesCount"]) == (100, 150)
    assert len(shown["changes"]) <= 8


def test_the_real_pending_pods(shared_folder: Path) -> None:
    """For real pending pods on a real cluster, the reasons are the real scheduler's and the changes work."""
    dump = shared_folder / "dumps" / "pending"
    nodes: list[dict[str, Any]] = yaml.safe_load((dump / "nodes.json").read_text(encoding="utf-8"))["items"]
    machine = next(n for n in nodes if n["metadata"]["name"] == "repldev-marc")
    name = "pods-message-pending-pod-resources.json"
    pending = yaml.safe_load((dump / name).read_text(encoding="utf-8"))["items"][0]
    key = f"{pending['metadata']['namespace']}/{pending['metadata']['name']}"
    answer = explain(load(json.dumps({"kind": "List", "items": [machine, pending]})), key)
    assert "0/1 nodes are available: 1 Insufficient nvidia.com/gpu." in answer.summary
    (numbers,) = answer.nodes[0].numbers
    assert (numbers["resource"], numbers["free"], numbers["shortBy"]) == ("nvidia.com/gpu", "0", "5")
    for change in answer.changes:
        manifests = {"Pod": pending, "Node": machine}
        for patch in change.patches:
            before = manifests[patch["kind"]]
            new = patch["action"] == "create"
            manifests[patch["kind"]] = (
                patch["object"] if new else apply_patch(before, patch["patch"], "merge")
            )
        again = Simulation(load_documents(list(manifests.values())))
        for _ in again:
            pass
        assert again.placement()[key] == change.node
    assert any("add" in word for change in answer.changes for word in change.words)
