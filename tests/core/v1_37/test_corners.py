"""Corner cases of filters, scores and events: empty, unknown, unparsable, written in another way."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.schedulers.v1_37.change import ObjectWrite
from scheduler_core.schedulers.v1_37.events import object_events
from scheduler_core.schedulers.v1_37.pod_changes import pod_actions
from tests.core.v1_37.parts import node, pod, started

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def attempt(*objects: dict[str, Any], config: Any = None) -> dict[str, Any]:
    """Return the only attempt of a run."""
    run = started(*objects, config=config)
    (only,) = run.cycles[0]["attempts"]
    found: dict[str, Any] = only
    return found


def choosing(*terms: dict[str, Any]) -> dict[str, Any]:
    """Return a required node affinity."""
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


@pytest.mark.parametrize(
    "expression",
    [
        {"key": "disk", "operator": "NotIn", "values": []},
        {"key": "disk", "operator": "Exists", "values": ["ssd"]},
        {"key": "size", "operator": "Gt", "values": ["1", "2"]},
        {"key": "size", "operator": "Gt", "values": ["many"]},
        {"key": "disk", "operator": "Like", "values": ["ssd"]},
    ],
)
def test_a_term_that_cannot_be_parsed_matches_no_node(expression: dict[str, Any]) -> None:
    """Another term still can."""
    labels = {"disk": "ssd", "size": "5"}
    bad = {"matchExpressions": [expression]}
    good = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    assert attempt(node("n", labels=labels), pod("p", affinity=choosing(bad)))["node"] is None
    assert attempt(node("n", labels=labels), pod("p", affinity=choosing(bad, good)))["node"] == "n"


def test_several_names_in_one_field_expression_name_the_nodes_but_match_none() -> None:
    """PreFilter collects every name, Filter knows an expression on fields with one value only."""
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n", "m"]}]}
    shown = attempt(node("n"), node("m"), node("o"), pod("p", affinity=choosing(named)))
    assert shown["preFilter"]["NodeAffinity"] == {"code": "Success", "nodes": ["m", "n"]}
    assert sorted(shown["failed"]) == ["m", "n"]


def test_empty_requirements_and_preferences_are_not_none() -> None:
    """NodeAffinity skips what is absent, not what is empty."""
    empty: dict[str, Any] = {"nodeAffinity": {PREFERRED: []}}
    shown = attempt(node("n"), node("m"), pod("p", nodeSelector={}, affinity=empty))
    assert (shown["preFilter"]["NodeAffinity"]["code"], shown["preScore"]["NodeAffinity"]) == (
        "Success",
        "Success",
    )
    assert shown["scores"]["NodeAffinity"]["normalized"] == {"n": 0, "m": 0}
    shown = attempt(node("n"), node("m"), pod("p"))
    assert (shown["preFilter"]["NodeAffinity"]["code"], shown["preScore"]["NodeAffinity"]) == ("Skip", "Skip")


def apart(operator: str) -> dict[str, Any]:
    """Return a required anti-affinity to pods of other namespaces, by an expression on their labels."""
    selector = {"matchExpressions": [{"key": "team", "operator": operator}]}
    term = {"topologyKey": "host", "labelSelector": {}, "namespaceSelector": selector}
    return {"podAntiAffinity": {REQUIRED: [term]}}


@pytest.mark.parametrize(("exists", "node_"), [(True, None), (False, "n")])
def test_a_namespace_that_does_not_exist_is_selected_by_no_term_of_the_pod(
    exists: bool, node_: str | None
) -> None:
    """The pod's own selectors list namespaces first."""
    there = pod("there", node="n")
    there["metadata"]["namespace"] = "other"
    names = ["default", "other"] if exists else ["default"]
    spaces = [{"kind": "Namespace", "metadata": {"name": name}} for name in names]
    host = node("n", labels={"host": "n"})
    assert attempt(*spaces, host, there, pod("p", affinity=apart("DoesNotExist")))["node"] == node_


def test_a_namespace_that_does_not_exist_has_no_labels_for_terms_of_other_pods() -> None:
    """A pod on a node keeps the pod of an unknown namespace off, if its selector asks for no label."""
    there = pod("there", node="n", affinity=apart("DoesNotExist"))
    host = node("n", labels={"host": "n"})
    assert attempt(host, there, pod("p"))["failed"]["n"]["plugin"] == "InterPodAffinity"
    there = pod("there", node="n", affinity=apart("Exists"))
    assert attempt(host, there, pod("p"))["node"] == "n"


def test_a_pod_without_containers_has_no_images() -> None:
    """Its score by ImageLocality is 0."""
    bare = pod("p")
    bare["spec"]["containers"] = []
    assert attempt(node("n"), node("m"), bare)["scores"]["ImageLocality"]["raw"] == {"n": 0, "m": 0}


def test_a_resource_that_nodes_do_not_count_has_no_part_in_scores() -> None:
    """``pods`` is allocatable, but neither native nor scalar."""
    resources = [{"name": "cpu", "weight": 1}, {"name": "pods", "weight": 9}]
    args = {"scoringStrategy": {"type": "LeastAllocated", "resources": resources}}
    config = {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": args}]}]}
    shown = attempt(node("n"), node("m"), pod("p", cpu="1"), config=config)
    assert shown["scores"]["NodeResourcesFit"]["raw"] == {"n": 75, "m": 75}


def test_more_nodes_than_there_was_room_for_keep_no_mask_that_is_too_short() -> None:
    """A pod of an unknown node takes the row after the last one."""
    hosts = [node(f"n{i:02}", labels={"disk": "ssd"}) for i in range(16)]
    run = started(*hosts, pod("p", nodeSelector={"disk": "ssd"}))
    run.take({"do": "create", "object": pod("lost", node="nowhere")})
    run.take({"do": "create", "object": pod("q", nodeSelector={"disk": "ssd"})})
    assert set(run.final()["bound"]) == {"default/p", "default/q"}


@pytest.mark.parametrize(("version", "rounds"), [("apps/v1", True), ("extensions/v1beta1", False)])
def test_the_owner_is_asked_in_its_one_version(version: str, rounds: bool) -> None:
    """A ReplicaSet of another version gives the pod no selector to be spread by."""
    owned = {
        "kind": "ReplicaSet",
        "metadata": {"name": "r", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}},
    }
    p = pod("p", labels={"app": "a"})
    p["metadata"]["ownerReferences"] = [
        {"apiVersion": version, "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}
    ]
    shown = attempt(node("n"), node("m"), owned, p)
    assert shown["preScore"]["PodTopologySpread"] == ("Success" if rounds else "Skip")


def test_a_quantity_written_in_another_way_is_no_event() -> None:
    """Allocatable resources are compared as amounts."""
    old, new = node("n", cpu="4"), node("n", cpu="4000m")
    assert list(object_events(ObjectWrite("Node", "n", old, new))) == []
    (event,) = object_events(ObjectWrite("Node", "n", old, node("n", cpu="4001m")))
    assert event.name == "NodeUpdateNodeAllocatable"


def test_a_request_of_nothing_that_goes_or_comes_is_a_scale() -> None:
    """Upstream asks whether the resource is requested at all."""
    assert list(pod_actions(pod("p", cpu="0"), pod("p"))) == ["UpdatePodScaleDown"]
    assert list(pod_actions(pod("p"), pod("p", cpu="0"))) == ["UpdatePodScaleUp"]


def test_a_pod_waits_for_the_claim_that_is_made_from_its_template() -> None:
    """DynamicResources gates it until its status names the claim, or says that none is needed."""
    templated = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}])
    run = started(node("n"), templated)
    assert run.steps[0]["queue"]["default/p"]["gatedBy"] == "DynamicResources"
    status = {"status": {"resourceClaimStatuses": [{"name": "gpu"}]}}
    run.take({"do": "patch", "kind": "Pod", "namespace": "default", "name": "p", "patch": status})
    assert run.final()["bound"] == {"default/p": "n"}
    assert run.steps[1]["moves"] == [
        {
            "event": "TargetPodUpdatePodGeneratedResourceClaim",
            "pod": "default/p",
            "hints": {"DynamicResources": "Queue"},
            "to": "active",
        }
    ]


def test_an_image_that_a_node_lists_twice_has_the_size_of_its_first_entry() -> None:
    """The state of an image is made by the first entry that names it."""
    large, small = ({"names": ["app:latest"], "sizeBytes": size * 2**20} for size in (500, 100))
    twice, other = node("n"), node("m")
    twice["status"]["images"] = [large, small]
    raw = attempt(twice, other, pod("p"))["scores"]["ImageLocality"]["raw"]
    assert raw == {"n": 100 * (250 - 23) // (1000 - 23), "m": 0}


@pytest.mark.parametrize(
    ("point", "plugins", "message"),
    [
        (
            "preScore",
            ["TaintToleration"],
            'plugin "TaintToleration" failed with: failed to read "PreScoreTaintToleration"',
        ),
        (
            "preScore",
            ["InterPodAffinity", "PodTopologySpread"],
            'plugin "PodTopologySpread" failed with: error reading "PreScorePodTopologySpread"',
        ),
        ("preScore", ["NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation"], None),
        (
            "preFilter",
            ["NodePorts"],
            'running "NodePorts" filter plugin: reading "PreFilterNodePorts"',
        ),
        ("preFilter", ["VolumeBinding"], 'running "VolumeBinding" filter plugin: not found'),
        ("preFilter", ["NodeAffinity"], None),
    ],
)
def test_a_plugin_that_was_not_prepared_fails_unless_it_prepares_itself(
    point: str, plugins: list[str], message: str | None
) -> None:
    """The first that finds no state ends the attempt by error."""
    disabled = [{"name": name} for name in plugins]
    config = {"profiles": [{"plugins": {point: {"disabled": disabled}}}]}
    shown = attempt(node("n"), node("m"), pod("p", cpu="1"), config=config)
    assert (message or "") in (shown["message"] or "")
    assert shown["result"] == ("error" if message else "scheduled")
    assert bool(shown["scores"]) == (message is None)
