"""The plugin DynamicResources around the allocation: scores of alternatives, reservations."""

from __future__ import annotations

from typing import Any

from scheduler_core import load_documents
from tests.core.v1_37.parts import node, pod, started
from tests.core.v1_37.test_device_pools import CLASS, piece
from tests.core.v1_37.test_devices import claim_of, exactly


def wanting(*claims: str) -> dict[str, Any]:
    """Return a pod with claims."""
    return pod("p", resourceClaims=[{"name": name, "resourceClaimName": name} for name in claims])


def alternatives(*classes: str) -> dict[str, Any]:
    """Return a request of which the first class that works is taken."""
    subs = [{"name": name, "deviceClassName": name} for name in classes]
    return {"name": "r", "firstAvailable": subs}


def classes(*names: str) -> list[dict[str, Any]]:
    """Return classes that select the devices of the driver of their name."""
    selectors = {name: [{"cel": {"expression": f'device.driver == "{name}"'}}] for name in names}
    return [{**CLASS, "metadata": {"name": name}, "spec": {"selectors": selectors[name]}} for name in names]


def test_alternatives_of_claims_that_are_allocated_count_in_the_score() -> None:
    """They are the same on every node, and so bring the normalized scores together."""
    results = [{"request": "r/a", "driver": "a", "pool": "z", "device": "y"}]
    held = claim_of([alternatives("a")], name="held")
    held["status"] = {"allocation": {"devices": {"results": results}}}
    run = started(
        *(node("m"), node("n")),
        *classes("a", "b"),
        *(piece("1", "x", driver="b", pool="1"), piece("2", "x", driver="a", pool="2", nodeName="m")),
        *(held, claim_of([alternatives("a", "b")])),
        wanting("held", "c"),
    )
    scores = run.cycles[0]["attempts"][0]["scores"]["DynamicResources"]
    assert scores["raw"] == {"m": 16, "n": 15}
    assert scores["normalized"] == {"m": 100, "n": 93}


def test_a_claim_is_reserved_for_256_pods_at_most() -> None:
    """The API server refuses the next one: its pod backs off after an error of PreBind."""
    full = claim_of([exactly("r")])
    reserved = [{"resource": "pods", "name": f"o{number}", "uid": f"u{number}"} for number in range(256)]
    full["status"] = {"allocation": {"devices": {"results": []}}, "reservedFor": reserved}
    run = started(node("n"), CLASS, full, wanting("c"))
    (attempt,) = run.cycles[0]["attempts"]
    assert attempt["result"] == "error"
    assert attempt["message"].startswith(
        'running PreBind plugin "DynamicResources": add reservation to claim'
    )
    assert run.final()["bound"] == {}
    assert len(run.cluster.objects["ResourceClaim"]["default/c"]["status"]["reservedFor"]) == 256


def test_a_claim_that_members_of_a_group_share_is_named_as_left_out() -> None:
    """Upstream's second member shares the allocation that the first one's Reserve noted."""
    gates = {"kind": "SimulationSettings", "scheduler": "v1.37", "featureGates": {"GenericWorkload": True}}
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": {},
    }
    member = wanting("c")
    member["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    for documents, warned in (([group, member], True), ([group, wanting("c")], False)):
        texts = [one.message for one in load_documents([gates, node("n"), *documents]).warnings]
        assert any("do not share a ResourceClaim" in text for text in texts) is warned
