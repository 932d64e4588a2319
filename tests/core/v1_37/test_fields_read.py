"""Fields that only v1.37 reads, of a wrong shape: an error that names the place, and no traceback."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import BundleError, load_documents

SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37"}
CLAIM = "ResourceClaim"
DEVICES = (CLAIM, "ResourceClaimTemplate", "ResourceSlice", "DeviceClass")
VERSIONS = {"PersistentVolume": "v1", "Pod": "v1", **dict.fromkeys(DEVICES, "resource.k8s.io/v1")}


def document(kind: str, path: str, value: Any) -> dict[str, Any]:
    """Return an object with one field set."""
    version = VERSIONS.get(kind, "storage.k8s.io/v1")
    made: dict[str, Any] = {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}
    if kind == "Pod":
        made["spec"] = {"containers": [{"name": "c", "image": "i"}]}
    inner = made
    *parents, last = path.split(".")
    for name in parents:
        inner = inner.setdefault(name, {})
    inner[last] = value
    return made


@pytest.mark.parametrize(
    ("kind", "path", "value", "reported"),
    [
        ("Pod", "status.resourceClaimStatuses", [{}], "status.resourceClaimStatuses[0].name: is required"),
        ("Pod", "status.resourceClaimStatuses", "x", "status.resourceClaimStatuses: must be a list"),
        ("Pod", "status.conditions", ["x"], "status.conditions[0]: must be an object"),
        ("Pod", "status.containerStatuses", [{}], "status.containerStatuses[0].name: is required"),
        ("Pod", "spec.resourceClaims", [None], "spec.resourceClaims[0]: must not be null"),
        ("Pod", "spec.resources.requests.cpu", None, "spec.resources.requests.cpu: must not be null"),
        ("Pod", "spec.topologySpreadConstraints", [None], "spec.topologySpreadConstraints[0]: must not be"),
        ("PersistentVolume", "spec", None, "spec: is required"),
        ("CSINode", "spec.drivers", "x", "spec.drivers: must be a list"),
        (
            "CSINode",
            "spec.drivers",
            [{"name": "d", "allocatable": {"count": "x"}}],
            "count: must be an integ",
        ),
        ("PersistentVolume", "spec.csi", {"driver": []}, "spec.csi.driver: must be a string"),
        ("PersistentVolume", "spec.cinder", {"volumeID": 1}, "spec.cinder.volumeID: must be a string"),
        (
            "PersistentVolume",
            "spec.azureDisk",
            {"diskName": "d", "kind": {}},
            "spec.azureDisk.kind: must be a string",
        ),
        ("Pod", "spec.volumes", [{"name": "v", "portworxVolume": {"volumeID": []}}], "volumeID: must be a"),
        ("VolumeAttachment", "spec.nodeName", [], "spec.nodeName: must be a string"),
        ("VolumeAttachment", "spec.source", "x", "spec.source: must be an object"),
        ("CSIDriver", "spec", {"storageCapacity": "yes"}, "spec.storageCapacity: must be true or false"),
        (CLAIM, "spec.devices.requests", [{}], "spec.devices.requests[0].name: is required"),
        (CLAIM, "metadata.ownerReferences", [None], "metadata.ownerReferences[0]: must not be null"),
        (CLAIM, "status.reservedFor", "x", "status.reservedFor: must be a list"),
    ],
)
def test_a_wrong_shape_is_refused_at_its_place(kind: str, path: str, value: Any, reported: str) -> None:
    """Before anything runs."""
    with pytest.raises(BundleError) as refused:
        load_documents([SETTINGS, document(kind, path, value)])
    problems = [f"{one.path}: {one.message}" for one in refused.value.problems]
    assert any(reported in one for one in problems), problems


@pytest.mark.parametrize(
    ("kind", "path", "value", "reported"),
    [
        ("PersistentVolume", "spec.csi", {"driver": []}, "spec.csi.driver: must be a string"),
        ("Pod", "spec.volumes", [{"name": "v", "cinder": {"volumeID": {}}}], "volumeID: must be a string"),
        ("VolumeAttachment", "spec.nodeName", [], "spec.nodeName: must be a string"),
        (CLAIM, "spec.devices.requests", [{}], "spec.devices.requests[0].name: is required"),
    ],
)
def test_what_an_operation_creates_is_checked_as_well(
    kind: str, path: str, value: Any, reported: str
) -> None:
    """It would fail in the midst of a run otherwise."""
    made = document(kind, path, value)
    history = {
        "kind": "Scenario",
        "spec": {"operations": [{"step": 1, "createOperation": {"object": made}}]},
    }
    problems = refusals(history)
    assert any(reported in one for one in problems), problems


SLICE = {"driver": "d", "nodeName": "n", "pool": {"name": "p"}}
EXACT = {"deviceClassName": "gpu"}


def claim(request: Any, version: str = "v1") -> dict[str, Any]:
    """Return a claim with one request."""
    made = document(CLAIM, "spec.devices.requests", [request])
    return {**made, "apiVersion": f"resource.k8s.io/{version}"}


def exact(**more: Any) -> dict[str, Any]:
    """Return a claim for devices of a class."""
    return claim({"name": "r", "exactly": {**EXACT, **more}})


def piece(devices: Any, version: str = "v1", **more: Any) -> dict[str, Any]:
    """Return a ResourceSlice."""
    made = document("ResourceSlice", "spec", {**SLICE, "devices": devices, **more})
    return {**made, "apiVersion": f"resource.k8s.io/{version}"}


def refusals(*documents: dict[str, Any]) -> list[str]:
    """Return the problems of a bundle, each with its path."""
    try:
        load_documents([SETTINGS, *documents])
    except BundleError as refused:
        return [f"{one.path}: {one.message}" for one in refused.problems]
    return []


REQUEST = "spec.devices.requests[0]"


@pytest.mark.parametrize(
    ("made", "reported"),
    [
        (piece([], driver=None), "spec.driver: is required"),
        (piece([], pool={}), "spec.pool.name: is required"),
        (piece([], pool={"name": "p", "generation": "x"}), "spec.pool.generation: must be an integer, 0 or"),
        (piece(5), "spec.devices: must be a list"),
        (piece([5]), "spec.devices[0]: must be an object"),
        (piece([{}]), "spec.devices[0].name: is required"),
        (piece([{"name": "d", "attributes": []}]), "spec.devices[0].attributes: must be an object"),
        (piece([{"name": "d", "attributes": {"a": {}}}]), "attributes.a: must have exactly one of bool, int"),
        (piece([{"name": "d", "capacity": {"a": {}}}]), "spec.devices[0].capacity.a.value: is required"),
        (piece([{"name": "d", "basic": {}}]), "spec.devices[0].basic: is of resource.k8s.io/v1beta1"),
        (piece([{"name": "d", "taints": [{}]}]), "spec.devices[0].taints[0].key: is required"),
        (piece([{"name": "d", "capacity": {}}], "v1beta1"), "spec.devices[0].capacity: belongs into basic"),
        (claim({"exactly": EXACT}), f"{REQUEST}.name: is required"),
        (claim({"name": "r"}), f"{REQUEST}: must have exactly one of exactly, firstAvailable"),
        (claim({"name": "r", **EXACT}), f"{REQUEST}.deviceClassName: belongs into exactly"),
        (claim({"name": "r", "exactly": {}}), f"{REQUEST}.exactly.deviceClassName: is required"),
        (claim({"name": "r", "exactly": EXACT}, "v1beta1"), f"{REQUEST}.exactly: is not a field of"),
        (claim({"name": "r"}, "v1beta1"), f"{REQUEST}: must have exactly one of deviceClassName, firstAv"),
        (exact(selectors=[{}]), f"{REQUEST}.exactly.selectors[0].cel: is required"),
        (
            exact(selectors=[{"cel": {"expression": ""}}]),
            "cel.expression: must be a string that is not empty",
        ),
        (exact(allocationMode="Some"), f"{REQUEST}.exactly.allocationMode: must be one of ExactCount, All"),
        (exact(count=-1), f"{REQUEST}.exactly.count: must be an integer, 0 or more"),
        (exact(adminAccess="yes"), f"{REQUEST}.exactly.adminAccess: must be true or false"),
        (claim({"name": "r", "exactly": EXACT}, "v1alpha3"), f"{REQUEST}.exactly: is not a field of"),
    ],
)
def test_a_device_api_object_of_a_wrong_shape_is_refused(made: dict[str, Any], reported: str) -> None:
    """Each version by the fields that it has."""
    assert any(reported in one for one in refusals(made)), refusals(made)


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1beta2"])
def test_a_version_that_is_read(version: str) -> None:
    """All three; count and mode may be left to their defaults."""
    flat = version == "v1beta1"
    inner = {"attributes": {"a": {"int": 0}}, "capacity": {"m": {"value": "1Gi"}}}
    asked = {**EXACT, "count": 0, "allocationMode": ""}
    request = {"name": "r", **asked} if flat else {"name": "r", "exactly": asked}
    device = {"name": "d", "basic": inner} if flat else {"name": "d", **inner}
    assert refusals(claim(request, version), piece([device], version)) == []


def test_a_custom_resource_of_the_same_name_is_not_checked() -> None:
    """It is another kind."""
    other = {**piece([5]), "apiVersion": "example.com/v1"}
    assert refusals(other) == []


def selecting(expression: str) -> list[dict[str, Any]]:
    """Return a scenario with a class of devices that an expression selects."""
    selectors = [{"cel": {"expression": expression}}]
    return [
        SETTINGS,
        {**document("DeviceClass", "spec.selectors", selectors), "apiVersion": "resource.k8s.io/v1"},
    ]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("device.driver == 1", "found no matching overload for '_==_' applied to '(string, int)'"),
        ("device.foo", "undefined field 'foo'"),
        ("size(device.driver)", "must evaluate to bool or the unknown type, not int"),
        ("device.driver.matches('[')", "invalid matches argument"),
        ("lists.range(9999999).all(x, x < 1)", "too complex, exceeds cost limit"),
        ("'" + "x" * 10240 + "' == ''", "may not be more than 10240 bytes"),
    ],
)
def test_a_selector_that_the_api_server_refuses_is_refused(expression: str, reason: str) -> None:
    """With the expression's beginning and its place, before any pod waits for it."""
    with pytest.raises(BundleError) as refused:
        load_documents(selecting(expression))
    (problem,) = refused.value.problems
    assert problem.path == "spec.selectors[0].cel.expression"
    assert problem.message.startswith(f'invalid value "{expression[:200]}')
    assert reason in problem.message


def test_a_selector_that_is_not_supported_is_a_warning() -> None:
    """A valid expression that cannot be evaluated here is named when it is loaded."""
    scenario = load_documents(selecting('google.protobuf.Duration{} == duration("1s")'))
    (warning,) = [one for one in scenario.warnings if one.path == "spec.selectors[0].cel.expression"]
    assert "cannot be evaluated: messages of protocol buffers (google.protobuf.Duration)" in warning.message


def test_expressions_are_compiled_up_to_a_bound() -> None:
    """Those beyond it are checked when they are evaluated; what is repeated counts once."""
    long = [f"device.driver != '{n}{'x' * 9000}'" for n in range(13)]
    selectors = [{"cel": {"expression": text}} for text in (*long, long[0])]
    made = {**document("DeviceClass", "spec.selectors", selectors), "apiVersion": "resource.k8s.io/v1"}
    late = [one.path for one in load_documents([SETTINGS, made]).warnings if "is checked when" in one.message]
    assert late == [f"spec.selectors[{n}].cel.expression" for n in (11, 12)]


def test_a_valid_selector_is_taken_as_it_is() -> None:
    """Nothing is said of it."""
    scenario = load_documents(selecting('device.attributes["gpu"].?model.orValue("") == "a100"'))
    assert not [one for one in scenario.warnings if "selectors" in str(one.path)]
