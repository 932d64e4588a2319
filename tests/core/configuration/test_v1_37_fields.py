"""Fields that only v1.37 reads, with values of another type: an error with line and path, never a defect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from scheduler_core import BundleError, load, load_documents, simulate
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.settings.release import V1_37

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"},
        "nodeInfo": {"kubeletVersion": "v1.30.0"},
    },
}
WRONG: tuple[Any, ...] = (
    *(5, "x", True, [5], [[1]], [{}], [{"a": {}}], [{"name": 5}], {"a": 5}),
    *({"limits": 5}, {"limits": {"cpu": "x"}}, {"requests": {"cpu": {}}}),
    [{"labelSelector": 5, "maxSkew": "x", "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}],
)


def pod(**fields: Any) -> dict[str, Any]:
    """Return a pod with these fields of its spec."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c"}], **fields},
    }


def run(*documents: dict[str, Any]) -> None:
    """Run a bundle to its end."""
    for _ in simulate(load("\n---\n".join(map(json.dumps, documents)))):
        pass


@pytest.mark.parametrize("field", ["resources", "resourceClaims", "topologySpreadConstraints"])
@pytest.mark.parametrize("value", WRONG, ids=json.dumps)
def test_a_field_of_a_pod(field: str, value: Any) -> None:
    """It is refused, with its path, or it is read."""
    problems: Sequence[Problem] = ()
    try:
        run(NODE, pod(**{field: value}))
    except BundleError as error:
        problems = error.problems
    assert all(problem.path.startswith(f"spec.{field}") for problem in problems)


@pytest.mark.parametrize("policy", [{}, {"basic": {}, "gang": {"minCount": 2}}], ids=json.dumps)
def test_a_podgroup_has_one_policy(policy: dict[str, Any]) -> None:
    """The API server refuses none and both of them."""
    settings = {"kind": "SimulationSettings", "scheduler": "v1.37"}
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": {"schedulingPolicy": policy},
    }
    with pytest.raises(BundleError, match="must have exactly one of basic, gang"):
        run(settings, NODE, group)


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("DeviceClass", "resource.k8s.io/v1"),
        ("ResourceSlice", "resource.k8s.io/v1"),
        ("CSINode", "storage.k8s.io/v1"),
        ("Namespace", "v1"),
    ],
)
@pytest.mark.parametrize("field", ["metadata", "spec"])
def test_an_object_of_a_kind_without_a_reader(kind: str, version: str, field: str) -> None:
    """What is no object where one has to be is refused."""
    with pytest.raises(BundleError, match="must be an object"):
        run(NODE, {"apiVersion": version, "kind": kind, "metadata": {"name": "o"}, field: [5]})


def test_the_features_of_a_node() -> None:
    """They are a list of names."""
    with pytest.raises(BundleError, match="must be a list"):
        run({**NODE, "status": {**NODE["status"], "declaredFeatures": 5}})  # type: ignore[dict-item]


@pytest.mark.parametrize("field", ["resources", "resourceClaims", "topologySpreadConstraints"])
@pytest.mark.parametrize("value", WRONG, ids=json.dumps)
def test_a_field_of_a_pod_in_an_operation(field: str, value: Any) -> None:
    """A pod that an operation creates is checked as one of the start, and so is what a patch makes of it."""
    patch = {
        "typeMeta": {"kind": "Pod"},
        "objectMeta": {"name": "p"},
        "patchType": "merge",
        "patch": {"spec": {field: value}},
    }
    waiting = pod(nodeSelector={"disk": "nvme"})
    for operation, others in (
        ({"createOperation": {"object": pod(**{field: value})}}, ()),
        ({"patchOperation": patch}, (waiting,)),
    ):
        problems: Sequence[Problem] = ()
        try:
            run(NODE, *others, {"kind": "Scenario", "spec": {"operations": [{"step": 1, **operation}]}})
        except BundleError as error:
            problems = error.problems
        assert all(problem.path.startswith("spec.operations[0].") for problem in problems)
        assert all(f".spec.{field}" in problem.path for problem in problems)


GROUP_VALUES: tuple[Any, ...] = (5, "x", True, [5], {"topology": [{}]}, {"gang": {"minCount": "x"}})


@pytest.mark.parametrize(
    "field", ["priority", "schedulingPolicy", "schedulingConstraints", "disruptionMode", "priorityClassName"]
)
@pytest.mark.parametrize("value", GROUP_VALUES, ids=json.dumps)
def test_a_field_of_a_podgroup(field: str, value: Any) -> None:
    """It is refused, with its path, or it is read, with the gates that let it count."""
    gates = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
    settings = {"kind": "SimulationSettings", "scheduler": "v1.37", "featureGates": gates}
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": {field: value},
    }
    problems: Sequence[Problem] = ()
    try:
        run(settings, NODE, group, pod(schedulingGroup={"podGroupName": "g"}))
    except BundleError as error:
        problems = error.problems
    assert all(problem.path.startswith(f"spec.{field}") for problem in problems)


def test_a_field_that_an_older_release_reports_is_no_obstacle() -> None:
    """v1.22 reports ``matchFields`` of a preference, where views ask for the profile as it reads it."""
    preference = {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n3"]}]}
    added = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": preference}]}
    config = {"name": "NodeAffinity", "args": {"addedAffinity": added}}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [config]}],
    }
    scenario = load_documents([document])
    assert scenario.release == V1_37
    assert scenario.configuration.profile.always_check_all is False
