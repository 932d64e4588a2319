from __future__ import annotations

import copy
from typing import Any

import pytest

from scheduler_core.schedulers.v1_37.change import ObjectWrite
from scheduler_core.schedulers.v1_37.events import assigned_pod_events, object_events, target_pod_events
from tests.core.v1_37.parts import node, pod


def changed(manifest: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy with one field set."""
    out = copy.deepcopy(manifest)
    *parents, last = path.split(".")
    at = out
    for key in parents:
        at = at.setdefault(key, {})
    at[last] = value
    return out


@pytest.mark.parametrize(
    ("before", "path", "value", "names"),
    [
        (node("n"), "status.allocatable", {"cpu": "5"}, ["NodeUpdateNodeAllocatable"]),
        (node("n"), "metadata.labels", {"a": "b"}, ["NodeUpdateNodeLabel"]),
        (node("n"), "spec.taints", [{"key": "a", "effect": "NoSchedule"}], ["NodeUpdateNodeTaint"]),
        (node("n", unschedulable=True), "spec.unschedulable", False, ["NodeUpdateNodeTaint"]),
        (node("n"), "spec.unschedulable", True, []),
        (node("n"), "status.declaredFeatures", ["F"], ["NodeUpdateNodeDeclaredFeature"]),
        (node("n"), "status.conditions", [{"type": "Ready", "status": "True"}], ["NodeUpdateNodeCondition"]),
        (node("n"), "status.phase", "x", []),
    ],
)
def test_a_node_update_is_one_event_for_each_kind_of_change(
    before: dict[str, Any], path: str, value: Any, names: list[str]
) -> None:
    """Cordoning a node is none, for it cannot help."""
    change = ObjectWrite("Node", "n", before, changed(before, path, value))
    assert [event.name for event in object_events(change)] == names


@pytest.mark.parametrize(
    ("path", "value", "actions"),
    [
        ("metadata.labels", {"a": "b"}, ["UpdatePodLabel"]),
        ("spec.tolerations", [{"operator": "Exists"}], ["UpdatePodToleration"]),
        ("spec.schedulingGates", [], ["UpdatePodSchedulingGatesEliminated"]),
        (
            "spec.containers",
            [{"name": "c", "image": "app", "resources": {"requests": {"cpu": "1"}}}],
            ["UpdatePodScaleDown"],
        ),
        (
            "spec.containers",
            [{"name": "c", "image": "app", "resources": {"requests": {"cpu": "3"}}}],
            ["UpdatePodScaleUp"],
        ),
        (
            "spec.containers",
            [{"name": "c", "image": "app", "resources": {"requests": {"memory": "1Gi"}}}],
            ["UpdatePodScaleDown", "UpdatePodScaleUp"],
        ),
        ("status.message", "x", ["Update"]),
    ],
)
def test_a_pod_update_is_general_only_if_nothing_more_specific_changed(
    path: str, value: Any, actions: list[str]
) -> None:
    """The waiting pod itself is the target, a bound one is an assigned pod."""
    before = pod("p", cpu="2", schedulingGates=[{"name": "g"}])
    after = changed(before, path, value)
    assert [event.name for event in target_pod_events(before, after)] == [f"TargetPod{a}" for a in actions]
    assert [event.name for event in assigned_pod_events(before, after)] == [
        f"AssignedPod{a}" for a in actions
    ]


def test_another_toleration_of_the_same_number_is_no_change_of_tolerations() -> None:
    """Tolerations can only be added, so their number tells."""
    before = pod("p", tolerations=[{"key": "a"}])
    after = pod("p", tolerations=[{"key": "b"}])
    assert [event.action for event in target_pod_events(before, after)] == ["Update"]


def test_kinds_carry_their_group_and_unwatched_ones_are_no_event() -> None:
    """A Namespace moves nobody."""
    for kind, name in (
        ("CSINode", "storage.k8s.io/CSINodeAdd"),
        ("ResourceClaim", "resource.k8s.io/ResourceClaimAdd"),
    ):
        assert [event.name for event in object_events(ObjectWrite(kind, "x", None, {"kind": kind}))] == [name]
    assert list(object_events(ObjectWrite("Namespace", "x", None, {"kind": "Namespace"}))) == []
