"""Device allocation on one node: backtracking, alternatives, constraints, and All."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.v1_37.devices import Allocator
from scheduler_core.v1_37.interface import PluginError
from scheduler_core.v1_37.state import Cluster


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


def allocate(devices: list[dict[str, Any]], requests: list[dict[str, Any]], *same: str) -> list[str] | None:
    """Return the devices that one claim gets on the node, with their requests."""
    cluster = Cluster()
    cluster.create({"kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}})
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, "devices": devices}
    cluster.create({"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec})
    constraints = [{"matchAttribute": f"d/{name}"} for name in same]
    claim = {
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": {"requests": requests, "constraints": constraints}},
    }
    found = Allocator(cluster, [claim]).allocate("n", {})
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
    with pytest.raises(PluginError, match="number of requested devices 33 exceeds the claim limit of 32"):
        allocate(devices, [exactly("r", 33)])


def test_a_constraint_against_all_names_the_subrequest_alone() -> None:
    """The error has the subrequest's own name, where results have that of its request before it."""
    devices = [device("a", 0, "x"), device("b", 1, "x")]
    every = {"name": "some", "deviceClassName": "any", "allocationMode": "All"}
    with pytest.raises(PluginError, match="claim default/c, request some: cannot add device d/p/b because"):
        allocate(devices, [{"name": "r", "firstAvailable": [every]}], "numa")
    alike = [device("a", 0, "x"), device("b", 0, "x")]
    assert allocate(alike, [{"name": "r", "firstAvailable": [every]}], "numa") == ["r/some=a", "r/some=b"]
