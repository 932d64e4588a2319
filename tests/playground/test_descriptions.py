"""What operations do, as phrases: new images are reported with the old ones."""

from __future__ import annotations

from typing import Any

import pytest

from playground.edits.descriptions import all_words, images_of, words_of
from scheduler_core import load
from scheduler_core.authoring.examples import find
from scheduler_core.authoring.revisions import RESTARTED
from scheduler_core.scenario.history_entries import entries_of

SIDE = {"name": "side", "image": "proxy:1"}


def deployment(*containers: dict[str, Any], replicas: int = 3) -> dict[str, Any]:
    """Return a Deployment with these containers."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": list(containers)}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "template": template},
    }


def patching(patch: Any, **more: Any) -> dict[str, Any]:
    """Return an operation that patches that Deployment."""
    target = {"typeMeta": {"apiVersion": "apps/v1", "kind": "Deployment"}, "objectMeta": {"name": "web"}}
    return {"id": "a", "step": 1, "patchOperation": {**target, "patch": patch, **more}}


def containers(*listed: dict[str, Any]) -> dict[str, Any]:
    """Return a patch of the containers."""
    return {"spec": {"template": {"spec": {"containers": list(listed)}}}}


WEB = {"name": "web", "image": "web:1"}


@pytest.mark.parametrize(
    ("before", "patch", "reported"),
    [
        ([WEB], containers({"name": "web", "image": "web:2"}), "image web:1 → web:2"),
        ([{"name": "web"}], containers({"name": "web", "image": "web:2"}), "image none → web:2"),
        ([WEB, SIDE], containers({"name": "side", "image": "p:2"}), "image of side proxy:1 → p:2"),
        ([WEB], containers(WEB, SIDE), "spec.template.spec.containers (2)"),
        (
            [WEB],
            {"spec": {"replicas": 5, **containers({"name": "web", "image": "web:2"})["spec"]}},
            "spec.replicas 5, spec.template.spec.containers (1)",
        ),
        (
            [WEB],
            [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "web:9"}],
            "image web:1 → web:9",
        ),
    ],
)
def test_a_patch_of_images_alone_names_them(before: list[dict[str, Any]], patch: Any, reported: str) -> None:
    """From which to which, and of which container where there are several; all else by its fields."""
    entry = patching(patch)
    assert words_of(entry, deployment(*before)) == f"patch Deployment default/web: {reported}"


def test_what_is_not_known_before_is_reported_by_its_fields() -> None:
    """Without the manifest a patch is reported as it is written."""
    reported = words_of(patching(containers({"name": "web", "image": "web:2"})))
    assert reported == "patch Deployment default/web: spec.template.spec.containers (1)"
    assert images_of(deployment(WEB), None) == ""


def test_a_history_is_reported_one_change_after_the_other() -> None:
    """A second image is compared with the first new one, also of what the history itself creates."""
    create = {"id": "c", "step": 1, "createOperation": {"object": deployment(WEB)}}
    second, third = (patching(containers({"name": "web", "image": f"web:{n}"})) for n in (2, 3))
    assert all_words([create, second, third], ()) == [
        "create Deployment default/web",
        "patch Deployment default/web: image web:1 → web:2",
        "patch Deployment default/web: image web:2 → web:3",
    ]


def test_the_example_of_a_rolling_update_says_what_is_new() -> None:
    """Its one event names both images."""
    example = find("rolling-update")
    assert example is not None
    documents = load(example.read()).documents
    assert all_words(entries_of(documents), documents) == [
        "patch Deployment default/web: image web:1 → web:2"
    ]


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ({"spec": {"unschedulable": True}, "metadata": {"annotations": {"podstep/drain": "true"}}}, "drain"),
        ({"metadata": {"annotations": {"podstep/drain": "force"}}}, "force-drain"),
        ({"metadata": {"annotations": {"podstep/fails-at": "60"}}}, "fail"),
        ({"metadata": {"annotations": {"podstep/fails-at": "90"}}}, "fail Node n1 at 90 s"),
        ({"metadata": {"annotations": {"podstep/recovers-at": "60"}}}, "recover"),
        ({"metadata": {"annotations": {"podstep/evict": "60"}}}, "evict"),
        ({"metadata": {"annotations": {"podstep/deschedule": "60"}}}, "deschedule"),
        ({"spec": {"template": {"metadata": {"annotations": {RESTARTED: "60"}}}}}, "restart"),
    ],
)
def test_an_operators_verb_is_called_by_its_name(patch: dict[str, Any], words: str) -> None:
    """Not by the fields of the patch that stands for it; what takes it back is a patch."""
    target = {"typeMeta": {"apiVersion": "v1", "kind": "Node"}, "objectMeta": {"name": "n1"}}
    wanted = words if "Node" in words else f"{words} Node n1"
    assert words_of({"patchOperation": {**target, "patch": patch}, "time": 60}) == wanted
    undone = {"metadata": {"annotations": {"podstep/drain": None}}}
    assert words_of({"patchOperation": {**target, "patch": undone}}).startswith("patch Node n1")
