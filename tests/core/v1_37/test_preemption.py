"""Preemption by one pod: dry runs that end by an error, and nominations that are lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.v1_37.parts import node, pod, started

FAILING = 'device.attributes["d"].missing == 1'


def devices(of: str) -> dict[str, Any]:
    """Return a node's slice with one device, which has no attribute."""
    pool = {"name": of, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": of, "pool": pool, "devices": [{"name": "g"}]}
    return {"kind": "ResourceSlice", "metadata": {"name": f"slice-{of}"}, "spec": spec}


def with_claim(expression: str) -> list[dict[str, Any]]:
    """Return a pod of priority 10 that asks for 4 cpus and a device, its claim and the class."""
    request = {
        "name": "r",
        "exactly": {"deviceClassName": "any", "selectors": [{"cel": {"expression": expression}}]},
    }
    return [
        {"kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}},
        {
            "kind": "ResourceClaim",
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {"devices": {"requests": [request]}},
        },
        pod("p", priority=10, cpu="4", resourceClaims=[{"name": "c", "resourceClaimName": "c"}]),
    ]


@pytest.mark.parametrize("nodes", [["n"], ["n", "m"]])
def test_an_error_of_every_dry_run_is_that_of_preemption(nodes: list[str]) -> None:
    """The victims hid a selector that fails: PostFilter answers Error, and the nomination stays."""
    objects = [
        one for name in nodes for one in (node(name), devices(name), pod(f"on-{name}", node=name, cpu="2"))
    ]
    run = started(*objects, *with_claim(FAILING))
    (attempt,) = run.cycles[0]["attempts"]
    texts = [
        f'running "DynamicResources" filter plugin: claim default/c: selector #0 on device d/{name}/g: '
        "CEL runtime error: no such key: missing. consider using CEL optional chaining (.? followed by "
        "orValue()) or guarding the check with has() for optional fields"
        for name in sorted(nodes)
    ]
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    assert attempt["postFilter"]["DefaultPreemption"] == {"code": "Error", "reasons": [f"preemption: {text}"]}
    assert (attempt["result"], attempt["nominated"]) == ("unschedulable", None)
    total = len(nodes)
    assert attempt["message"] == (
        f"0/{total} nodes are available: {total} Insufficient cpu. preemption: {text}"
    )
    assert {
        name: status["code"] for name, status in attempt["preemption"]["rejected"].items()
    } == dict.fromkeys(nodes, "Error")


def test_an_error_of_one_dry_run_leaves_the_other_candidates() -> None:
    """A node without devices is refused, one with a matching device is taken."""
    run = started(
        node("n"), pod("low", node="n", cpu="2"), devices("n"), node("m"), pod("other", node="m", cpu="2"),
        *with_claim('device.driver == "d"'),
    )  # fmt: skip
    (attempt,) = run.cycles[0]["attempts"]
    assert (attempt["preemption"]["node"], list(attempt["preemption"]["rejected"])) == ("n", ["m"])


def budget(app: str) -> dict[str, Any]:
    """Return a PodDisruptionBudget that allows no disruption."""
    metadata = {"name": app, "namespace": "default"}
    spec = {"selector": {"matchLabels": {"app": app}}}
    return {
        "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec, "status": {"disruptionsAllowed": 0}
    }  # fmt: skip


def test_candidates_are_capped_with_and_without_violations_apart() -> None:
    """While no node spares the budget, only so many of those that violate it are kept."""
    arguments = {"minCandidateNodesPercentage": 1, "minCandidateNodesAbsolute": 1}
    config = {"profiles": [{"pluginConfig": [{"name": "DefaultPreemption", "args": arguments}]}]}
    kept = [pod(f"a{i}", node="n1", cpu="2", labels={"app": "kept"}) for i in range(2)]
    one = pod("b", node="n2", cpu="4", labels={"app": "kept"})
    nodes = [node("n1"), node("n2")]
    run = started(*nodes, budget("kept"), *kept, one, pod("p", priority=1, cpu="4"), config=config)
    assert list(run.cycles[0]["attempts"][0]["preemption"]["candidates"]) == ["n1"]


def test_victims_count_with_their_own_priorities() -> None:
    """A PodGroup's priority says who may be preempted, not which node is best."""
    groups = [
        {
            "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"schedulingPolicy": {"basic": {}}, "priority": priority},
        }
        for name, priority in (("high", 5), ("low", 1))
    ]  # fmt: skip
    victims = [
        pod("v1", node="n1", cpu="4", priority=1, schedulingGroup={"podGroupName": "high"}),
        pod("v2", node="n2", cpu="4", priority=5, schedulingGroup={"podGroupName": "low"}),
    ]
    run = started(
        node("n1"), node("n2"), *groups, *victims, pod("p", priority=9, cpu="4"),
        gates={"GenericWorkload": True},
    )  # fmt: skip
    assert run.cycles[0]["deleted"] == ["default/v1"]
