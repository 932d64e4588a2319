"""Devices beyond claims: extended resources that a DeviceClass backs, and taints of DeviceTaintRules."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from scheduler_core import load, load_documents, simulate
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.scenario import Scenario
from tests.core.v1_37.parts import started

GPU, IMPLICIT = "example.com/gpu", "deviceclass.resource.kubernetes.io/gpu"
NOT_ALLOCATED = "cannot allocate all claims"


def node(name: str = "n1", **allocatable: Any) -> dict[str, Any]:
    """Return a node; ``gpu`` is what a device plugin reports of the extended resource."""
    given = {"cpu": "8", "memory": "16Gi", "pods": "20"}
    if "gpu" in allocatable:
        given[GPU] = allocatable["gpu"]
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": {"allocatable": given}}


def device_class(name: str = "gpu", resource: str = "", driver: str = "d", age: str = "") -> dict[str, Any]:
    """Return a DeviceClass of a driver's devices, ``age`` being its creationTimestamp."""
    spec: dict[str, Any] = {"selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]}
    if resource:
        spec["extendedResourceName"] = resource
    meta = {"name": name, **({"creationTimestamp": age} if age else {})}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": meta, "spec": spec}


def devices(*names: str, on: str = "n1", driver: str = "d") -> dict[str, Any]:
    """Return the ResourceSlice of a node."""
    pool = {"name": on, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": on, "pool": pool, "devices": [{"name": name} for name in names]}
    meta = {"name": f"{on}-{driver}"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": meta, "spec": spec}


def container(name: str = "c", **limits: str) -> dict[str, Any]:
    """Return a container with limits of its own; ``gpu`` and ``implicit`` are the extended resources."""
    names = {"gpu": GPU, "implicit": IMPLICIT, "other": "example.com/other"}
    return {
        "name": name,
        "image": "x",
        "resources": {"limits": {names[key]: one for key, one in limits.items()}},
    }


def pod(name: str = "p", *containers: dict[str, Any], init: tuple[Any, ...] = (), **limits: str) -> Any:
    """Return a pod of the containers, or of one with the limits."""
    spec = {"containers": list(containers) or [container(**limits)], "initContainers": list(init)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def rule(effect: str = "NoSchedule", version: str = "v1", **selector: Any) -> dict[str, Any]:
    """Return a DeviceTaintRule of the taint ``broken``."""
    spec = {"deviceSelector": selector, "taint": {"key": "broken", "effect": effect}}
    api = f"resource.k8s.io/{version}"
    return {"apiVersion": api, "kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": spec}


def claim(**more: Any) -> dict[str, Any]:
    """Return a claim of one device."""
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", **more}}
    spec = {"devices": {"requests": [request]}}
    meta = {"name": "c"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, "spec": spec}


def user() -> dict[str, Any]:
    """Return a pod with the claim."""
    made = pod()
    made["spec"]["resourceClaims"] = [{"name": "r", "resourceClaimName": "c"}]
    return dict(made)


def read(*documents: dict[str, Any]) -> Scenario:
    """Read documents as a user's file of YAML."""
    return load(yaml.safe_dump_all(documents))


def outcome(scenario: Scenario) -> dict[str, str]:
    """Return the node, or the message, of each pod."""
    found = {}
    for cycle in simulate(scenario):
        record = release_record(cycle)
        assert record is not None
        message = record.attempts[0].document()["message"]
        found[cycle.pod.partition("/")[2]] = cycle.node or str(message)
    return found


RESOURCES = {
    "the implicit name": ([device_class(), devices("a"), pod(implicit="1")], {"p": "n1"}),
    "the explicit name": ([device_class(resource=GPU), devices("a"), pod(gpu="1")], {"p": "n1"}),
    "the implicit name of a class with an explicit one": (
        [device_class(resource=GPU), devices("a"), pod(implicit="1")],
        {"p": "n1"},
    ),
    "both names at once": (
        [device_class(resource=GPU), devices("a", "b"), pod("p", container(gpu="1", implicit="1"))],
        {"p": "n1"},
    ),
    "more than the node has": (
        [device_class(), devices("a"), pod(implicit="2")],
        {"p": f"1 {NOT_ALLOCATED}"},
    ),
    "devices are given once": (
        [device_class(), devices("a"), pod("p", implicit="1"), pod("q", implicit="1")],
        {"p": "n1", "q": f"1 {NOT_ALLOCATED}"},
    ),
    "claims and extended resources share devices": (
        [device_class(), devices("a"), claim(), user(), pod("q", implicit="1")],
        {"p": "n1", "q": f"1 {NOT_ALLOCATED}"},
    ),
    "a class of another driver": (
        [device_class(driver="e"), devices("a"), pod(implicit="1")],
        {"p": f"1 {NOT_ALLOCATED}"},
    ),
    "a class without a name beside it": (
        [{**device_class(), "metadata": {}}, device_class(), devices("a"), pod(implicit="1")],
        {"p": "n1"},
    ),
    "no class": ([devices("a"), pod(implicit="1")], {"p": f"1 Insufficient {IMPLICIT}"}),
    "no such explicit name": (
        [device_class(resource="example.com/tpu"), devices("a"), pod(gpu="1")],
        {"p": f"1 Insufficient {GPU}"},
    ),
    "a resource of nobody beside it": (
        [device_class(resource=GPU), devices("a"), pod(gpu="1", other="1")],
        {"p": "1 Insufficient example.com/other"},
    ),
    "a node's device plugin is first": (
        [node("n2", gpu="1"), device_class(resource=GPU), pod("p", gpu="1"), pod("q", gpu="1")],
        {"p": "n2", "q": f"1 Insufficient {GPU}, 1 {NOT_ALLOCATED}"},
    ),
    "0 of a device plugin counts as none": (
        [node("n1", gpu="0"), device_class(resource=GPU), devices("a"), pod(gpu="1")],
        {"p": "n1"},
    ),
    "an init container takes those of the containers": (
        [
            device_class(),
            devices("a"),
            pod("p", container(implicit="1"), init=(container("i", implicit="1"),)),
        ],
        {"p": "n1"},
    ),
    "an init container that wants more": (
        [
            device_class(),
            devices("a"),
            pod("p", container(implicit="1"), init=(container("i", implicit="2"),)),
        ],
        {"p": f"1 {NOT_ALLOCATED}"},
    ),
    "a sidecar keeps its own": (
        [
            device_class(),
            devices("a"),
            pod(
                "p",
                container(implicit="1"),
                init=({**container("i", implicit="1"), "restartPolicy": "Always"},),
            ),
        ],
        {"p": f"1 {NOT_ALLOCATED}"},
    ),
    "the newest of two classes": (
        [
            device_class("old", GPU, "e", "2026-01-01T00:00:00Z"),
            device_class("new", GPU, "d", "2026-02-01T00:00:00Z"),
            devices("a"),
            pod(gpu="1"),
        ],
        {"p": "n1"},
    ),
    "the first by name of two classes": (
        [device_class("b", GPU, "d"), device_class("a", GPU, "e"), devices("a"), pod(gpu="1")],
        {"p": f"1 {NOT_ALLOCATED}"},
    ),
}


@pytest.mark.parametrize(("documents", "expected"), RESOURCES.values(), ids=RESOURCES)
def test_devices_serve_extended_resources(documents: list[dict[str, Any]], expected: dict[str, str]) -> None:
    """A DeviceClass' resource is allocated by DRA where the node does not report it, else counted."""
    first = [] if any(one["metadata"].get("name") == "n1" for one in documents) else [node()]
    found = outcome(read(*first, *documents))
    assert set(found) == set(expected)
    for name, text in expected.items():
        assert text in found[name]


TAINTS = {
    "all devices of a driver": (rule(driver="d"), claim(), False),
    "all devices": (rule(), claim(), False),
    "another driver": (rule(driver="e"), claim(), True),
    "the pool": (rule(pool="n1"), claim(), False),
    "another pool": (rule(pool="n2"), claim(), True),
    "the device": (rule(device="a"), claim(), False),
    "another device": (rule(device="b"), claim(), True),
    "NoExecute": (rule("NoExecute"), claim(), False),
    "None has no effect": (rule("None"), claim(), True),
    "a toleration": (rule(), claim(tolerations=[{"key": "broken", "operator": "Exists"}]), True),
    "a toleration of another effect": (
        rule("NoExecute"),
        claim(tolerations=[{"key": "broken", "operator": "Exists", "effect": "NoSchedule"}]),
        False,
    ),
    "a class, in v1alpha3": (rule(version="v1alpha3", deviceClassName="gpu"), claim(), False),
    "a class that is missing": (rule(version="v1alpha3", deviceClassName="x"), claim(), True),
    "an expression, in v1alpha3": (
        rule(version="v1alpha3", selectors=[{"cel": {"expression": "device.driver == 'e'"}}]),
        claim(),
        True,
    ),
}


@pytest.mark.parametrize(("taints", "claimed", "placed"), TAINTS.values(), ids=TAINTS)
def test_a_rule_taints_the_devices_that_it_selects(
    taints: dict[str, Any], claimed: dict[str, Any], placed: bool
) -> None:
    """A claim gets no device with a taint that it does not tolerate, wherever the taint is from."""
    found = outcome(read(taints, device_class(), devices("a"), node(), claimed, user()))
    assert (found["p"] == "n1") is placed
    assert placed or NOT_ALLOCATED in found["p"]


def test_a_rule_that_goes_lets_pods_in_that_waited() -> None:
    """Its taints are gone with it, which moves the pods as an update of the slices does."""
    run = started(node(), device_class(), devices("a"), rule(), claim(), user())
    assert run.final()["bound"] == {}
    run.take({"do": "delete", "kind": "DeviceTaintRule", "name": "r"})
    assert run.final()["bound"] == {"default/p": "n1"}


TIMED = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual"}
REMOVAL = {
    "kind": "Scenario",
    "spec": {
        "operations": [
            {
                "step": 1,
                "deleteOperation": {
                    "typeMeta": {"apiVersion": "v1", "kind": "Pod"},
                    "objectMeta": {"name": "p", "namespace": "default"},
                },
            }
        ]
    },
}


@pytest.mark.parametrize("settings", [[], [TIMED]], ids=["cycles alone", "virtual time"])
def test_devices_are_free_again_when_the_pod_goes(settings: list[dict[str, Any]]) -> None:
    """The claim for extended resources is the pod's: it goes with it, and the next pod gets the device."""
    first, second = pod("p", implicit="1"), pod("q", implicit="1")
    scenario = load_documents([*settings, node(), device_class(), devices("a"), first, second, REMOVAL])
    placed = [(cycle.pod, cycle.node) for cycle in simulate(scenario)]
    assert placed == [("default/p", "n1"), ("default/q", None), ("default/q", "n1")]


def test_the_claim_names_its_pod_and_the_pod_the_claim() -> None:
    """A dump of the end can be read again with the devices in use."""
    scenario = load_documents([node(), device_class(), devices("a"), pod("p", implicit="1")])
    run = V1_37Simulation(scenario)
    while run.step() is not None:
        pass
    (made,) = run.run.cluster.list("ResourceClaim")
    assert made["metadata"]["generateName"] == "p-extended-resources-"
    (result,) = made["status"]["allocation"]["devices"]["results"]
    assert result["device"] == "a"
    stored = run.run.cluster.get("Pod", "default", "p")
    assert stored is not None
    status = stored["status"]["extendedResourceClaimStatus"]
    assert status["resourceClaimName"] == made["metadata"]["name"]
    mapping = {"containerName": "c", "resourceName": IMPLICIT, "requestName": "container-0-request-0"}
    assert status["requestMappings"] == [mapping]


def test_scores_count_devices_of_a_resource_in_the_strategy() -> None:
    """MostAllocated packs by devices where the node does not report the resource."""
    strategy = {"type": "MostAllocated", "resources": [{"name": IMPLICIT, "weight": 1}]}
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}]}],
    }
    scenario = load_documents(
        [
            configuration,
            *(node("n1"), node("n2"), device_class()),
            *(devices("a", "b", "c", "d"), devices("a", "b", on="n2")),
            pod("p", implicit="1"),
        ]
    )
    assert outcome(scenario) == {"p": "n2"}


def test_devices_of_pods_without_a_claim_are_named() -> None:
    """A dump of nodes and pods alone does not say which devices are taken."""
    bound = pod("old", implicit="1")
    bound["spec"]["nodeName"] = "n1"
    documents = [node(), device_class(), devices("a"), bound, pod("p", implicit="1")]
    texts = [one.message for one in load_documents(documents).warnings]
    assert any("pod default/old on a node holds devices" in text for text in texts)
