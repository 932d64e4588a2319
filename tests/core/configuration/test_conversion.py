"""A KubeSchedulerConfiguration as a Policy and back: what is not reported as lost decides alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.authoring.policy_edits import edited
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.policy.order import BUNDLES
from scheduler_core.schedulers.v1_11.predicates import PREDICATES
from scheduler_core.schedulers.v1_22.configuration.compiler import compile_configuration
from scheduler_core.schedulers.v1_22.configuration.conversion import to_policy
from scheduler_core.schedulers.v1_22.configuration.from_policy import from_policy
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from scheduler_core.schedulers.v1_22.configuration.versions import VERSIONS
from tests.core.configuration.test_compiler import document
from tests.core.trials import trials

CALLED = {"CheckNodeUnschedulable": "CheckNodeCondition", "PodFitsPorts": "PodFitsHostPorts"}


def decides(profile: Profile) -> tuple[Any, ...]:
    """Return what a profile decides by: predicates in order, without bundles, and priorities with weights.

    Of the cordon and its condition one stands for the other; EqualPriority decides nothing.
    """
    order = [member for key in profile.order for member in BUNDLES.get(key, (CALLED.get(key, key),))]
    scored = [
        (priority.name if not profile.arguments.get(priority.name) else "", priority.weight)
        for priority in profile.priorities
        if priority.name != "EqualPriority"
    ]
    return list(dict.fromkeys(order)), scored, profile.hard_weight


def kinds(profile: Profile) -> list[tuple[str, Any]]:
    """Return the rules that score, with what they were made with."""
    return [
        (type(steps).__name__, repr(getattr(steps, "scorer", getattr(steps, "label", ""))))
        for priority in profile.priorities
        for steps in [getattr(priority.run, "steps", priority.run)]
        if priority.name != "EqualPriority"
    ]


weights = st.integers(1, 100)
strategies = st.one_of(
    st.sampled_from([{"type": "LeastAllocated"}, {"type": "MostAllocated"}]),
    st.lists(st.integers(0, 10), min_size=1, max_size=3).map(
        lambda scores: {
            "type": "RequestedToCapacityRatio",
            "requestedToCapacityRatio": {
                "shape": [{"utilization": 30 * x, "score": score} for x, score in enumerate(scores)]
            },
        }
    ),
)
FILTERS = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "VolumeZone",
    "InterPodAffinity",
)
SCORERS = (
    "NodeResourcesFit",
    "NodeAffinity",
    "TaintToleration",
    "InterPodAffinity",
    "ImageLocality",
    "PodTopologySpread",
    "NodeResourcesBalancedAllocation",
)


@st.composite
def configurations(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a configuration of one profile, with plugins, weights and arguments of its own."""
    profile: dict[str, Any] = {"plugins": {}}
    if draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(FILTERS), unique=True))
        profile["plugins"]["filter"] = {
            "disabled": [{"name": "*"}],
            "enabled": [{"name": name} for name in names],
        }
    if draw(st.booleans()):
        names = draw(st.lists(st.sampled_from(SCORERS), unique=True))
        profile["plugins"]["score"] = {
            "disabled": [{"name": "*"}],
            "enabled": [{"name": name, "weight": draw(weights)} for name in names],
        }
    configs = []
    if draw(st.booleans()):
        configs.append({"name": "NodeResourcesFit", "args": {"scoringStrategy": draw(strategies)}})
    if draw(st.booleans()):
        configs.append(
            {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": draw(st.integers(0, 100))}}
        )
    profile["pluginConfig"] = configs
    return document(draw(st.sampled_from(["v1beta2", "v1beta3", "v1"])), profile)


@settings(max_examples=trials(60))
@given(configurations())
def test_a_configuration_that_loses_nothing_comes_back_as_it_was(given: dict[str, Any]) -> None:
    """To a Policy and back, in the same version: the same predicates, priorities, weights and arguments."""
    version = given["apiVersion"].rpartition("/")[2]
    policy = to_policy(given)
    before = compile_configuration(given).main.profile
    there = compile_profile(policy.document)
    if policy.lost:
        return
    assert decides(there)[0] == decides(before)[0]
    assert kinds(there) == kinds(before)
    back = from_policy(policy.document, version)
    assert not back.lost
    after = compile_configuration(back.document).main.profile
    assert decides(after) == decides(before)
    assert kinds(after) == kinds(before)
    assert from_policy(to_policy(back.document).document, version).document == back.document


PREDICATE_NAMES = [*PREDICATES, "PodFitsHost", "VolumeZonePredicate"]
PRIORITY_NAMES = [
    "SelectorSpreadPriority",
    "InterPodAffinityPriority",
    "LeastRequestedPriority",
    "MostRequestedPriority",
    "BalancedResourceAllocation",
    "NodePreferAvoidPodsPriority",
    "NodeAffinityPriority",
    "TaintTolerationPriority",
    "ImageLocalityPriority",
    "EqualPriority",
    "ServiceSpreadingPriority",
]


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a Policy, some of whose predicates have an order."""
    names = draw(st.lists(st.sampled_from(list(PREDICATES)), unique=True, max_size=8))
    orders = draw(st.permutations(range(1, 9)))
    entries = [
        {"name": n, **({"order": orders[i]} if draw(st.booleans()) else {})} for i, n in enumerate(names)
    ]
    scored = draw(st.lists(st.sampled_from(PRIORITY_NAMES), unique=True))
    policy: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Policy",
        "predicates": entries,
        "priorities": [{"name": name, "weight": draw(weights)} for name in scored],
    }
    if draw(st.booleans()):
        argument = {"labelsPresence": {"labels": ["rack"], "presence": draw(st.booleans())}}
        policy["predicates"].append({"name": "CheckNodeLabelPresence", "argument": argument})
    if draw(st.booleans()):
        argument = {"labelPreference": {"label": "ssd", "presence": draw(st.booleans())}}
        policy["priorities"].append({"name": "Fast", "weight": 2, "argument": argument})
    return policy


@settings(max_examples=trials(60))
@given(policies())
def test_a_policy_that_loses_nothing_decides_alike(given: dict[str, Any]) -> None:
    """As a KubeSchedulerConfiguration it runs the same rules in the same order; else something is shown."""
    before = compile_profile(given)
    conversion = from_policy(given)
    after = compile_configuration(conversion.document).main.profile
    if not conversion.lost:
        assert decides(after)[0] == decides(before)[0]
        assert [w for _, w in decides(after)[1]] == [w for _, w in decides(before)[1]]
        assert kinds(after) == kinds(before)


def test_the_default_provider_is_carried_over_but_for_the_pressures() -> None:
    """v1.11's default needs v1beta1 for its avoided nodes; conditions are taints today."""
    conversion = from_policy(None)
    assert conversion.document["apiVersion"] == VERSIONS["v1beta1"].api_version
    assert [text.partition(":")[0] for text in conversion.lost] == [
        "CheckNodeMemoryPressure",
        "CheckNodePIDPressure",
        "CheckNodeDiskPressure",
    ]


LOST: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str]] = {
    "another profile": (
        [{"schedulerName": "a"}, {"schedulerName": "default-scheduler"}],
        {},
        "the profile a",
    ),
    "a name": ([{"schedulerName": "a"}], {}, "the name a"),
    "no preemption": (
        [{"plugins": {"postFilter": {"disabled": [{"name": "*"}]}}}],
        {},
        "no DefaultPreemption at postFilter",
    ),
    "no cordon": (
        [{"plugins": {"filter": {"disabled": [{"name": "NodeUnschedulable"}]}}}],
        {},
        "no NodeUnschedulable at filter",
    ),
    "ignored resources": (
        [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["a.b/c"]}}]}],
        {},
        "NodeResourcesFit's ignored resources",
    ),
    "a hard weight of 0": (
        [{"pluginConfig": [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 0}}]}],
        {},
        "hardPodAffinityWeight 0",
    ),
    "preemption's arguments": (
        [{"pluginConfig": [{"name": "DefaultPreemption", "args": {"minCandidateNodesAbsolute": 5}}]}],
        {},
        "DefaultPreemption's arguments",
    ),
    "backoff": ([], {"podMaxBackoffSeconds": 60}, "podInitialBackoffSeconds and podMaxBackoffSeconds"),
    "extenders": ([], {"extenders": [{"urlPrefix": "http://a"}]}, "extenders"),
}


@pytest.mark.parametrize("case", LOST)
def test_what_a_policy_has_no_words_for_is_listed(case: str) -> None:
    """Each thing that only a KubeSchedulerConfiguration can say is named as lost."""
    profiles, fields, reported = LOST[case]
    assert any(text.startswith(reported) for text in to_policy(document("v1", *profiles, **fields)).lost)


def test_gangs_are_lost() -> None:
    """Coscheduling's queue sort, permit and the rest are each named."""
    gang = {
        "plugins": {
            "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
            "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]},
        }
    }
    lost = to_policy(document("v1", gang)).lost
    for reported in ("Coscheduling at queueSort", "no PrioritySort at queueSort", "Coscheduling at permit"):
        assert any(text.startswith(reported) for text in lost)


def test_the_policy_editor_changes_a_configuration_through_a_policy() -> None:
    """A weight, a plugin and a number change; every field outside the profile stays as it was."""
    (after,) = edited([document("v1", parallelism=8)], "priority", "NodeAffinityPriority", "9")
    assert after["parallelism"] == 8
    assert compile_configuration(after).main.weights["NodeAffinity"] == 9
    (after,) = edited([after], "predicate", "NoDiskConflict", "off")
    assert "VolumeRestrictions" not in compile_configuration(after).main.names("filter")
    (after,) = edited([after], "number", "hardPodAffinitySymmetricWeight", "40")
    profile = compile_configuration(after).main
    assert (profile.profile.hard_weight, profile.weights["NodeAffinity"]) == (40, 9)


def test_the_policy_editor_refuses_what_would_be_lost() -> None:
    """A change that the configuration cannot hold, or a configuration that no Policy can, is refused."""
    with pytest.raises(EditError, match="removed after v1beta1"):
        edited([document("v1")], "priority", "NodePreferAvoidPodsPriority", "5")
    packer = document("v1", {"schedulerName": "packer"})
    with pytest.raises(EditError, match="the name packer"):
        edited([packer], "priority", "NodeAffinityPriority", "5")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_s_defaults_lose_nothing(version: str) -> None:
    """What each version runs by default is a Policy, and comes back as a document that says nothing more."""
    policy = to_policy(document(version))
    assert policy.lost == ()
    back = from_policy(policy.document, version)
    assert back.lost == ()
    assert back.document == document(version, {"schedulerName": "default-scheduler"})
