from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.coscheduling import CLASSIC, CURRENT
from scheduler_core.coscheduling.build import build
from scheduler_core.framework.configuration import ConfigurationError, SchedulerProfile, read_configuration
from scheduler_core.framework.profile import default_scheduling, scheduling_of
from scheduler_core.framework.registry import POINTS, REGISTRY
from scheduler_core.policy.order import static_order
from tests.core.coscheduling.parts import group, node, pod

ONLY = {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]}
BESIDE = {"enabled": [{"name": "Coscheduling"}]}
GANG = {
    "queueSort": ONLY, "preFilter": BESIDE, "postFilter": BESIDE, "permit": BESIDE, "reserve": BESIDE,
    "postBind": BESIDE,
}  # fmt: skip


def configuration(*profiles: Any, version: str = "v1beta2") -> dict[str, Any]:
    """Make a document."""
    return {
        "apiVersion": f"kubescheduler.config.k8s.io/{version}",
        "kind": "KubeSchedulerConfiguration",
        "profiles": list(profiles),
    }


def read(plugins: Any, version: str = "v1beta2", **rest: Any) -> SchedulerProfile:
    """Read a single profile."""
    (profile,) = read_configuration(configuration({"plugins": plugins, **rest}, version=version))
    return profile


def wrong(*profiles: Any, version: str = "v1beta2") -> dict[str, str]:
    """Return what is wrong, by path."""
    with pytest.raises(ConfigurationError) as caught:
        read_configuration(configuration(*profiles, version=version))
    return {problem.path: problem.message for problem in caught.value.problems}


def test_without_profiles_there_is_the_default_one() -> None:
    """The default scheduler sorts by priority, preempts, and waits for nobody."""
    (profile,) = read_configuration(configuration())
    assert profile.name == "default-scheduler"
    assert list(profile.points["queueSort"]) == ["PrioritySort"]
    assert list(profile.points["postFilter"]) == ["DefaultPreemption"]
    assert profile.points["permit"] == {}
    assert profile.points["score"]["PodTopologySpread"] == 2


def test_the_documented_configuration_enables_coscheduling_behind_the_defaults() -> None:
    """Coscheduling's PostFilter comes after preemption, and it alone sorts the queue."""
    profile = read(GANG, pluginConfig=[{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": 10}}])
    assert list(profile.points["queueSort"]) == ["Coscheduling"]
    assert list(profile.points["postFilter"]) == ["DefaultPreemption", "Coscheduling"]
    assert profile.enabled("Coscheduling") == [
        "queueSort", "preFilter", "postFilter", "reserve", "permit", "postBind"
    ]  # fmt: skip
    assert profile.arguments == {"Coscheduling": {"permitWaitingTimeSeconds": 10}}


def test_multi_point_enables_a_plugin_wherever_it_extends() -> None:
    """With the queue sort exchanged as well it is today's way to write the same."""
    profile = read({"multiPoint": BESIDE, "queueSort": ONLY}, version="v1")
    assert profile.points == read(GANG).points


def test_multi_point_alone_leaves_two_queue_sorts() -> None:
    """The default's queue sort has to be disabled by name."""
    told = wrong({"plugins": {"multiPoint": BESIDE}}, version="v1")
    assert told == {
        "profiles[0].plugins.queueSort": "there must be one queue sort plugin, "
        'there are PrioritySort and Coscheduling: disable the others, or "*"'
    }


@pytest.mark.parametrize("point", ["queueSort", "permit", "reserve"])
def test_what_coscheduling_cannot_do_without(point: str) -> None:
    """Leaving out one of three points is an error that says what would happen."""
    plugins = {name: change for name, change in GANG.items() if name != point}
    told = wrong({"plugins": plugins})
    assert told[f"profiles[0].plugins.{point}"].startswith("Coscheduling must be enabled here: without it ")


@pytest.mark.parametrize("point", ["preFilter", "postFilter", "postBind"])
def test_what_coscheduling_can_do_without(point: str) -> None:
    """PreFilter, PostFilter and PostBind may be left out."""
    profile = read({name: change for name, change in GANG.items() if name != point})
    assert point not in profile.enabled("Coscheduling")


def test_all_profiles_share_the_queue_sort() -> None:
    """There is one queue; and names of profiles are not given twice."""
    told = wrong({"plugins": GANG}, {"schedulerName": "other"}, {"schedulerName": "other"})
    assert set(told) == {
        "profiles[1].plugins.queueSort", "profiles[2].plugins.queueSort", "profiles[2].schedulerName"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("plugins", "path", "text"),
    [
        ({"flitter": {}}, "flitter", "is no extension point"),
        ({"multiPoint": {}}, "multiPoint", "v1beta2 has no multiPoint: it came with v1beta3"),
        ({"score": {"enabled": [{"name": "Nope"}]}}, "score.enabled[0].name", "is no plugin that is known"),
        ({"bind": {"enabled": [{"name": "NodeName"}]}}, "bind.enabled[0].name", "it extends filter"),
        ({"bind": {"disabled": [{"name": "*"}]}}, "bind", "there must be a plugin that binds"),
        ({"queueSort": {"disabled": [{"name": "*"}]}}, "queueSort", "there is none"),
        (
            {"score": {"enabled": [{"name": "ImageLocality", "weight": -1}]}},
            "score.enabled[0].weight",
            "from 1",
        ),
        ({"score": {"enabled": [{"name": "ImageLocality"}] * 2}}, "score.enabled[1].name", "enabled twice"),
        ({"score": {"enabled": "x"}}, "score.enabled", "must be a list"),
        ({"score": [1]}, "score", "must be an object"),
        ({"score": {"disabled": [{}]}}, "score.disabled[0].name", "must be a plugin's name"),
    ],
)
def test_what_is_wrong_is_told_with_its_path(plugins: Any, path: str, text: str) -> None:
    """Every mistake in a profile's plugins is named where it stands."""
    assert text in wrong({"plugins": plugins})[f"profiles[0].plugins.{path}"]


def test_a_document_of_another_kind_is_refused() -> None:
    """Both apiVersion and kind are looked at, and told together."""
    with pytest.raises(ConfigurationError) as caught:
        read_configuration({"apiVersion": "v1", "kind": "Policy"})
    assert {problem.path for problem in caught.value.problems} == {"apiVersion", "kind"}


def test_filter_and_score_plugins_become_predicates_and_priorities() -> None:
    """Disabling plugins takes their predicates out and their weight away."""
    change = {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeAffinity", "weight": 5}]}
    found = scheduling_of(read({"filter": {"disabled": [{"name": "NodePorts"}]}, "score": change}).points)
    assert "PodFitsHostPorts" not in found.profile.order
    assert "PodFitsResources" in found.profile.order
    assert [(p.name, p.weight) for p in found.profile.priorities] == [("NodeAffinityPriority", 5)]
    assert (found.fit_weight, found.balanced_weight) == (0, 0)
    assert default_scheduling().fit_weight == 1


def test_the_registry_names_real_points_and_predicates() -> None:
    """Every row's points exist, and what it took over was a predicate of v1.11."""
    assert {point for row in REGISTRY.values() for point in row.points} <= set(POINTS)
    assert {name for row in REGISTRY.values() for name in row.predicates} <= set(static_order("v1.11"))


def gang(plugins: Any, arguments: dict[str, int] | None = None) -> Any:
    """Build a scheduler for a group of four with room for three, and a single pod."""
    members = [pod(f"p{number}", cpu=1000) for number in range(4)]
    objects: list[Any] = [group(4), node("n", 3000), *members, pod("single", "", cpu=1000)]
    config = [{"name": "Coscheduling", "args": arguments or {"permitWaitingTimeSeconds": 10}}]
    return build(read(plugins, pluginConfig=config), objects, CLASSIC, epoch=1609459260.0)


def test_without_post_filter_a_group_is_rejected_by_time_alone() -> None:
    """Its members hold their nodes until their time is up; with PostFilter they give way at once."""
    patient = gang({name: change for name, change in GANG.items() if name != "postFilter"})
    patient.run(9)
    assert (len(patient.waiting), patient.bound()) == (3, {})
    patient.run(11)
    assert len(patient.waiting) == 0
    quick = gang(GANG)
    quick.run(9)
    assert list(quick.bound()) == ["ns/single"]


def test_a_profile_without_coscheduling_schedules_pod_by_pod() -> None:
    """The default profile binds three of four, with its own queue sort."""
    alone = gang({})
    alone.run(1)
    assert list(alone.bound()) == ["ns/p0", "ns/p1", "ns/p2"]


def test_arguments_are_those_of_the_edition() -> None:
    """What the plugin would not start with is told as part of the configuration."""
    config = [{"name": "Coscheduling", "args": {"podGroupRejectPercentage": 101}}]
    with pytest.raises(ConfigurationError) as caught:
        build(read(GANG, pluginConfig=config), [], CURRENT)
    (problem,) = caught.value.problems
    assert problem.path == "pluginConfig.Coscheduling.args"
    assert problem.message == "podGroupRejectPercentage: Invalid value: 101: must be between 0 and 100"
