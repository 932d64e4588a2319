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
