"""Manifests that follow typed objects: what scheduler and kubelet change, and any other change."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.formats.difference import merge_patch
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.formats.patch import apply_patch
from scheduler_core.kubernetes.model import ObjectMeta, Pod
from scheduler_core.run.plane.manifest_adapters import inbound
from scheduler_core.run.plane.manifests import followed

PARTS: tuple[dict[str, Any], ...] = (
    {},
    {"status": {"phase": "Pending", "qosClass": "BestEffort"}},
    {"spec": {"nodeName": "n1", "containers": []}, "status": {"startTime": "2026-01-01T00:00:00Z"}},
)


def test_a_pods_life_is_followed_as_by_a_patch() -> None:
    """A node, a phase, a nomination and a start that come, change and go, over any stored manifest."""
    lives = [
        replace(Pod(ObjectMeta("p", "default")), node_name=node, phase=phase, nominated_node_name=nominated,
                start_time=started, ready=ready)
        for node, phase, nominated, started, ready in product(
            ("", "n1"), ("Pending", "Running"), ("", "n2"), (None, "2026-01-01T00:00:00Z"), (True, False)
        )
    ]  # fmt: skip
    for previous, part in product(lives, PARTS):
        stored = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"priority": 1}, **part}
        for pod in (replace(previous, **changed(pod)) for pod in lives):
            patch = merge_patch(to_manifest(previous), to_manifest(pod))
            wanted = apply_patch(stored, patch, "merge") if patch else stored
            assert followed(stored, previous, pod) == wanted


def changed(pod: Pod) -> dict[str, Any]:
    """Return what a version of the pod has of its own; all else is shared with the version before."""
    return {
        name: getattr(pod, name)
        for name in ("node_name", "phase", "nominated_node_name", "start_time", "ready")
    }


def test_other_changes_go_by_the_patch() -> None:
    """A changed priority is in the manifest too."""
    pod = Pod(ObjectMeta("p", "default"))
    stored = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
    made = followed(stored, pod, replace(pod, node_name="n1", priority=7))
    assert made["spec"] == {"nodeName": "n1", "priority": 7}


READY = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
UNREADY = {**READY, "status": "False"}


@pytest.mark.parametrize(
    ("status", "conditions"),
    [
        ({"phase": "Running"}, [READY]),
        ({"phase": "Running", "conditions": [UNREADY]}, [UNREADY]),
        ({"phase": "Pending"}, []),
        ({}, []),
    ],
    ids=["runs", "is not ready", "is pending", "has no status"],
)
def test_a_pod_that_runs_is_ready_unless_it_says_otherwise(
    status: dict[str, Any], conditions: list[Any]
) -> None:
    """Since it was started."""
    meta = {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z"}
    found = inbound({"kind": "Pod", "metadata": meta, "spec": {}, "status": status}, {})
    assert found["status"].get("conditions", []) == conditions
    assert found["spec"]["restartPolicy"] == "Never"
