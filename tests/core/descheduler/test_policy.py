"""What is read of a policy, and what is wrong with one: upstream's words, and where to change it."""

# ruff: noqa: E501  (messages stand on one line, as upstream writes them)
from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import load
from scheduler_core.cluster.descheduler.conversion import converted
from scheduler_core.cluster.descheduler.policy import PolicyRefusedError, refusals_of
from scheduler_core.cluster.descheduler.table import CLASSIC_STRATEGIES, PLUGINS
from scheduler_core.kubernetes.label_query import parse_label_query
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.kubernetes.readers import At, Report
from scheduler_core.kubernetes.selectors import matches
from tests.core.descheduler.parts import read

LOW = "thresholds: {cpu: 20}, targetThresholds: {cpu: 50}"
PROFILE = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig:
  - {name: %s, args: {%s}}
  plugins: {%s: {enabled: [%s]}}
"""


def profile(name: str, args: str, point: str = "balance", enabled: str | None = None) -> str:
    """Return a policy with one plugin's arguments."""
    return PROFILE % (name, args, point, name if enabled is None else enabled)


NAMESPACES = "only one of Include/Exclude namespaces can be set"
OPTIONS = "[PodsWithPVC PodsWithoutPDB PodsWithResourceClaims]"


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        (
            profile("LowNodeUtilization", ""),
            "thresholds config is not valid: no resource threshold is configured",
            "thresholds",
        ),
        (
            profile("LowNodeUtilization", "thresholds: {cpu: 101}, targetThresholds: {cpu: 50}"),
            "thresholds config is not valid: cpu threshold not in [0, 100] range",
            "thresholds.cpu",
        ),
        (
            profile("LowNodeUtilization", "thresholds: {cpu: 10}, targetThresholds: {cpu: -1}"),
            "targetThresholds config is not valid: cpu threshold not in [0, 100] range",
            "targetThresholds.cpu",
        ),
        (
            profile("LowNodeUtilization", "thresholds: {cpu: 10}, targetThresholds: {pods: 50}"),
            "thresholds and targetThresholds configured different resources",
            "targetThresholds",
        ),
        (
            profile("LowNodeUtilization", "thresholds: {cpu: 60}, targetThresholds: {cpu: 50}"),
            "thresholds' cpu percentage is greater than targetThresholds'",
            "thresholds.cpu",
        ),
        (
            profile("LowNodeUtilization", LOW + ", evictableNamespaces: {include: [a]}"),
            "only Exclude namespaces can be set, inclusion is not supported",
            "evictableNamespaces.include",
        ),
        (
            profile("LowNodeUtilization", LOW + ", metricsUtilization: {source: Prometheus}"),
            'prometheus query is required when metrics source is set to "Prometheus"',
            "metricsUtilization.prometheus",
        ),
        (profile("HighNodeUtilization", ""), "no resource threshold is configured", "thresholds"),
        (
            profile("HighNodeUtilization", "thresholds: {cpu: 1}, evictionModes: [x]"),
            "invalid eviction mode x",
            "evictionModes[0]",
        ),
        (profile("RemoveDuplicates", "namespaces: {include: [a], exclude: [b]}"), NAMESPACES, "namespaces"),
        (
            profile("RemovePodsViolatingNodeAffinity", "", "deschedule"),
            "nodeAffinityType needs to be set",
            "nodeAffinityType",
        ),
        (
            profile(
                "RemovePodsViolatingNodeAffinity", "namespaces: {include: [a], exclude: [b]}", "deschedule"
            ),
            f"[nodeAffinityType needs to be set, {NAMESPACES}]",
            "nodeAffinityType",
        ),
        (
            profile(
                "RemovePodsViolatingNodeTaints", "includedTaints: [a], excludedTaints: [b]", "deschedule"
            ),
            "either includedTaints or excludedTaints can be set, but not both",
            "includedTaints",
        ),
        (
            profile("RemovePodsHavingTooManyRestarts", "", "deschedule"),
            "invalid PodsHavingTooManyRestarts threshold",
            "podRestartThreshold",
        ),
        (
            profile("PodLifeTime", "", "deschedule"),
            (
                "at least one filtering criterion must be specified (maxPodLifeTimeSeconds, states, conditions, or "
                "exitCodes)"
            ),
            "maxPodLifeTimeSeconds",
        ),
        (
            profile("DefaultEvictor", "priorityThreshold: {value: 1, name: a}", enabled=""),
            "priority threshold misconfigured, only one of priorityThreshold fields can be set",
            "priorityThreshold",
        ),
        (
            profile("DefaultEvictor", "noEvictionPolicy: Never", enabled=""),
            'noEvictionPolicy accepts only ["Preferred" "Mandatory"] values',
            "noEvictionPolicy",
        ),
        (
            profile(
                "DefaultEvictor",
                "ignorePvcPods: true, podProtections: {extraEnabled: [PodsWithPVC]}",
                enabled="",
            ),
            "cannot use Deprecated fields alongside PodProtections.ExtraEnabled or PodProtections.DefaultDisabled",
            "ignorePvcPods",
        ),
        (
            profile("DefaultEvictor", "podProtections: {extraEnabled: [DaemonSetPods]}", enabled=""),
            f'invalid pod protection policy in ExtraEnabled: "DaemonSetPods". Valid options are: {OPTIONS}',
            "podProtections.extraEnabled[0]",
        ),
        (
            profile("DefaultEvictor", "podProtections: {defaultDisabled: [x, x]}", enabled=""),
            (
                '[invalid pod protection policy in DefaultDisabled: "x". Valid options are: [PodsWithLocalStorage '
                "SystemCriticalPods FailedBarePods DaemonSetPods], PodProtections.DefaultDisabled contains duplicate "
                "entries]"
            ),
            "podProtections.defaultDisabled[0]",
        ),
    ],
)
def test_refused_arguments(text: str, message: str, path: str) -> None:
    """The message is upstream's, with the profile; the place is that of the field to change."""
    policy, errors = read(text)
    assert policy is not None and errors == []
    (refusal,) = refusals_of(policy, {})
    assert refusal.message == f"in profile p: {message}"
    assert refusal.path == f"profiles[0].pluginConfig[0].args.{path}"
    assert refusal.remedy


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        (
            profile("NoSuch", ""),
            "in profile p: plugin NoSuch in pluginConfig not registered",
            "profiles[0].pluginConfig[0].name",
        ),
        (
            profile("DefaultEvictor", "priorityThreshold: {name: gold}", enabled=""),
            (
                'unable to get priority value from the priority class: priorityclasses.scheduling.k8s.io "gold" not '
                "found"
            ),
            "profiles[0].pluginConfig[0].args.priorityThreshold",
        ),
        (
            profile("DefaultEvictor", "priorityThreshold: {value: 2000000001}", enabled=""),
            "priority threshold can't be greater than 2000000000",
            "profiles[0].pluginConfig[0].args.priorityThreshold",
        ),
        (
            profile("RemoveDuplicates", "", "deschedule"),
            'profile "p" configures deschedule extension point of non-existing plugins: map[RemoveDuplicates:{}]',
            "profiles[0].plugins.deschedule.enabled[0]",
        ),
        (
            profile("RemoveDuplicates", "", enabled="A, RemoveDuplicates, B"),
            'profile "p" configures balance extension point of non-existing plugins: map[A:{} B:{}]',
            "profiles[0].plugins.balance.enabled[0]",
        ),
        (
            profile("RemoveDuplicates", "", "preevictionfilter"),
            (
                'profile "p" configures preEvictionFilter extension point of non-existing plugins: '
                "map[RemoveDuplicates:{}]"
            ),
            "profiles[0].plugins.preevictionfilter.enabled[0]",
        ),
        (
            profile("DefaultEvictor", "", enabled="RemoveDuplicates"),
            'unable to build RemoveDuplicates plugin: unable to find "RemoveDuplicates" plugin config',
            "profiles[0].plugins.balance.enabled[0]",
        ),
    ],
)
def test_refused_profiles(text: str, message: str, path: str) -> None:
    """A step after the other, as upstream starts; only the first that fails is reported."""
    policy, _ = read(text)
    assert policy is not None
    (refusal,) = refusals_of(policy, {"silver": 5})
    assert (refusal.message, refusal.path) == (message, path)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            "apiVersion: descheduler/v9\nkind: DeschedulerPolicy\n",
            1,
            (
                'no kind "DeschedulerPolicy" is registered for version "descheduler/v9": write descheduler/v1alpha2, or '
                "descheduler/v1alpha1 for v0.9.0"
            ),
        ),
        (
            profile("RemoveDuplicates", "excludeOwnerKind: [Job]"),
            6,
            "unknown field 'excludeOwnerKind': did you mean 'excludeOwnerKinds'?: the descheduler refuses the policy",
        ),
        (
            profile("LowNodeUtilization", "thresholds: {cpu: a lot}"),
            6,
            "must be a percentage such as 20, not 'a lot'",
        ),
        (profile("PodLifeTime", "maxPodLifeTimeSeconds: -1", "deschedule"), 6, "must be at least 0, not -1"),
    ],
)
def test_what_cannot_be_decoded(text: str, line: int, message: str) -> None:
    """It has the line of the field."""
    assert read(text) == (None, [(line, message)])


def strategies(text: str) -> Any:
    """Return a policy of v1alpha1 with some strategies."""
    policy, errors = read(f"apiVersion: descheduler/v1alpha1\nkind: DeschedulerPolicy\nstrategies:\n{text}")
    assert policy is not None and errors == []
    return policy


def test_classic_policies_name_what_is_younger() -> None:
    """Unknown strategies are passed over; fields of releases after v0.9.0 convert the policy to profiles."""
    old = strategies("  RemoveDuplicates: {enabled: true}\n  NoSuch: {enabled: true}\n")
    assert old.later == () and converted(old).profiles[0].name == "strategy-RemoveDuplicates-profile"
    young = strategies(
        "  PodLifeTime: {enabled: true, params: {podLifeTime: {maxPodLifeTimeSeconds: 5}, nodeFit: true}}\n"
        "  LowNodeUtilization: {enabled: true, params: {nodeFit: true, namespaces: {exclude: [a]}, "
        "nodeResourceUtilizationThresholds: {thresholds: {cpu: 1}, targetThresholds: {cpu: 2}}}}\n"
        "evictLocalStoragePods: true\nmaxNoOfPodsToEvictPerNamespace: 3\n"
    )
    assert set(young.later) == {
        "evictLocalStoragePods",
        "maxNoOfPodsToEvictPerNamespace",
        "strategy PodLifeTime",
        "PodLifeTime.params.podLifeTime",
        "PodLifeTime.params.nodeFit",
        "LowNodeUtilization.params.nodeFit",
        "LowNodeUtilization.params.namespaces",
    }
    made = converted(young)
    low, life = made.profiles
    assert (low.name, life.name) == ("strategy-LowNodeUtilization-profile", "strategy-PodLifeTime-profile")
    assert low.evictor.node_fit and not life.evictor.node_fit
    assert "PodsWithLocalStorage" not in low.evictor.effective and made.limits.namespace == 3
    assert refusals_of(made, {}) == []


REFUSED = {
    "LowNodeUtilization",
    "HighNodeUtilization",
    "RemovePodsViolatingNodeAffinity",
    "RemovePodsHavingTooManyRestarts",
    "PodLifeTime",
}
"""Strategies that need parameters."""


@pytest.mark.parametrize("name", PLUGINS.keys() - REFUSED)
def test_every_strategy_is_converted(name: str) -> None:
    """To a profile of the plugin, with its type of arguments."""
    made = converted(strategies(f"  {name}: {{enabled: true, params: {{nodeFit: true}}}}\n"))
    assert isinstance(made.profiles[0].args_of(name), type(PLUGINS[name].args({}, At(Report(), None, None))))


@pytest.mark.parametrize("name", REFUSED)
def test_missing_parameters_are_refused(name: str) -> None:
    """With the name of the strategy."""
    start = f'failed to get plugin config for strategy {name}: strategy "{name}" param validation failed: '
    with pytest.raises(PolicyRefusedError) as refused:
        converted(strategies(f"  {name}: {{enabled: true}}\n"))
    assert str(refused.value).startswith(start)


def test_rows_say_what_they_are() -> None:
    """Each strategy has a name, words and an edition, from which pages are made."""
    for rows, edition in ((PLUGINS, "main-2026-06"), (CLASSIC_STRATEGIES, "v0.9.0")):
        assert all(name == row.name and row.edition == edition for name, row in rows.items())
        assert all(row.words.startswith("evicts ") for row in rows.values())


@pytest.mark.parametrize(
    ("query", "selected"),
    [
        ("", True),
        ("zone=a", True),
        ("zone==a,disk", True),
        ("zone!=a", False),
        ("!disk", False),
        ("!gpu", True),
        ("zone in (b, a)", True),
        ("zone notin (a)", False),
        ("n>4", True),
        ("n<4", False),
        ("gpu", False),
    ],
)
def test_label_queries(query: str, selected: bool) -> None:
    """In the notation of kubectl's ``-l``."""
    assert matches(parse_label_query(query), {"zone": "a", "disk": "ssd", "n": "5"}) is selected


@pytest.mark.parametrize("query", ["=a", "zone=a b", "zone in a", "zone>x", ",", "zone in ("])
def test_bad_label_queries(query: str) -> None:
    """They are refused with the part that cannot be read."""
    with pytest.raises(ValueError, match=r"label"):
        parse_label_query(query)


@pytest.mark.parametrize(
    ("version", "field", "words"),
    [
        ("v1alpha2", "strategies: {}", "write profiles with plugins, or apiVersion: descheduler/v1alpha1"),
        ("v1alpha2", "ignorePvcPods: true", "belongs to DefaultEvictor's args now"),
        ("v1alpha1", "profiles: []", "write strategies, or apiVersion: descheduler/v1alpha2"),
    ],
)
def test_a_field_of_the_other_edition_is_named_with_its_line(version: str, field: str, words: str) -> None:
    """An error where the descheduler refuses it, a warning where it passes over it."""
    policy = f"apiVersion: descheduler/{version}\nkind: DeschedulerPolicy\n{field}\n"
    settings = "apiVersion: podstep/v1\nkind: SimulationSettings\ndescheduler: {interval: 60s}\n"
    try:
        found = load(f"{settings}---\n{policy}").warnings
    except BundleError as error:
        found = tuple(error.problems)
    (problem,) = [one for one in found if one.path == field.partition(":")[0]]
    assert problem.line == 7 and words in problem.message
