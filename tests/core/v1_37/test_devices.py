"""Device allocation on one node: backtracking, alternatives, constraints, and All."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.device_allocation import Allocator
from scheduler_core.schedulers.v1_37.interface import PluginError
from scheduler_core.schedulers.v1_37.state import ClusterState


def device(name: str, numa: int, model: str, *taints: str) -> dict[str, Any]:
    """Return a device."""
    return {
        "name": name,
        "attributes": {"numa": {"int": numa}, "model": {"string": model}},
        "taints": [{"key": key, "effect": "NoSchedule"} for key in taints],
    }


def model(name: str) -> list[dict[str, Any]]:
    """Select devices of a model."""
    return [{"cel": {"expression": f'device.attributes["d"].model == "{name}"'}}]


def cluster_with(devices: list[dict[str, Any]], version: str = "v1") -> ClusterState:
    """Return a cluster whose node n reaches the devices."""
    cluster = ClusterState()
    cluster.create({"kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}})
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, "devices": devices}
    api = {"apiVersion": f"resource.k8s.io/{version}"}
    cluster.create({**api, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec})
    return cluster


def claim_of(requests: list[dict[str, Any]], *same: str, name: str = "c") -> dict[str, Any]:
    """Return a claim whose devices have the same values of some attributes."""
    constraints = [{"matchAttribute": f"d/{attribute}"} for attribute in same]
    return {
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"devices": {"requests": requests, "constraints": constraints}},
    }


def allocate(devices: list[dict[str, Any]], requests: list[dict[str, Any]], *same: str) -> list[str] | None:
    """Return the devices that one claim gets on the node, with their requests."""
    found = Allocator(cluster_with(devices)).allocate([claim_of(requests, *same)], "n", {})
    return (
        None if found is None else [f"{r['request']}={r['device']}" for r in found[0]["devices"]["results"]]
    )


def exactly(name: str, count: int = 1, **more: Any) -> dict[str, Any]:
    """Return a request for a number of devices."""
    return {"name": name, "exactly": {"deviceClassName": "any", "count": count, **more}}


def test_the_first_solution_is_taken_after_backtracking() -> None:
    """A constraint sends the search back to another first device."""
    devices = [device("a", 0, "x"), device("b", 1, "x"), device("c", 1, "x")]
    assert allocate(devices, [exactly("r", 2)]) == ["r=a", "r=b"]
    assert allocate(devices, [exactly("r", 2)], "numa") == ["r=b", "r=c"]
    assert allocate(devices, [exactly("r", 3)], "numa") is None


def test_a_later_request_sends_an_earlier_one_back() -> None:
    """The second request wants what the first took first."""
    devices = [device("a", 0, "y"), device("b", 0, "x")]
    assert allocate(devices, [exactly("r"), exactly("s", selectors=model("y"))]) == ["r=b", "s=a"]


def test_the_first_alternative_that_works_is_taken() -> None:
    """Alternatives are tried in order; the result names the one taken."""
    sub = {"deviceClassName": "any"}
    request = {
        "name": "r",
        "firstAvailable": [
            {"name": "f0", **sub, "selectors": model("z")},
            {"name": "f1", **sub, "count": 2},
            {"name": "f2", **sub},
        ],
    }
    assert allocate([device("a", 0, "x"), device("b", 0, "x")], [request]) == ["r/f1=a", "r/f1=b"]
    assert allocate([device("a", 0, "x")], [request]) == ["r/f2=a"]


def test_a_tainted_device_is_for_who_tolerates_it() -> None:
    """Taints keep a request off, tolerations let it on; All needs every one of its devices."""
    devices = [device("a", 0, "x", "broken"), device("b", 0, "x")]
    tolerations = [{"key": "broken", "operator": "Exists"}]
    assert allocate(devices, [exactly("r")]) == ["r=b"]
    assert allocate(devices, [exactly("r", tolerations=tolerations)]) == ["r=a"]
    assert allocate(devices, [exactly("r", allocationMode="All")]) is None
    whole = exactly("r", allocationMode="All", tolerations=tolerations)
    assert allocate(devices, [whole]) == ["r=a", "r=b"]
    assert allocate(devices, [exactly("r", allocationMode="All", selectors=model("z"))]) is None


def test_a_constraint_against_all_and_too_many_devices_are_errors() -> None:
    """Neither All with a device that a constraint keeps out can succeed, nor 33 devices."""
    devices = [device("a", 0, "x"), device("b", 1, "x")]
    with pytest.raises(PluginError, match="request r: cannot add device d/p/b because a claim constraint"):
        allocate(devices, [exactly("r", allocationMode="All")], "numa")
    with pytest.raises(PluginError, match="adding 33 devices exceeds the claim limit of 32, with 0"):
        allocate(devices, [exactly("r", 33)])


def test_a_constraint_against_all_names_the_subrequest_alone() -> None:
    """The error has the subrequest's own name, where results have that of its request before it."""
    devices = [device("a", 0, "x"), device("b", 1, "x")]
    every = {"name": "some", "deviceClassName": "any", "allocationMode": "All"}
    with pytest.raises(PluginError, match="claim default/c, request some: cannot add device d/p/b because"):
        allocate(devices, [{"name": "r", "firstAvailable": [every]}], "numa")
    alike = [device("a", 0, "x"), device("b", 0, "x")]
    assert allocate(alike, [{"name": "r", "firstAvailable": [every]}], "numa") == ["r/some=a", "r/some=b"]


def test_an_administrator_shares_devices_that_are_in_use() -> None:
    """But not with another request of its own claim; its allocation takes nothing from others."""
    cluster = cluster_with([device("a", 0, "x")])
    admin, user = exactly("r", adminAccess=True), exactly("r")
    results = [{"request": "r", "driver": "d", "pool": "p", "device": "a"}]
    held = {**claim_of([user], name="held"), "status": {"allocation": {"devices": {"results": results}}}}
    cluster.create(held)
    assert Allocator(cluster).allocate([claim_of([user])], "n", {}) is None
    found = Allocator(cluster).allocate([claim_of([admin])], "n", {})
    assert found is not None
    assert found[0]["devices"]["results"] == [{**results[0], "adminAccess": True}]
    assert Allocator(cluster).allocate([claim_of([admin, exactly("s", adminAccess=True)])], "n", {}) is None
    pair: list[Manifest] = [claim_of([admin]), claim_of([admin], name="e")]
    assert Allocator(cluster).allocate(pair, "n", {}) is not None
    cluster.replace({**held, "status": {"allocation": found[0]}})
    assert Allocator(cluster).allocate([claim_of([user])], "n", {}) is not None


def test_v1beta1_is_read_as_v1() -> None:
    """Fields of a request stand beside its name, those of a device in ``basic``."""
    flat = [{"name": one["name"], "basic": one} for one in (device("a", 0, "x", "t"), device("b", 0, "x"))]
    request = {"name": "r", "deviceClassName": "any", "selectors": model("x")}
    claim = {**claim_of([request]), "apiVersion": "resource.k8s.io/v1beta1"}
    found = Allocator(cluster_with(flat, "v1beta1")).allocate([claim], "n", {})
    assert found is not None
    assert [result["device"] for result in found[0]["devices"]["results"]] == ["b"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("!" * 3000, "compile error: .*Syntax error: mismatched input '<EOF>'"),
        (
            "device.attributes" + ".a" * 3000,
            "compile error: chains of more than 200 operations are not supported",
        ),
        ("device.attributes[[1]]", "compile error: .*found no matching overload for '_\\[_]' applied to"),
        ("9" * 5000, "compile error: .*invalid int literal"),
        (
            "size(device.attributes['d'].numa) > 0",
            "on device d/p/a: CEL runtime error: no such overload: size",
        ),
        (
            "device.attributes['d'].gone",
            "runtime error: no such key: gone. consider using CEL optional chaining",
        ),
    ],
    ids=["negations", "fields", "index", "digits", "size", "key"],
)
def test_an_expression_that_cannot_be_evaluated_is_an_error(expression: str, message: str) -> None:
    """Of the scheduler's, with the selector and, once it is evaluated, the device."""
    request = exactly("r", selectors=[{"cel": {"expression": expression}}])
    with pytest.raises(PluginError, match=f"(?s)claim default/c: selector #0.*{message}"):
        allocate([device("a", 0, "x")], [request])


def test_the_nodes_of_an_allocation_are_those_of_its_slices() -> None:
    """One node by its name, some by the slice's selector, or all, for whom there is no selector."""
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
    for reach, wanted in (
        ({"nodeName": "n"}, {"nodeSelectorTerms": [named]}),
        ({"nodeSelector": {"nodeSelectorTerms": [term]}}, {"nodeSelectorTerms": [term]}),
        ({"allNodes": True}, None),
    ):
        cluster = cluster_with([device("a", 0, "x")])
        piece = cluster.get("ResourceSlice", None, "s")
        assert piece is not None
        spec = {key: value for key, value in piece["spec"].items() if key != "nodeName"}
        cluster.replace({**piece, "spec": {**spec, **reach}})
        found = Allocator(cluster).allocate([claim_of([exactly("r")])], "n", {"zone": "z"})
        assert found is not None
        assert found[0].get("nodeSelector") == wanted
