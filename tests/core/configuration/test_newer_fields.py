"""Fields that only v1.37 reads, with values of another type: an error with line and path, never a defect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from scheduler_core import BundleError, load, simulate
from scheduler_core.objects.problems import Problem

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


@pytest.mark.parametrize("kind", ["DeviceClass", "ResourceSlice", "CSINode", "Namespace", "Workload"])
@pytest.mark.parametrize("field", ["metadata", "spec"])
def test_an_object_of_a_kind_without_a_reader(kind: str, field: str) -> None:
    """What is no object where one has to be is refused."""
    with pytest.raises(BundleError, match="must be an object"):
        run(NODE, {"apiVersion": "v1", "kind": kind, "metadata": {"name": "o"}, field: [5]})


def test_the_features_of_a_node() -> None:
    """They are a list of names."""
    with pytest.raises(BundleError, match="must be a list"):
        run({**NODE, "status": {**NODE["status"], "declaredFeatures": 5}})  # type: ignore[dict-item]
