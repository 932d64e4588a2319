"""Operations on pods that match when they land, what becomes of dependents, rollbacks, and how nodes fail."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import BundleError, load
from tests.core.several.test_lone import ALONE, VIRTUAL, bundle, deployment, history, ran, target
from tests.core.several.test_v1_37 import nodes

PODS: dict[str, Any] = {"typeMeta": {"apiVersion": "v1", "kind": "Pod"}}
UNTIL = {**VIRTUAL, "until": 200}


def test_pods_are_selected_when_the_operation_lands() -> None:
    """By their labels and their node; a controller made them, and makes others in their place."""
    gone = {
        "time": 60,
        "deleteOperation": {**PODS, "selector": {"matchLabels": {"app": "web"}}, "node": "n0"},
    }
    other = {"time": 60, "deleteOperation": {**PODS, "selector": {"matchLabels": {"app": "none"}}}}
    made = ran(UNTIL, *nodes(2), deployment(4, 1), history(gone, other))
    assert len(made.deleted) == 2
    assert sum(map(bool, made.placement().values())) == 4


def test_selected_pods_are_patched() -> None:
    """Each by the patch, as stored then."""
    patch = {"metadata": {"labels": {"seen": "yes"}}}
    made = ran(
        UNTIL,
        *nodes(1),
        deployment(2, 1),
        history({"time": 60, "patchOperation": {**PODS, "selector": {}, "patch": patch}}),
    )
    assert [pod["metadata"]["labels"].get("seen") for pod in made.plane.server.of_kind("Pod")] == ["yes"] * 2
    assert [pod.meta.labels.get("seen") for pod in made.framework.pods.values()] == ["yes"] * 2


@pytest.mark.parametrize(
    ("settings", "operation", "where"),
    [
        (VIRTUAL, {**PODS, "selector": {}, "objectMeta": {"name": "a"}}, "remove it, or what selects pods"),
        (VIRTUAL, {"typeMeta": {"apiVersion": "v1", "kind": "Node"}, "node": "n0"}, "kind: Pod"),
        (
            VIRTUAL,
            {**PODS, "selector": {}, "deleteOptions": {"propagationPolicy": "All"}},
            "allowed are Background",
        ),
        ({**ALONE, "scheduler": "v1.11"}, {**PODS, "selector": {}}, "time: virtual"),
    ],
)
def test_a_selection_that_is_none_is_an_error(
    settings: dict[str, Any], operation: dict[str, Any], where: str
) -> None:
    """It names what is wrong, and what would be right."""
    with pytest.raises(BundleError) as error:
        load(bundle(settings, *nodes(1), history({"time": 60, "deleteOperation": operation})))
    assert where in str(error.value)


@pytest.mark.parametrize(("policy", "left"), [("Background", 0), ("Orphan", 2)])
def test_dependents_go_by_the_propagation_policy(policy: str, left: int) -> None:
    """Orphaned pods stay, others are deleted by the garbage collector."""
    gone = {**target("Deployment", "web"), "deleteOptions": {"propagationPolicy": policy}}
    made = ran(UNTIL, *nodes(1), deployment(2, 1), history({"time": 60, "deleteOperation": gone}))
    assert len(made.placement()) == left


def test_a_rollback_goes_to_the_revision_before() -> None:
    """By the annotation, which is gone then; one without such a revision says so."""

    def patched(at: int, patch: dict[str, Any]) -> dict[str, Any]:
        return {"time": at, "patchOperation": {**target("Deployment", "web"), "patch": patch}}

    image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "new"}]}}}}
    undo = {"metadata": {"annotations": {"podstep/undo-to": "0"}}}
    made = ran(UNTIL, *nodes(2), deployment(2, 1), history(patched(60, image), patched(90, undo)))
    (found,) = made.plane.server.of_kind("Deployment")
    assert "podstep/undo-to" not in (found["metadata"].get("annotations") or {})
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] != "new"
    alone = ran(UNTIL, *nodes(2), deployment(2, 1), history(patched(60, undo)))
    rest = alone.rest
    assert rest is not None
    assert any("is not rolled back" in event.text for event in rest.happenings)


def test_a_node_that_says_it_is_not_ready_is_tainted_at_once() -> None:
    """Its kubelet goes on: nothing waits for its lease to expire."""
    marks = {"podstep/fails-at": "20", "podstep/fails-as": "notready"}
    fails = {
        "time": 10,
        "patchOperation": {**target("Node", "n0"), "patch": {"metadata": {"annotations": marks}}},
    }
    made = ran({**VIRTUAL, "until": 40}, *nodes(1), deployment(1, 1), history(fails))
    (found,) = made.plane.server.of_kind("Node")
    assert [one["status"] for one in found["status"]["conditions"] if one["type"] == "Ready"] == ["False"]
    assert {one["key"] for one in found["spec"]["taints"]} == {"node.kubernetes.io/not-ready"}
