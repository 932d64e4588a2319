"""Equal parts of pods are read once, and whatever there is to say of them is said of each pod."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core import BundleError, load
from scheduler_core.formats.interner import SharedParts
from scheduler_core.kubernetes.model import Pod
from scheduler_core.scenario.scenario import Scenario

CONTAINER: dict[str, Any] = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
SPREAD = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}


def text_of(spec: dict[str, Any], count: int = 3) -> str:
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": spec}
    labels = {"app": "a"}
    pods = [{**pod, "metadata": {"name": f"p{number}", "labels": labels}} for number in range(count)]
    return "\n---\n".join(map(json.dumps, pods))


def pods_of(scenario: Scenario) -> list[Pod]:
    return [obj for obj in scenario.objects if isinstance(obj, Pod)]


@pytest.mark.parametrize("release", ["v1.11", "v1.37"])
def test_equal_specifications_are_one_object(release: str) -> None:
    """In documents and in typed objects, with what admission adds."""
    scenario = load(text_of({"containers": [CONTAINER], "priority": 7}), scheduler=release)
    first, *others = pods_of(scenario)
    assert first.priority == 7
    for pod in others:
        assert pod.containers is first.containers
        assert pod.tolerations is first.tolerations
        assert pod.meta.labels is first.meta.labels
    assert len({id(document["spec"]) for document in scenario.documents}) == 1


def test_a_different_specification_is_none_of_them() -> None:
    """1 and true are equal in Python, and 1 and 1.0, but no quantities of a manifest."""
    text = "\n---\n".join(
        json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{number}"}, "spec": spec})
        for number, spec in enumerate(
            {"containers": [CONTAINER], "priority": priority} for priority in (1, 2, 1.0)
        )
    )
    assert [pod.priority for pod in pods_of(load(text))] == [1, 2, 1]


PARTS: list[dict[str, Any]] = [
    {},
    {"priority": "7"},
    {"volumes": [{"name": "v"}, {"name": "v"}]},
    {"containers": [{**CONTAINER, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]},
    {"topologySpreadConstraints": [SPREAD]},
    {"topologySpreadConstraints": [{**SPREAD, "maxSkew": "1"}]},
    {"tolerations": [{"key": "k", "operator": "Gt", "value": "1"}]},
    {"nodName": "n"},
    {"priorityClassName": "none"},
    {"nodeName": "none"},
]


@pytest.mark.parametrize("release", ["v1.11", "v1.37"])
@pytest.mark.parametrize("part", PARTS, ids=lambda part: next(iter(part), "nothing"))
def test_what_is_reported_is_reported_of_each_pod(
    part: dict[str, Any], release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A specification with a finding is read again for each pod that has it."""
    text = text_of({"containers": [CONTAINER], **part})
    shared = found_in(text, release)
    monkeypatch.setattr(SharedParts, "use", lambda *_: None)
    assert shared == found_in(text, release)


def found_in(text: str, release: str) -> list[str]:
    """Return the problems of a text, its objects, or both."""
    try:
        scenario = load(text, scheduler=release)
    except BundleError as error:
        return [*map(repr, error.problems)]
    return [*map(repr, scenario.warnings), *map(repr, scenario.objects)]
