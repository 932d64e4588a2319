"""The form of a DeschedulerPolicy: plugins with arguments, and when it runs."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from scheduler_core import load
from scheduler_core.authoring.descheduler_edits import HEAD, MOST_PROFILES
from scheduler_core.authoring.policy_edits import edited
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.cluster.descheduler.table import PLUGINS
from scheduler_core.kubernetes.manifests import Document
from tests.core.descheduler.test_controllers import CLUSTER, LOW, POLICY

SETTINGS = "apiVersion: podstep/v1\nkind: SimulationSettings\ndescheduler: {interval: 60s}\n"
HEAD_OF_SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings"}
DOCUMENTS = load("\n---\n".join((SETTINGS, POLICY % LOW, CLUSTER))).documents


def of_kind(documents: Iterable[Document], kind: str) -> Document:
    """Return the document of a kind."""
    (found,) = [one for one in documents if one["kind"] == kind]
    return found


def test_a_setting_is_changed_and_restored() -> None:
    """What else the settings hold stays."""
    changed = edited(DOCUMENTS, "descheduler", "passes", "3")
    assert of_kind(changed, "SimulationSettings")["descheduler"] == {"interval": "60s", "passes": 3}
    restored = edited(changed, "descheduler", "passes", "")
    assert of_kind(restored, "SimulationSettings")["descheduler"] == {"interval": "60s"}


def test_a_plugin_is_enabled_changed_and_taken_out() -> None:
    """At its point, with its arguments; DefaultEvictor and the others stay."""
    changed = edited(DOCUMENTS, "strategy", "RemoveDuplicates", '{"excludeOwnerKinds": ["Job"]}')
    (profile,) = of_kind(changed, "DeschedulerPolicy")["profiles"]
    assert profile["plugins"]["balance"]["enabled"] == ["LowNodeUtilization", "RemoveDuplicates"]
    assert profile["pluginConfig"][-1] == {"name": "RemoveDuplicates", "args": {"excludeOwnerKinds": ["Job"]}}
    text = "\n---\n".join(json.dumps(one) for one in changed)
    assert load(text).descheduler is not None
    again = edited(changed, "strategy", "RemoveDuplicates", "")
    assert of_kind(again, "DeschedulerPolicy") == of_kind(DOCUMENTS, "DeschedulerPolicy")


def test_a_policy_is_made_where_there_is_none() -> None:
    """With one profile."""
    (made,) = edited((), "strategy", "RemoveFailedPods", "{}")
    assert {name: made[name] for name in HEAD} == HEAD
    assert made["profiles"][0]["plugins"] == {"deschedule": {"enabled": ["RemoveFailedPods"]}}


@pytest.mark.parametrize(
    ("what", "name", "value", "message"),
    [
        ("descheduler", "interval", "soon", "interval: must be a duration"),
        ("descheduler", "passes", "5000", "passes: must be"),
        ("descheduler", "dryRun", "perhaps", "dryRun: must be"),
        ("descheduler", "speed", "1", "no setting 'speed'; it is one of interval, passes, dryRun"),
        ("strategy", "Remove", "{}", "There is no plugin 'Remove'; known are RemoveDuplicates"),
        ("strategy", "RemoveDuplicates", "[1]", "must be written as JSON"),
        ("strategy", "7/RemoveDuplicates", "on", "has no profile '7'"),
        ("strategy", "x/RemoveDuplicates", "on", "has no profile 'x'"),
        ("descheduler-profile", "0", "", "needs at least one profile"),
        ("descheduler-profile", "3", "more", "has no profile '3'"),
        ("descheduling", "", "perhaps", "on, or nothing"),
    ],
)
def test_what_cannot_be_is_refused(what: str, name: str, value: str, message: str) -> None:
    """With what would be right."""
    with pytest.raises(EditError, match=message):
        edited(DOCUMENTS, what, name, value)


def test_a_policy_of_another_edition_is_left_to_the_yaml() -> None:
    """Its strategies are not plugins."""
    old = {"apiVersion": "descheduler/v1alpha1", "kind": "DeschedulerPolicy", "strategies": {}}
    with pytest.raises(EditError, match="edit one of descheduler/v1alpha1 as YAML"):
        edited((old,), "strategy", "RemoveDuplicates", "{}")


def test_each_profile_is_changed_by_its_index() -> None:
    """A new one is empty; a plugin that is switched on gets what it cannot do without."""
    changed = edited(DOCUMENTS, "descheduler-profile", "+", "rest")
    changed = edited(changed, "strategy", "1/PodLifeTime", "on")
    first, second = of_kind(changed, "DeschedulerPolicy")["profiles"]
    assert first == of_kind(DOCUMENTS, "DeschedulerPolicy")["profiles"][0]
    assert second["name"] == "rest" and second["plugins"] == {"deschedule": {"enabled": ["PodLifeTime"]}}
    assert second["pluginConfig"] == [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 86_400}}]
    changed = edited(changed, "strategy", "1/DefaultEvictor", '{"nodeFit": true}')
    second = of_kind(changed, "DeschedulerPolicy")["profiles"][1]
    assert second["pluginConfig"][-1] == {"name": "DefaultEvictor", "args": {"nodeFit": True}}
    assert second["plugins"] == {"deschedule": {"enabled": ["PodLifeTime"]}}
    assert load("\n---\n".join(json.dumps(one) for one in changed)).descheduler is not None
    renamed = of_kind(edited(changed, "descheduler-profile", "1", "old"), "DeschedulerPolicy")["profiles"]
    assert [one["name"] for one in renamed] == ["default", "old"]
    (kept,) = of_kind(edited(changed, "descheduler-profile", "0", ""), "DeschedulerPolicy")["profiles"]
    assert kept == second


def test_profiles_are_bounded() -> None:
    """Each one is drawn with all plugins."""
    documents: tuple[Document, ...] = DOCUMENTS
    for number in range(MOST_PROFILES - 1):
        documents = edited(documents, "descheduler-profile", "+", f"p{number}")
    with pytest.raises(EditError, match="write more as YAML"):
        edited(documents, "descheduler-profile", "+", "last")


def test_a_descheduler_is_added_and_taken_out() -> None:
    """With a policy that runs, unless there is one; what else the settings hold stays."""
    added = edited(load(CLUSTER).documents, "descheduling", "", "on")
    scenario = load("\n---\n".join(json.dumps(one) for one in added))
    assert scenario.descheduler is not None and scenario.row.is_timed
    assert scenario.descheduler.settings.interval == 300.0
    assert edited(added, "descheduling", "", "") == load(CLUSTER).documents
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "until": 60, "descheduler": {}}
    assert edited([settings], "descheduling", "", "") == ({**HEAD_OF_SETTINGS, "until": 60},)
    policy = of_kind(DOCUMENTS, "DeschedulerPolicy")
    again = edited(
        tuple(one for one in DOCUMENTS if one["kind"] != "SimulationSettings"), "descheduling", "", "on"
    )
    assert of_kind(again, "DeschedulerPolicy") == policy
    assert edited(DOCUMENTS, "descheduling", "", "on") == DOCUMENTS


@pytest.mark.parametrize("name", PLUGINS)
def test_each_plugin_can_be_switched_on(name: str) -> None:
    """Upstream accepts what the form writes."""
    changed = edited(DOCUMENTS, "strategy", f"0/{name}", "on")
    assert load("\n---\n".join(json.dumps(one) for one in changed)).descheduler is not None
