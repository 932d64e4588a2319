"""The form of a DeschedulerPolicy: plugins with arguments, and when it runs."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from scheduler_core import load
from scheduler_core.authoring.descheduler_editing import HEAD
from scheduler_core.authoring.policy_editing import edited
from scheduler_core.authoring.policy_rewriting import EditError
from scheduler_core.kubernetes.manifests import Document
from tests.core.descheduler.test_living import CLUSTER, LOW, POLICY

SETTINGS = "apiVersion: podstep/v1\nkind: SimulationSettings\ndescheduler: {interval: 60s}\n"
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
