"""Changes of a KubeSchedulerConfiguration: each is written so that it runs, in every version."""

from __future__ import annotations

import json
import random

import pytest

from scheduler_core.authoring.policy_edits import edited
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.schedulers.v1_22.configuration.compiler import compile_configuration
from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS
from scheduler_core.schedulers.v1_22.configuration.versions import VERSIONS, has_plugin
from scheduler_core.settings.release import CONFIGURATION_KIND


def configuration(version: str) -> Document:
    return {"apiVersion": VERSIONS[version].api_version, "kind": CONFIGURATION_KIND}


def changed(document: Document, what: str, name: str, value: str) -> Document:
    (made,) = edited((document,), what, name, value)
    compile_configuration(made)
    return made


@pytest.mark.parametrize("version", VERSIONS)
def test_every_plugin_can_be_switched_at_its_points(version: str) -> None:
    """What a switch says is so afterwards; what cannot work is refused."""
    rng = random.Random(version)
    document = configuration(version)
    plugins = [plugin for plugin in PLUGINS.values() if has_plugin(VERSIONS[version], plugin.name)]
    switched = 0
    for _ in range(120):
        plugin = rng.choice(plugins)
        point = rng.choice(plugin.points)
        on = rng.random() < 0.5
        try:
            document = changed(document, "plugin", f"0/{point}/{plugin.name}", "on" if on else "off")
        except EditError:
            continue  # such as a second plugin that sorts the queue
        assert (plugin.name in compile_configuration(document).main.names(point)) is on
        switched += 1
    assert switched > 60


@pytest.mark.parametrize("version", VERSIONS)
def test_a_weight_is_set_where_the_version_wants_it(version: str) -> None:
    """A default plugin's weight changes without running it twice; 0 disables it, another brings it back."""
    document = configuration(version)
    for weight in (7, 3, 0, 5):
        document = changed(document, "weight", "0/NodeAffinity", str(weight))
        assert compile_configuration(document).main.weights.get("NodeAffinity", 0) == weight


def test_a_weight_of_multi_point_is_changed_there() -> None:
    """What multiPoint enables with a weight gets the other weight in its place."""
    document = {
        **configuration("v1"),
        "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 4}]}}}],
    }
    made = changed(document, "weight", "0/NodeAffinity", "9")
    assert made["profiles"][0]["plugins"] == {
        "multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 9}]}
    }


def test_weights_are_set_by_the_names_that_a_cycle_has() -> None:
    """A row of the matrix is a plugin or what stands for it; either way its plugin gets the weight."""
    weights = {"NodeResourcesFit": 6, "TaintTolerationPriority": 2, "NodeAffinityPriority": 0}
    for version in VERSIONS:
        made = changed(configuration(version), "weights", "", json.dumps(weights))
        found = compile_configuration(made).main.weights
        fit = "NodeResourcesFit" if version != "v1beta1" else "NodeResourcesLeastAllocated"
        assert (found[fit], found["TaintToleration"], found.get("NodeAffinity")) == (6, 2, None)
    with pytest.raises(EditError, match="scores by MostRequestedPriority"):
        edited((configuration("v1"),), "weights", "", '{"MostRequestedPriority": 1}')


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("point", ["filter", "score"])
def test_plugins_are_called_in_the_order_that_was_asked_for(version: str, point: str) -> None:
    """Any permutation runs so, with the weights as they were."""
    document = changed(configuration(version), "weight", "0/ImageLocality", "8")
    before = compile_configuration(document).main
    names = list(before.names(point))
    random.Random(5).shuffle(names)
    document = changed(document, "plugins", f"0/{point}", json.dumps(names))
    after = compile_configuration(document).main
    assert list(after.names(point)) == names
    assert after.weights == before.weights


def test_arguments_are_given_changed_and_taken_away() -> None:
    """They are one entry of pluginConfig; wrong ones are refused with their path."""
    document = configuration("v1")
    given = {"scoringStrategy": {"type": "MostAllocated"}}
    made = changed(document, "arguments", "0/NodeResourcesFit", json.dumps(given))
    assert made["profiles"] == [{"pluginConfig": [{"name": "NodeResourcesFit", "args": given}]}]
    with pytest.raises(EditError, match="pluginConfig"):
        edited((made,), "arguments", "0/NodeResourcesFit", '{"scoringStrategy": {"type": "Best"}}')
    assert changed(made, "arguments", "0/NodeResourcesFit", "") == document


def test_profiles_are_added_renamed_and_taken_out() -> None:
    """Each has a name of its own; the last one stays."""
    made = changed(configuration("v1"), "profile", "+", "packer")
    assert compile_configuration(made).names == ("default-scheduler", "packer")
    made = changed(made, "profile", "1", "spreader")
    assert compile_configuration(made).names == ("default-scheduler", "spreader")
    with pytest.raises(EditError, match="earlier profile"):
        edited((made,), "profile", "1", "default-scheduler")
    made = changed(made, "profile", "1", "")
    assert compile_configuration(made).names == ("default-scheduler",)
    with pytest.raises(EditError, match="needs a profile"):
        edited((made,), "profile", "0", "")


def test_a_profile_that_is_added_is_a_copy_of_the_first() -> None:
    """There is one queue, which all profiles sort alike: what the first has works for the next too."""
    points = ("queueSort", "preFilter", "permit", "reserve", "postBind")
    plugins = {point: {"enabled": [{"name": "Coscheduling"}]} for point in points}
    plugins["queueSort"]["disabled"] = [{"name": "PrioritySort"}]
    document = {**configuration("v1"), "profiles": [{"plugins": plugins}]}
    made = changed(document, "profile", "+", "other")
    assert made["profiles"][1] == {"schedulerName": "other", "plugins": plugins}


@pytest.mark.parametrize("version", ["", *VERSIONS])
def test_the_other_form_and_back(version: str) -> None:
    """A Policy becomes a configuration of the version, and that a Policy with the same weights."""
    policy: Document = {
        "apiVersion": "v1",
        "kind": "Policy",
        "priorities": [{"name": "NodeAffinityPriority", "weight": 4}],
    }
    (made,) = edited((policy,), "form", CONFIGURATION_KIND, version)
    assert made["apiVersion"].endswith(version or made["apiVersion"])
    assert compile_configuration(made).main.weights == {"NodeAffinity": 4}
    (back,) = edited((made,), "form", "Policy", "")
    assert back["priorities"] == policy["priorities"]


@pytest.mark.parametrize(
    ("what", "name", "value"),
    [
        ("plugin", "0/filter/Nothing", "on"),
        ("plugin", "0/nowhere/NodeName", "on"),
        ("plugin", "7/filter/NodeName", "on"),
        ("plugin", "0/score/NodeName", "on"),
        ("plugin", "0/filter/NodeName", "perhaps"),
        ("plugins", "0/filter", '["NodeName"]'),
        ("weight", "0/NodeName", "1"),
        ("weight", "0/NodeAffinity", "-1"),
        ("arguments", "0/Nothing", "{}"),
        ("form", "Deployment", ""),
        ("form", CONFIGURATION_KIND, "v2"),
    ],
)
def test_what_cannot_be_changed_so_is_reported(what: str, name: str, value: str) -> None:
    """A place that there is not, and a value of the wrong kind, are refused in words."""
    with pytest.raises(EditError):
        edited((configuration("v1"),), what, name, value)
    if what != "form":
        with pytest.raises(EditError):
            edited((), what, name, value)
