"""Fields that only v1.37 reads, of a wrong shape: an error that names the place, and no traceback."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import BundleError, load_documents

SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37"}
CLAIM = "ResourceClaim"


def document(kind: str, path: str, value: Any) -> dict[str, Any]:
    """Return an object with one field set."""
    made: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}}
    if kind == "Pod":
        made["spec"] = {"containers": [{"name": "c", "image": "i"}]}
    inner = made
    *parents, last = path.split(".")
    for name in parents:
        inner = inner.setdefault(name, {})
    inner[last] = value
    return made


@pytest.mark.parametrize(
    ("kind", "path", "value", "told"),
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
        (CLAIM, "spec.devices.requests", [{}], "spec.devices.requests[0].name: is required"),
        (CLAIM, "metadata.ownerReferences", [None], "metadata.ownerReferences[0]: must not be null"),
        (CLAIM, "status.reservedFor", "x", "status.reservedFor: must be a list"),
    ],
)
def test_a_wrong_shape_is_refused_at_its_place(kind: str, path: str, value: Any, told: str) -> None:
    """Before anything runs."""
    with pytest.raises(BundleError) as refused:
        load_documents([SETTINGS, document(kind, path, value)])
    problems = [f"{one.path}: {one.message}" for one in refused.value.problems]
    assert any(told in one for one in problems), problems
