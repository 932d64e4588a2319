"""Bounds that are hit inside objects which scheduling does not read: those are left out, the rest is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from scheduler_core import BundleError, Limits, load
from scheduler_core.formats import skipped_kinds, snapshot
from scheduler_core.formats.kwok import KIND as RESOURCE_PATCH
from scheduler_core.scenario.history_entries import SCENARIO_KIND
from scheduler_core.settings.settings import SETTINGS_KIND
from tests.core.formats.archives import NODE, POD

LONG = "x" * 12_000
MANY = {f"key-{n}": "" for n in range(300)}


def deep(levels: int) -> Any:
    """Return objects in objects."""
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def manifest(kind: str, **content: Any) -> dict[str, Any]:
    """Return an object of a kind; its keys are in the order in which kubectl prints them."""
    return {"apiVersion": "v1", **content, "kind": kind, "metadata": {"name": "big", "namespace": "a"}}


def written(how: str, *items: dict[str, Any]) -> str:
    """Write manifests as documents, as a List, or as JSON."""
    everything = [yaml.safe_load(NODE), *items, yaml.safe_load(POD)]
    if how == "documents":
        return yaml.safe_dump_all(everything, sort_keys=False)
    whole = {"apiVersion": "v1", "items": everything, "kind": "List"}
    return json.dumps(whole) if how == "json" else yaml.safe_dump(whole, sort_keys=False)


@pytest.mark.parametrize("how", ["documents", "list", "json"])
@pytest.mark.parametrize("kind", ["ConfigMap", "Secret", "Event", "Grafana"])
@pytest.mark.parametrize(
    ("content", "bounds", "reason"),
    [
        ({"data": {"a": LONG}}, {"line": 10_000}, "a text of more than 10,000 characters is too long"),
        ({"data": {"a": deep(80)}}, {}, "nested deeper than 60 levels"),
        ({"data": MANY}, {"values": 250, "kept": 100}, None),
        ({"data": MANY}, {"values": 5_000, "kept": 100}, "objects of these kinds are too large to keep"),
    ],
    ids=["long", "deep", "many", "crowded"],
)
def test_a_bound_inside_of_what_is_not_read_is_no_error(
    how: str, kind: str, content: dict[str, Any], bounds: dict[str, int], reason: str | None
) -> None:
    """The cluster is read, and the object is named with its kind and the reason."""
    scenario = load(written(how, manifest(kind, **content)), limits=Limits(**bounds))
    assert [obj.meta.name for obj in scenario.objects] == ["n1", "web"]
    if how == "json" and reason and "characters" in reason:
        return  # JSON has no bound on one text
    reported = [
        one.message for one in scenario.warnings if f"1 {kind} is left out, and not kept" in one.message
    ]
    assert len(reported) == 1 and (reason is None or reason in reported[0])
    assert all(document["kind"] in {"Node", "Pod"} for document in scenario.documents)


@pytest.mark.parametrize("how", ["documents", "list"])
def test_the_same_bound_inside_of_what_is_read_is_an_error(how: str) -> None:
    """A node with too long an annotation is refused, with its line."""
    node = manifest("Node")
    node["metadata"]["annotations"] = {"a": LONG}
    with pytest.raises(BundleError, match="more than 10,000 characters") as caught:
        load(written(how, node), limits=Limits(line=10_000))
    assert caught.value.problems[0].line


def test_the_kind_of_a_typed_list_counts_for_its_items() -> None:
    """Items of a ConfigMapList need no kind of their own; those of a PodList are read."""
    items = [{"data": {"a": LONG}, "metadata": {"name": "big"}}]
    text = yaml.safe_dump({"apiVersion": "v1", "items": items, "kind": "ConfigMapList"})
    scenario = load(f"{text}---\n{NODE}", limits=Limits(line=10_000))
    assert any("1 ConfigMap is left out" in one.message for one in scenario.warnings)
    with pytest.raises(BundleError, match="characters"):
        load(f"{text.replace('ConfigMapList', 'PodList')}---\n{NODE}", limits=Limits(line=10_000))


def test_values_of_what_is_not_read_do_not_count() -> None:
    """Many ConfigMaps hold more values than a bundle may have, and are kept as far as there is room."""
    maps = [manifest("ConfigMap", data=MANY) for _ in range(10)]
    for how in ("documents", "list", "json"):
        scenario = load(written(how, *maps), limits=Limits(values=800, kept=2_000))
        reported = sorted(one.message for one in scenario.warnings)
        kept = sum(document["kind"] == "ConfigMap" for document in scenario.documents)
        assert 0 < kept < 10
        assert any(f"{10 - kept} ConfigMap are left out" in one for one in reported)
        assert any(f"{kept} ConfigMap are ignored" in one for one in reported)


@pytest.mark.parametrize(
    ("version", "kind", "custom"),
    [
        ("monitoring.coreos.com/v1", "Prometheus", True),
        ("topology.node.x-k8s.io/v1", "Oven", True),
        ("networking.k8s.io/v1", "NetworkPolicy", False),
        ("v1", "ConfigMap", False),
        ("events.k8s.io/v1", "Event", False),
    ],
)
def test_what_an_operator_would_create_is_said_to_be_missing(version: str, kind: str, custom: bool) -> None:
    """A pasted Prometheus has no pods here: its controller makes them."""
    made = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}}
    reported = [one.message for one in load(written("documents", made)).warnings]
    assert any("pods that its controller may create are missing" in one for one in reported) == custom
    assert any(f"1 {kind} is ignored: scheduling does not read this kind" in one for one in reported)


def test_what_goes_on_too_deep_is_given_up() -> None:
    """Nesting beyond any object's is an error at once, in whatever kind."""
    text = f"kind: ConfigMap\napiVersion: v1\nmetadata: {{name: a}}\ndata: {'{a: ' * 5_000}"
    with pytest.raises(BundleError, match="nested deeper than 60 levels"):
        load(text)


def test_every_kind_that_is_read_matters() -> None:
    """The kinds that configure and record are read, as those of the cluster are."""
    for kind in (snapshot.CONFIG_KIND, RESOURCE_PATCH, SCENARIO_KIND, SETTINGS_KIND, "Policy", "Pod", "List"):
        assert skipped_kinds.matters(kind)
    assert not skipped_kinds.matters("ConfigMap")


def test_a_node_that_an_operation_creates_is_one() -> None:
    """Only a cluster that never has a node is reported that no pod can be scheduled."""
    created = {"step": 1, "createOperation": {"object": yaml.safe_load(NODE)}}
    history = {"kind": "Scenario", "spec": {"operations": [created]}}
    for documents, missing in (([history], False), ([], True)):
        reported = load(
            "---\n".join(yaml.safe_dump(one) for one in (yaml.safe_load(POD), *documents))
        ).warnings
        assert any("it contains no Node" in one.message for one in reported) == missing
