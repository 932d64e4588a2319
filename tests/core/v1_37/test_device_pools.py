"""Resource pools, and what partitions and shares of devices take from each other."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.schedulers.v1_37.device_allocation import Allocator, InvalidPoolsError
from scheduler_core.schedulers.v1_37.interface import PluginError
from scheduler_core.schedulers.v1_37.state import ClusterState
from tests.core.v1_37.parts import node, pod, started
from tests.core.v1_37.test_devices import claim_of, exactly

CLASS = {"kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}


def piece(
    name: str,
    *devices: Any,
    pool: str = "p",
    gen: int = 1,
    of: int = 1,
    driver: str = "d",
    **spec: Any,
) -> dict[str, Any]:
    """Return a slice of node n, unless ``spec`` says of whom; devices are names or specifications."""
    listed = [{"name": one} if isinstance(one, str) else one for one in devices]
    where = (
        {}
        if spec.keys() & {"nodeName", "allNodes", "nodeSelector", "perDeviceNodeSelection"}
        else {"nodeName": "n"}
    )
    of_pool = {"name": pool, "generation": gen, "resourceSliceCount": of}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {"driver": driver, "pool": of_pool, "devices": listed, **where, **spec},
    }


def having(*slices: dict[str, Any]) -> ClusterState:
    """Return a cluster with slices, created in this order."""
    cluster = ClusterState()
    for manifest in (CLASS, *slices):
        cluster.create(manifest)
    return cluster


def allocated(cluster: ClusterState, *claims: Any) -> list[str] | None:
    """Return pool and device of all results of claims on node n."""
    found = Allocator(cluster).allocate(claims, "n", {"zone": "a"})
    if found is None:
        return None
    return [f"{r['pool']}/{r['device']}" for one in found for r in one["devices"]["results"]]


ALL = exactly("r", allocationMode="All")
TWO = exactly("r", 2)
ORDERS = {
    "pools by name": ([piece("1", "x", pool="z"), piece("2", "x", pool="a")], ["a/x", "z/x"]),
    "drivers before pools": (
        [piece("1", "x", pool="a", driver="e"), piece("2", "x", pool="b", driver="d")],
        ["b/x", "a/x"],
    ),
    "slices of a pool by name": ([piece("2", "x", of=2), piece("1", "y", of=2)], ["p/y", "p/x"]),
    "devices that bind late last": (
        [piece("1", {"name": "x", "bindingConditions": ["c"]}, pool="a"), piece("2", "x", pool="b")],
        ["b/x", "a/x"],
    ),
    "the newest generation alone": (
        [piece("1", "old", "older"), piece("2", "x", gen=2, of=2), piece("3", "y", gen=2, of=2)],
        ["p/x", "p/y"],
    ),
    "a slice of other nodes completes a pool": (
        [piece("1", "x", "y", of=2), piece("2", "z", of=2, nodeName="m")],
        ["p/x", "p/y"],
    ),
    "a newer generation on other nodes does not matter to a whole pool": (
        [piece("1", "x", "y"), piece("2", "z", gen=2, of=2, nodeName="m")],
        ["p/x", "p/y"],
    ),
    "it ends one that is not whole": (
        [piece("1", "x", "y", of=2), piece("2", "z", gen=2, nodeName="m")],
        None,
    ),
    "nothing of an incomplete pool": ([piece("1", "x", "y", of=2)], None),
    "devices of the node": (
        [piece("1", *({"name": one, "nodeName": one} for one in "mn"), {"name": "x", "allNodes": True},
               perDeviceNodeSelection=True)],
        ["p/n", "p/x"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("slices", "wanted"), ORDERS.values(), ids=ORDERS)
def test_devices_are_tried_in_the_order_of_pools_and_slices(
    slices: list[dict[str, Any]], wanted: list[str] | None
) -> None:
    """Whatever the order of creation."""
    assert allocated(having(*slices), claim_of([TWO])) == wanted
    assert allocated(having(*reversed(slices)), claim_of([TWO])) == wanted


@pytest.mark.parametrize(
    ("slices", "problem"),
    [
        ([piece("1", "x"), piece("2", "x", pool="q", of=2)], "resource pool d/q is currently being updated"),
        ([piece("1", "x", of=2), piece("2", "x", of=2)], "resource pool d/p is currently invalid"),
    ],
)
def test_all_devices_of_a_pool_that_is_not_whole_cannot_be_had(
    slices: list[dict[str, Any]], problem: str
) -> None:
    """It is an error of the attempt, also where an alternative would have done."""
    for request in (
        ALL,
        {"name": "q", "firstAvailable": [{"name": "a", **TWO["exactly"]}, {"name": "r", **ALL["exactly"]}]},
    ):
        with pytest.raises(
            PluginError, match=f"claim default/c, request r: asks for all devices, but {problem}"
        ):
            allocated(having(*slices), claim_of([request]))


def test_an_invalid_pool_is_the_reason_if_nothing_else_serves_the_claim() -> None:
    """Other pools of the node are used first."""
    twice = [piece("1", "x", of=2), piece("2", "x", of=2)]
    assert allocated(having(*twice, piece("3", "y", pool="q")), claim_of([exactly("r")])) == ["q/y"]
    asking = pod("a", resourceClaims=[{"name": "c", "resourceClaimName": "c"}])
    run = started(node("n"), CLASS, *twice, claim_of([exactly("r")]), asking)
    failed = run.cycles[0]["attempts"][0]["failed"]["n"]
    assert failed["reasons"] == ["invalid resource pools were encountered"]


def partition(name: str, memory: str) -> dict[str, Any]:
    """Return a device that takes memory of a counter set."""
    return {
        "name": name,
        "consumesCounters": [{"counterSet": "s", "counters": {"memory": {"value": memory}}}],
    }


def test_partitions_draw_from_shared_counters() -> None:
    """What allocations hold counts, wherever their devices are; an unknown counter makes the pool invalid."""
    counters = piece("0", of=3, sharedCounters=[{"name": "s", "counters": {"memory": {"value": "80Gi"}}}])
    parts = piece("1", partition("a", "40Gi"), partition("b", "40Gi"), partition("c", "20Gi"), "d", of=3)
    away = piece("2", partition("z", "40Gi"), of=3, nodeName="m")
    cluster = having(counters, parts, away)
    assert allocated(cluster, claim_of([exactly("r", 3)])) == ["p/a", "p/b", "p/d"]
    assert allocated(cluster, claim_of([exactly("r", 4)])) is None
    results = [{"request": "r", "driver": "d", "pool": "p", "device": "z"}]
    held = {**claim_of([TWO], name="held"), "status": {"allocation": {"devices": {"results": results}}}}
    cluster.create(held)
    assert allocated(cluster, claim_of([exactly("r", 3)])) is None
    assert allocated(cluster, claim_of([TWO])) == ["p/a", "p/d"]
    with pytest.raises(InvalidPoolsError):
        allocated(having(parts, away, piece("0", of=3, sharedCounters=[{"name": "t"}])), claim_of([TWO]))


def shared(name: str, policy: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a device of 10 that claims share."""
    memory = {"value": "10", **({"requestPolicy": policy} if policy else {})}
    return {"name": name, "allowMultipleAllocations": True, "capacity": {"memory": memory}}


def asking(memory: str, name: str = "c") -> dict[str, Any]:
    """Return a claim of a share."""
    return claim_of([exactly("r", capacity={"requests": {"memory": memory}})], name=name)


STEPS = {"default": "2", "validRange": {"min": "2", "step": "3", "max": "8"}}


@pytest.mark.parametrize(
    ("policy", "memory", "consumed"),
    [
        (None, "6", "6"),
        (STEPS, "1", "2"),
        (STEPS, "3", "5"),
        (STEPS, "2500m", "5"),
        (STEPS, "9", None),
        ({"validValues": ["1", "4"]}, "2", "4"),
        ({"validValues": ["1", "4"]}, "5", None),
        ({"validRange": {"min": "0.5", "step": "0.25"}}, "0.6", "750m"),
    ],
)
def test_a_share_consumes_what_its_policy_rounds_up_to(
    policy: dict[str, Any] | None, memory: str, consumed: str | None
) -> None:
    """And nothing is allocated if that is out of the policy's range."""
    cluster = having(piece("1", shared("x", policy)))
    found = Allocator(cluster).allocate([asking(memory)], "n", {})
    results = found[0]["devices"]["results"] if found else [{}]
    assert results[0].get("consumedCapacity", {}).get("memory") == consumed


def test_shares_of_a_device_are_given_as_long_as_there_is_capacity() -> None:
    """Within a search and after it; without a request a claim takes the policy's default, or everything."""
    cluster = having(piece("1", shared("x"), shared("y")))
    assert allocated(cluster, asking("6"), asking("4", "d"), asking("1", "e")) == ["p/x", "p/x", "p/y"]
    found = Allocator(cluster).allocate([asking("6")], "n", {})
    assert found is not None
    assert found[0]["devices"]["results"][0]["shareID"]
    cluster.create({**asking("6", "held"), "status": {"allocation": found[0]}})
    assert allocated(cluster, asking("5")) == ["p/y"]
    assert allocated(cluster, asking("4")) == ["p/x"]
    assert allocated(cluster, claim_of([exactly("r")])) == ["p/y"]
    assert allocated(cluster, claim_of([TWO])) is None
    other = claim_of([exactly("r", capacity={"requests": {"cores": "1"}})])
    assert allocated(cluster, other) is None


def test_distinct_attributes_keep_devices_apart() -> None:
    """A device without the attribute is not taken."""
    named = [
        {"name": one, "attributes": {"numa": {"int": value}}}
        for one, value in zip("abc", (0, 0, 1), strict=True)
    ]
    claim = claim_of([TWO])
    claim["spec"]["devices"]["constraints"] = [{"distinctAttribute": "d/numa"}]
    assert allocated(having(piece("1", "x", *named)), claim) == ["p/a", "p/c"]


def test_an_alternative_with_fewer_devices_fits_into_an_allocation() -> None:
    """One that would make more than 32 with the rest of the claim is passed over."""
    many = [f"x{number:02}" for number in range(40)]
    some = {"deviceClassName": "any"}
    request = {
        "name": "q",
        "firstAvailable": [{"name": "a", **some, "count": 20}, {"name": "b", **some, "count": 2}],
    }
    found = allocated(having(piece("1", *many)), claim_of([request, exactly("r", 20)]))
    assert found is not None
    assert len(found) == 22
    with pytest.raises(
        PluginError, match="request r: adding 31 devices exceeds the claim limit of 32, with 2"
    ):
        allocated(having(piece("1", *many)), claim_of([request, exactly("r", 31)]))
