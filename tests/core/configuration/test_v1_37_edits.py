"""Changes to what v1.37 runs: the document says the intended configuration, and no more than that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.authoring.v1_37_edits import V1_37_EDITS, edited
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.schedulers.v1_37.configuration import compile_v1_37_configuration
from scheduler_core.schedulers.v1_37.plugins.table import DECLARED
from scheduler_core.schedulers.v1_37.profiles import KubeSchedulerProfile

Change = tuple[str, str, str]


def changed(*changes: Change, documents: tuple[Document, ...] = ()) -> tuple[Document, ...]:
    """Make changes one after another."""
    for change in changes:
        documents = edited(documents, *change)
    return documents


def configuration_of(documents: tuple[Document, ...]) -> Mapping[str, KubeSchedulerProfile]:
    """Compile what the documents say."""
    written = next(one for one in documents if one["kind"] == "KubeSchedulerConfiguration")
    settings: Document = next((one for one in documents if one["kind"] == "SimulationSettings"), {})
    gates = tuple(sorted((settings.get("featureGates") or {}).items()))
    return compile_v1_37_configuration(written, gates).profiles


def profile_of(documents: tuple[Document, ...]) -> dict[str, Any]:
    """Return the first profile as it is written, without its name."""
    profile = dict(documents[0]["profiles"][0])
    profile.pop("schedulerName")
    return profile


USUAL = compile_v1_37_configuration(None).profiles["default-scheduler"]
ORDER = ["TaintToleration", *(name for name in USUAL.points["filter"] if name != "TaintToleration")]


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        (
            [("plugin", "0/score/ImageLocality", "off")],
            {"plugins": {"score": {"disabled": [{"name": "ImageLocality"}]}}},
        ),
        (
            [("plugin", "0/multiPoint/InterPodAffinity", "off")],
            {"plugins": {"multiPoint": {"disabled": [{"name": "InterPodAffinity"}]}}},
        ),
        (
            [("plugin", "0/filter/NodePorts", "off"), ("plugin", "0/multiPoint/NodePorts", "off")],
            {"plugins": {"multiPoint": {"disabled": [{"name": "NodePorts"}]}}},
        ),
        ([("plugin", "0/filter/NodePorts", "off"), ("plugin", "0/multiPoint/NodePorts", "on")], {}),
        ([("plugin", "0/filter/NodePorts", "off"), ("plugin", "0/filter/NodePorts", "on")], {}),
        (
            [("plugin", "0/placementScore/NodeResourcesFit", "off")],
            {"plugins": {"placementScore": {"disabled": [{"name": "NodeResourcesFit"}]}}},
        ),
        (
            [("weight", "0/NodeAffinity", "7")],
            {"plugins": {"score": {"enabled": [{"name": "NodeAffinity", "weight": 7}]}}},
        ),
        ([("weight", "0/NodeAffinity", "7"), ("weight", "0/NodeAffinity", "")], {}),
        ([("weight", "0/NodeAffinity", "2")], {}),
        (
            [("weight", "0/DynamicResources", "0")],
            {"plugins": {"score": {"disabled": [{"name": "DynamicResources"}]}}},
        ),
        ([("weight", "0/DynamicResources", "0"), ("weight", "0/DynamicResources", "2")], {}),
        (
            [("plugins", "0/filter", json.dumps(ORDER))],
            {
                "plugins": {
                    "filter": {"disabled": [{"name": "*"}], "enabled": [{"name": name} for name in ORDER]}
                }
            },
        ),
        (
            [
                ("plugins", "0/filter", json.dumps(ORDER)),
                ("plugins", "0/filter", json.dumps(USUAL.points["filter"])),
            ],
            {},
        ),
        (
            [("arguments", "0/InterPodAffinity", '{"hardPodAffinityWeight": 9}')],
            {"pluginConfig": [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 9}}]},
        ),
        ([("arguments", "0/NodeAffinity", "{}"), ("arguments", "0/NodeAffinity", "")], {}),
        ([("percentage", "0", "40")], {"percentageOfNodesToScore": 40}),
        ([("percentage", "0", "40"), ("percentage", "0", "")], {}),
    ],
)
def test_a_change_writes_no_more_than_it_says(changes: list[Change], written: dict[str, Any]) -> None:
    """And what leads back to a default writes nothing."""
    documents = changed(*changes)
    assert (profile_of(documents) if documents else {}) == written
    if not written and documents:
        assert configuration_of(documents)["default-scheduler"] == USUAL


@pytest.mark.parametrize("plugin", [row.key for row in DECLARED if row.rank and not row.gate])
def test_every_default_plugin_goes_off_and_on_again(plugin: str) -> None:
    """At all its points; of those that sort and bind there must be one."""
    if plugin in ("PrioritySort", "DefaultBinder"):
        with pytest.raises(EditError, match=r"nothing sorts the queue|at least one bind plugin"):
            changed(("plugin", f"0/multiPoint/{plugin}", "off"))
        return
    off = changed(("plugin", f"0/multiPoint/{plugin}", "off"))
    assert not configuration_of(off)["default-scheduler"].enabled(plugin)
    on = changed(("plugin", f"0/multiPoint/{plugin}", "on"), documents=off)
    assert configuration_of(on)["default-scheduler"] == USUAL


def test_a_plugin_runs_again_where_all_are_disabled() -> None:
    """With the weight that it has by default."""
    document: Document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"score": {"disabled": [{"name": "*"}]}}}],
    }
    documents = changed(("plugin", "0/multiPoint/NodeAffinity", "on"), documents=(document,))
    profile = configuration_of(documents)["default-scheduler"]
    assert profile.weights == {"NodeAffinity": 2}


def argued(plugin: str, **arguments: Any) -> Change:
    """Return the change of a plugin's arguments in the first profile."""
    return ("arguments", f"0/{plugin}", json.dumps(arguments))


HEAVY = {"name": "cpu", "weight": 101}
HARD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM = {"matchExpressions": [{"key": "disk", "operator": "Is"}]}
WORDS = {"matchExpressions": [{"key": "disks", "operator": "Gt", "values": ["many"]}]}
DEEP = '{"x":' * 41 + "1" + "}" * 41
FLAT = {
    "type": "RequestedToCapacityRatio",
    "requestedToCapacityRatio": {
        "shape": [{"utilization": 50, "score": 1}, {"utilization": 50, "score": 2}],
    },
}


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        (
            argued("NodeResourcesFit", scoringStrategy={"type": "MostAllocated", "resources": [HEAVY]}),
            "scoringStrategy.resources[0].weight",
            "must be at most 100, not 101",
        ),
        (
            argued("NodeResourcesFit", scoringStrategy={"resources": []}),
            "scoringStrategy.type",
            "write LeastAllocated, MostAllocated or RequestedToCapacityRatio",
        ),
        (
            argued("NodeResourcesFit", scoringStrategy=FLAT),
            "scoringStrategy.requestedToCapacityRatio.shape[1].utilization",
            "must be greater than the one before, 50",
        ),
        (
            argued("NodeAffinity", addedAffinity={REQUIRED: {"nodeSelectorTerms": [TERM]}}),
            f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].operator",
            "allowed are In, NotIn",
        ),
        (
            argued("NodeAffinity", addedAffinity={REQUIRED: {"nodeSelectorTerms": [WORDS]}}),
            f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0]",
            "cannot be parsed",
        ),
        (
            argued("NodeAffinity", addedAffinity={PREFERRED: [{"weight": 1, "preference": WORDS}]}),
            f"addedAffinity.{PREFERRED}[0].preference",
            "cannot be parsed",
        ),
        (("arguments", "0/NodeResourcesFit", DEEP), None, "at most 40 levels deep"),
        (argued("PodTopologySpread", defaultConstraints=[HARD]), "defaultingType", "must be List"),
        (
            argued("PodTopologySpread", defaultingType="List", defaultConstraints=[{**HARD, "maxSkew": 0}]),
            "defaultConstraints[0].maxSkew",
            "must be at least 1",
        ),
        (("plugin", "0/queueSort/PrioritySort", "off"), "profiles[0].plugins.queueSort", "nothing sorts"),
        (("weight", "0/NodeName", "1"), None, "NodeName does not score"),
        (("weight", "0/NodeAffinity", "2147483648"), None, "from 0 to 2,147,483,647"),
        (("percentage", "0", "101"), None, "from 0 to 100, where 0 is adaptive"),
        (
            ("gate", "TopologyAwareWorkloadScheduling", "true"),
            "TopologyAwareWorkloadScheduling",
            "GenericWorkload",
        ),
        (("gate", "DRAAdminAccess", "false"), "DRAAdminAccess", "locked to true"),
        (("gate", "GenericWorkloads", "true"), None, "no feature gate"),
        (("plugin", "0/multiPoint/GangScheduling", "on"), None, "its feature gate is off"),
        (("plugin", "0/permit/NodeName", "on"), None, "it implements preFilter, filter"),
        (("profile", "0", ""), None, "needs a profile"),
    ],
)
def test_what_v1_37_refuses_is_refused_at_its_field(change: Change, path: str | None, message: str) -> None:
    """With the path within the arguments, so that a form marks the field."""
    with pytest.raises(EditError, match=message) as error:
        changed(change)
    assert [problem.path for problem in error.value.problems][:1] == ([] if path is None else [path])


def test_gates_are_written_unless_they_are_the_default() -> None:
    """Into the settings; a plugin that a gate adds can be switched off then."""
    documents = changed(("gate", "GenericWorkload", "true"))
    assert documents == (
        {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "featureGates": {"GenericWorkload": True}},
    )
    off = changed(("plugin", "0/multiPoint/GangScheduling", "off"), documents=documents)
    assert not configuration_of(off)["default-scheduler"].enabled("GangScheduling")
    assert changed(("gate", "GenericWorkload", "false"), documents=documents) == ()


def test_a_shape_of_capacity_needs_its_gate() -> None:
    """With StorageCapacityScoring off, v1.37 does not start with one."""
    shape = argued("VolumeBinding", shape=[{"utilization": 0, "score": 10}])
    off = changed(("gate", "StorageCapacityScoring", "false"))
    assert configuration_of(changed(shape))["default-scheduler"].arguments["VolumeBinding"]
    with pytest.raises(EditError, match="while the feature gate StorageCapacityScoring is off") as error:
        changed(shape, documents=off)
    assert [problem.path for problem in error.value.problems] == ["shape"]


def test_profiles_are_added_renamed_and_removed() -> None:
    """Each has its own plugins."""
    two = changed(("profile", "+", "packer"), ("plugin", "1/score/ImageLocality", "off"))
    profiles = configuration_of(two)
    assert "ImageLocality" in profiles["default-scheduler"].weights
    assert "ImageLocality" not in profiles["packer"].weights
    renamed = changed(("profile", "1", "dense"), documents=two)
    assert list(configuration_of(renamed)) == ["default-scheduler", "dense"]
    assert configuration_of(changed(("profile", "1", ""), documents=two)).keys() == {"default-scheduler"}


def test_weights_from_the_score_tab_are_those_of_the_form() -> None:
    """One edit of several weights is the same as one of each."""
    at_once = changed(("weights", "default-scheduler", '{"NodeAffinity": 5, "ImageLocality": 0}'))
    assert at_once == changed(("weight", "0/NodeAffinity", "5"), ("weight", "0/ImageLocality", "0"))


def test_a_policy_gives_way_to_what_v1_37_reads() -> None:
    """It reads no Policy; other documents stay."""
    node: Document = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    policy: Document = {"apiVersion": "v1", "kind": "Policy", "predicates": []}
    made = changed(("weight", "0/NodeAffinity", "5"), documents=(policy, node))
    assert [one["kind"] for one in made] == ["Node", "KubeSchedulerConfiguration"]


def test_every_edit_is_tried_here() -> None:
    """A new one gets its rows."""
    assert set(V1_37_EDITS) == {
        "plugin",
        "plugins",
        "weight",
        "weights",
        "arguments",
        "profile",
        "percentage",
    }
