"""The Policy tab's changes: only one document of the text is written anew, and only what can run is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest
import yaml

from playground.edits.configuration import configured, in_force
from playground.reference import catalogue
from scheduler_core import BundleError, load
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.scenario.history import Moment
from scheduler_core.schedulers.v1_11.policy.order import ORDERS, UNREGISTERED
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from scheduler_core.schedulers.v1_37.configuration import compile_v1_37_configuration
from tests.playground.conftest import connected

NODES = """# the cluster
apiVersion: v1
kind: Node
metadata: {name: a}   # a node
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""
POLICY = """---
# what we run
apiVersion: v1
kind: Policy
predicates:
- {name: PodFitsResources}  # only this
priorities: []
"""
ALWAYS = ("alwaysCheckAllPredicates", "true")


def test_a_document_is_made_where_it_is_absent() -> None:
    """Everything that was there stays byte for byte, comments too."""
    answer = configured(NODES, "setting", "predicateOrder", "proposal")
    assert answer["rewritten"] is False
    assert answer["text"].startswith(NODES)
    assert answer["text"].endswith(
        "---\napiVersion: podstep/v1\nkind: SimulationSettings\npredicateOrder: proposal\n"
    )
    assert load(answer["text"]).settings.predicate_order == "proposal"


def test_only_the_policy_is_written_anew() -> None:
    """Other documents and the comments above the policy stay; what the policy said besides stays said."""
    answer = configured(NODES + POLICY + "---\n" + NODES.replace("name: a", "name: b"), "flag", *ALWAYS)
    assert answer["rewritten"] is False
    assert answer["text"].count("# a node") == 2
    assert "# what we run" in answer["text"]
    policy = load(answer["text"]).policy
    assert policy is not None
    assert policy["alwaysCheckAllPredicates"] is True
    assert policy["predicates"] == [{"name": "PodFitsResources"}]
    assert policy["priorities"] == []


def test_a_text_with_the_line_ends_of_windows_keeps_its_other_documents() -> None:
    """A carriage return after a document's mark hides neither the mark nor the comments around it."""
    text = (NODES + POLICY).replace("\n", "\r\n")
    answer = configured(text, "flag", *ALWAYS)
    assert answer["rewritten"] is False
    assert answer["text"].startswith(NODES.replace("\n", "\r\n"))
    assert "# what we run" in answer["text"]
    policy = load(answer["text"]).policy
    assert policy is not None
    assert policy["alwaysCheckAllPredicates"] is True


def test_there_and_back_again_is_the_same_text() -> None:
    """What a change added, its opposite takes away."""
    on = configured(NODES, "flag", *ALWAYS)["text"]
    assert configured(on, "flag", "alwaysCheckAllPredicates", "false")["text"] == NODES
    assert configured(NODES, "predicate", "NoDiskConflict", "on") == {"text": NODES, "rewritten": False}


LIST = """# the cluster
apiVersion: v1
kind: List
items:
# the first
- {apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: "4", pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: "4", pods: "10"}}}
"""


@pytest.mark.parametrize("text", [LIST, json.dumps(next(yaml.safe_load_all(LIST)))])
def test_a_list_that_does_not_change_stays_as_it_was_written(text: str) -> None:
    """Neither its comments nor its form are lost for a Policy that comes after it."""
    answer = configured(text, "flag", *ALWAYS)
    assert answer["rewritten"] is False
    assert answer["text"].startswith(text)
    scenario = load(answer["text"])
    assert [o.meta.name for o in scenario.objects] == ["a", "b"]
    assert compile_profile(scenario.policy).always_check_all


def test_a_list_with_the_policy_in_it_keeps_its_form_and_comments() -> None:
    """Only the policy's entry is written; comments inside the List, above it and after it stay."""
    item = "- {apiVersion: v1, kind: Policy, predicates: [{name: NoDiskConflict}], priorities: []}\n"
    other = "---\napiVersion: v1\nkind: Node\nmetadata: {name: c}  # mine\n"
    answer = configured(f"{LIST}{item}{other}", "priority", "EqualPriority", "3")
    assert answer["rewritten"] is False
    assert answer["text"].startswith("# the cluster\n")
    assert answer["text"].endswith(other)
    assert LIST in answer["text"]
    assert [o.meta.name for o in load(answer["text"]).objects] == ["a", "b", "c"]


def test_documents_that_cannot_be_reported_apart_are_written_anew_and_that_is_reported() -> None:
    """Of a text in one piece the answer says that all of it is new."""
    nodes = [dict(item) for item in yaml.safe_load(LIST)["items"]]
    policy = {"apiVersion": "v1", "kind": "Policy", "predicates": [{"name": "NoDiskConflict"}]}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, policy]})
    answer = configured(f"{text}\n", "priority", "EqualPriority", "3")
    scenario = load(answer["text"])
    assert [o.meta.name for o in scenario.objects] == ["a", "b"]
    assert {p.name: p.weight for p in compile_profile(scenario.policy).priorities}["EqualPriority"] == 3


def test_a_text_that_cannot_be_read_is_not_changed() -> None:
    """Its own problems are reported."""
    with pytest.raises(BundleError):
        configured(NODES.replace("kind: Node", "kind: Nod"), "flag", *ALWAYS)


@pytest.mark.parametrize(
    ("name", "value", "written", "default"),
    [
        ("cache", "v1.11", "cache: v1.11", "off"),
        ("equivalenceClass", "attributes", "equivalenceClass: attributes", "controller"),
        ("audit", "true", "audit: true", "false"),
        ("staleWrites", "none", "staleWrites: none", "generations"),
    ],
)
def test_the_settings_of_the_cache_are_written_and_left_out(
    name: str, value: str, written: str, default: str
) -> None:
    """Each is a line of the settings document, shown in the Policy's wire shape; its default needs none."""
    text = configured(NODES, "setting", name, value)["text"]
    assert text == f"{NODES}---\napiVersion: podstep/v1\nkind: SimulationSettings\n{written}\n"
    reported = compile_profile(None, load(text).settings).summary()
    assert reported[name] == (value == "true" if name == "audit" else value)
    assert configured(text, "setting", name, default)["text"] == NODES


@pytest.mark.parametrize(
    ("name", "value"), [("cache", "on"), ("audit", "yes"), ("staleWrites", ""), ("x", "off")]
)
def test_a_setting_that_there_is_not_is_refused(name: str, value: str) -> None:
    """The answer says what there is instead."""
    with pytest.raises(EditError, match="cache is off or designed"):
        configured(NODES, "setting", name, value)


def test_a_scheduler_is_listed_changed_and_taken_off_the_list() -> None:
    """What is as usual is not written; the list runs under v1.22, and other settings stay."""
    text = configured(NODES, "scheduler", "", '{"name": "second", "watchDelay": 0.5, "bindDelay": 0}')["text"]
    assert text == (
        f"{NODES}---\napiVersion: podstep/v1\nkind: SimulationSettings\nschedulers:\n- name: second\n"
        "  watchDelay: 0.5\nscheduler: v1.22\n"
    )
    assert load(text).release == "v1.22"
    text = configured(text, "scheduler", "second", '{"name": "third", "replicas": 2}')["text"]
    (listed,) = load(text).settings.schedulers
    assert (listed.name, listed.watch_delay, listed.replicas) == ("third", 0.0, 2)
    text = configured(text, "design", "design", "arbitrated")["text"]
    assert load(text).settings.design == "arbitrated"
    text = configured(text, "design", "design", "side-by-side")["text"]
    text = configured(text, "scheduler", "third", "")["text"]
    assert load(text).settings.schedulers == ()
    assert "design" not in text


def test_another_release_gives_way_to_the_one_that_runs_several_schedulers() -> None:
    """Beside others v1.11 and v1.37 run on v1.22's clock; virtual time by itself is its already."""
    text = configured(NODES, "setting", "scheduler", "v1.37")["text"]
    assert load(configured(text, "scheduler", "", '{"name": "second"}')["text"]).release == "v1.22"
    timed = f"{NODES}---\napiVersion: podstep/v1\nkind: SimulationSettings\ntime: virtual\n"
    assert "scheduler:" not in configured(timed, "scheduler", "", '{"name": "second"}')["text"]


@pytest.mark.parametrize(
    ("what", "name", "value", "reported"),
    [
        ("scheduler", "", '{"name": "second", "watchDelay": -1}', "watchDelay: must be seconds"),
        ("scheduler", "", '{"name": "second", "bindDelay": 601}', "from 0 to 600"),
        ("scheduler", "", '{"name": ""}', "needs a name"),
        ("scheduler", "", '{"name": "one"}', "listed twice"),
        ("scheduler", "", '{"name": "new", "runs": "v1.30"}', "did you mean 'v1.37'"),
        ("scheduler", "", '{"name": "new", "nodes": {"pool": "a"}}', "design: node-pools"),
        ("scheduler", "", '{"name": "new", "colour": "red"}', "no field 'colour'"),
        ("scheduler", "", "second", "must be written as JSON"),
        ("scheduler", "gone", "", "no scheduler 'gone'"),
        ("scheduler", "", "", "Name the scheduler"),
        ("design", "design", "best", "one of side-by-side, node-pools"),
        ("design", "design", "node-pools", "needs nodes"),
    ],
)
def test_a_scheduler_that_cannot_be_is_refused_with_why(
    what: str, name: str, value: str, reported: str
) -> None:
    """The messages are those of the text, with the field that they are about."""
    text = f"{NODES}---\nkind: SimulationSettings\napiVersion: podstep/v1\nschedulers: [{{name: one}}]\n"
    with pytest.raises(EditError, match=re.escape(reported)):
        configured(text, what, name, value)


@pytest.mark.django_db(transaction=True)  # a connection's end closes what its thread had open
async def test_the_socket_changes_a_text() -> None:
    """The command answers the new text; what cannot be changed, or does not run, is refused with why."""
    async with connected() as socket:
        frame = {"text": NODES + FORMER, "what": "priority", "key": "EqualPriority", "value": "2"}
        answer = await socket.success("bundle.configure", frame)
        assert "EqualPriority" in answer["text"]
        body = await socket.error("bundle.configure", {**frame, "key": "Nope"})
        assert body["code"] == "payload.invalid"
        assert "no priority" in body["message"]
        broken = {**frame, "text": NODES + POLICY.replace("PodFitsResources", "PodFits")}
        assert (await socket.error("bundle.configure", broken))["code"] == "bundle.invalid"


@pytest.mark.django_db(transaction=True)  # a connection's end closes what its thread had open
async def test_the_catalogue_lists_what_a_policy_can_name() -> None:
    """Every row of it can be written into a policy, and both orders' places are there."""
    async with connected() as socket:
        answer = await socket.success("policy.catalogue", {})
    assert answer == json.loads(json.dumps(catalogue.wire()))
    for row in answer["predicates"]:
        if not row["argument"]:
            for name in filter(None, (row["key"], row["alias"])):
                compile_profile({"predicates": [{"name": name}]})
    for row in answer["priorities"]:
        compile_profile({"priorities": [{"name": row["name"], "weight": 1}]})
    places = {row["proposal"] for row in answer["predicates"]} - {None}
    rows = ORDERS["proposal"]
    assert sorted(places) == [n for n, row in enumerate(rows, 1) if not UNREGISTERED & set(row.keys)]


def test_a_change_at_a_step_is_an_operation() -> None:
    """The documents stay; an operation after the cycle puts a policy in force, and the next takes it away."""
    text = f"{NODES}---\n{POD}{FORMER}"
    weights = json.dumps({"NodeAffinityPriority": 3})
    once = configured(text, "weights", "", weights, Moment(1, 1))["text"]
    assert once.startswith(text)
    (settings,) = in_force(load(once), None)
    assert settings["kind"] == "SimulationSettings"
    policy, kept = in_force(load(once), Moment(1, 1))
    assert kept == settings
    assert {"name": "NodeAffinityPriority", "weight": 3} in policy["priorities"]
    back = configured(once, "provider", "", "DefaultProvider", Moment(1, 1))["text"]
    assert in_force(load(back), Moment(1, 1)) == (settings,)
    assert len(load(back).operations) == 2


POD = """apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c}]}
"""


FORMER, CURRENT = (
    f"---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: {release}\n"
    for release in ("v1.11", "v1.37")
)


@pytest.mark.parametrize(
    ("tried", "changed"),
    [
        ({"NodeResourcesFit": 5, "ImageLocality": 0}, {"NodeResourcesFit": 5, "ImageLocality": None}),
        ({"VolumeBinding": 3, "DynamicResources": 4}, {"VolumeBinding": 3, "DynamicResources": 4}),
        ({"DynamicResources": 0}, {"DynamicResources": None}),
    ],
)
def test_weights_of_the_newest_release_are_written_as_its_configuration(
    tried: dict[str, int], changed: dict[str, int | None]
) -> None:
    """It reads no Policy: a KubeSchedulerConfiguration is made, and changed where there is one."""
    usual = dict(_weights(None))
    text = configured(NODES + CURRENT, "weights", "default-scheduler", json.dumps(tried))["text"]
    scenario = load(text)
    assert scenario.release == "v1.37"
    weights = _weights(scenario.configuration.policy)
    wanted = {key: weight for key, weight in {**usual, **changed}.items() if weight is not None}
    assert dict(weights) == wanted
    again = configured(text, "weights", "default-scheduler", json.dumps({"NodeAffinity": 9}))["text"]
    weights = _weights(load(again).configuration.policy)
    assert dict(weights) == {**wanted, "NodeAffinity": 9}


def test_weights_of_the_newest_release_are_changed_by_an_operation() -> None:
    """At a step a KubeSchedulerConfiguration restarts the scheduler with them."""
    pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"
    answer = configured(NODES + CURRENT + pod, "weights", "", json.dumps({"NodeAffinity": 9}), Moment(1, 0))
    (operation,) = load(answer["text"]).operations
    assert operation.configuration is not None
    assert _weights(operation.configuration.policy)["NodeAffinity"] == 9


def _weights(policy: Document | None) -> Mapping[str, int]:
    return compile_v1_37_configuration(policy).profiles["default-scheduler"].weights


@pytest.mark.parametrize(
    ("change", "profile"),
    [
        (("plugin", "0/filter/NodePorts", "off"), {"filter": {"disabled": [{"name": "NodePorts"}]}}),
        (("weight", "0/NodeAffinity", "7"), None),
    ],
)
def test_plugins_that_run_by_default_are_changed_in_a_configuration(
    change: tuple[str, str, str], profile: dict[str, object] | None
) -> None:
    """A text that says nothing is v1.37's, which reads no Policy; what changes nothing is not written."""
    answer = configured(NODES, *change)
    assert answer["text"].startswith(NODES)
    scenario = load(answer["text"])
    assert scenario.release == "v1.37"
    assert scenario.policy is not None
    assert scenario.policy["kind"] == "KubeSchedulerConfiguration"
    if profile is not None:
        assert scenario.policy["profiles"][0]["plugins"] == profile
    assert configured(NODES, "plugin", "0/filter/NodePorts", "on")["text"] == NODES


@pytest.mark.parametrize("change", [("flag", *ALWAYS), ("provider", "", "ClusterAutoscalerProvider")])
def test_what_only_a_policy_can_say_lets_v1_11_answer(change: tuple[str, str, str]) -> None:
    """A text that says nothing gets a Policy then."""
    assert load(configured(NODES, *change)["text"]).release == "v1.11"


@pytest.mark.django_db(transaction=True)
async def test_v1_37_without_a_configuration_is_reported_as_its_default_plugins() -> None:
    """The Policy tab shows plugins, and no text that is not written."""
    async with connected() as socket:
        opened = await socket.success("bundle.open", {"text": f"{NODES}---\n{POD}"})
        reported = await socket.success("policy.text", {"source": {"draft": opened["draft"]}})
    assert (reported["text"], reported["kind"], reported["other"]) == ("", "", None)
    assert reported["framework"] is None
    (profile,) = reported["form"]["profiles"]
    assert profile["weights"]["NodeResourcesFit"] == 1
    assert "NodeDeclaredFeatures" in profile["points"]["filter"]


@pytest.mark.parametrize("weight", [1.5, "5", True, None])
def test_a_weight_that_is_no_whole_number_is_refused_as_such(weight: object) -> None:
    """For a plugin that scores, whose name is right."""
    with pytest.raises(EditError, match="weight of NodeAffinity must be a whole number"):
        configured(NODES, "weights", "", json.dumps({"NodeAffinity": weight}))
