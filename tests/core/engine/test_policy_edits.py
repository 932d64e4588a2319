"""Changing a policy by small steps: what is named changes, what is not stays as it was written."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.authoring.policy_edits import edited
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.schedulers.v1_11.policy.providers import DEFAULT_PREDICATES, DEFAULT_PRIORITIES
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from tests.core.engine.builders import node

POLICY: dict[str, Any] = {"apiVersion": "v1", "kind": "Policy"}
SETTINGS: dict[str, Any] = {"apiVersion": "podstep/v1", "kind": "SimulationSettings"}
NODE = node("a")


def names(document: Any) -> list[str]:
    """Return the predicates that a policy names."""
    return [entry["name"] for entry in document["predicates"]]


def test_a_change_makes_the_document_that_is_absent() -> None:
    """Without a Policy, switching one predicate off writes the others of the default provider down."""
    [kept, policy] = edited([NODE], "predicate", "NoDiskConflict", "off")
    assert kept is NODE
    assert names(policy) == [key for key in DEFAULT_PREDICATES if key != "NoDiskConflict"]
    assert "priorities" not in policy


# what the row says: the documents before, the change, the documents after
CHANGES: dict[str, tuple[list[Any], tuple[str, str, str], list[Any]]] = {
    "switching it on again leaves nothing to say": (
        [{**POLICY, "predicates": [{"name": key} for key in DEFAULT_PREDICATES if key != "NoDiskConflict"]}],
        ("predicate", "NoDiskConflict", "on"),
        [],
    ),
    "what else a policy says stays": (
        [{**POLICY, "extenders": [], "predicates": [{"name": "HostName", "order": 2}]}],
        ("predicate", "NoDiskConflict", "on"),
        [
            {
                **POLICY,
                "extenders": [],
                "predicates": [{"name": "HostName", "order": 2}, {"name": "NoDiskConflict"}],
            }
        ],
    ),
    "a name of several keys keeps the others": (
        [{**POLICY, "predicates": [{"name": "MaxPDVolumeCountPredicate", "order": 2}]}],
        ("predicate", "MaxGCEPDVolumeCount", "off"),
        [
            {
                **POLICY,
                "predicates": [
                    {"name": "MaxEBSVolumeCount", "order": 2},
                    {"name": "MaxAzureDiskVolumeCount", "order": 2},
                ],
            }
        ],
    ),
    "a member leaves the other three of its bundle": (
        [{**POLICY, "predicates": [{"name": "GeneralPredicates"}]}],
        ("predicate", "HostName", "off"),
        [
            {
                **POLICY,
                "predicates": [
                    {"name": "PodFitsResources"},
                    {"name": "PodFitsHostPorts"},
                    {"name": "MatchNodeSelector"},
                ],
            }
        ],
    ),
    "an alias is switched off by its key": (
        [{**POLICY, "predicates": [{"name": "PodFitsHost"}]}],
        ("predicate", "HostName", "off"),
        [{**POLICY, "predicates": []}],
    ),
    "a weight keeps the argument": (
        [{**POLICY, "priorities": [{"name": "Rack", "weight": 1, "argument": {"x": 1}}]}],
        ("priority", "Rack", "9"),
        [{**POLICY, "priorities": [{"name": "Rack", "weight": 9, "argument": {"x": 1}}]}],
    ),
    "a weight of zero takes a priority out": (
        [{**POLICY, "priorities": [{"name": "EqualPriority", "weight": 1}]}],
        ("priority", "EqualPriority", "0"),
        [{**POLICY, "priorities": []}],
    ),
    "a flag at its default is not written": (
        [{**POLICY, "alwaysCheckAllPredicates": True}],
        ("flag", "alwaysCheckAllPredicates", "false"),
        [],
    ),
    "the hard weight is written": (
        [],
        ("number", "hardPodAffinitySymmetricWeight", "10"),
        [{**POLICY, "hardPodAffinitySymmetricWeight": 10}],
    ),
    "settings have a document of their own": (
        [POLICY | {"priorities": []}],
        ("setting", "predicateOrder", "proposal"),
        [POLICY | {"priorities": []}, {**SETTINGS, "predicateOrder": "proposal"}],
    ),
    "a setting stands beside another": (
        [{**SETTINGS, "quirks": "fixed"}],
        ("setting", "predicateOrder", "proposal"),
        [{**SETTINGS, "quirks": "fixed", "predicateOrder": "proposal"}],
    ),
    "a policy of another system is none": (
        [{"apiVersion": "kyverno.io/v1", "kind": "Policy"}],
        ("flag", "alwaysCheckAllPredicates", "true"),
        [{"apiVersion": "kyverno.io/v1", "kind": "Policy"}, {**POLICY, "alwaysCheckAllPredicates": True}],
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_a_change_writes(case: str) -> None:
    """The documents are as a careful person would have left them."""
    before, change, after = CHANGES[case]
    assert list(edited(before, *change)) == after


@pytest.mark.parametrize("name", [name for name, _ in DEFAULT_PRIORITIES])
def test_taking_a_priority_out_and_putting_it_back(name: str) -> None:
    """Put back with its weight, it restores the default provider: the place is of no account."""
    without = edited([], "priority", name, "0")
    weight = dict(DEFAULT_PRIORITIES)[name]
    again = edited(without, "priority", name, str(weight))
    profile = compile_profile(again[0] if again else None)
    assert {p.name: p.weight for p in profile.priorities} == dict(DEFAULT_PRIORITIES)
    assert again == ()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (("predicate", "CheckNodeCondition", "off"), "always runs"),
        (("predicate", "CheckServiceAffinity", "on"), "needs an argument"),
        (("predicate", "CheckNodeUnschedulable", "on"), "no predicate"),
        (("predicate", "Nope" * 1000, "off"), "no predicate .{,70} that"),
        (("predicate", "HostName", "maybe"), "on or off"),
        (("priority", "Nope", "1"), "no priority"),
        (("priority", "EqualPriority", "-1"), "whole number"),
        (("priority", "EqualPriority", "99999999999"), "whole number"),
        (("flag", "kind", "true"), "alwaysCheckAllPredicates"),
        (("number", "hardPodAffinitySymmetricWeight", "0"), "from 1 to 100"),
        (("number", "kind", "3"), "hardPodAffinitySymmetricWeight"),
        (("setting", "quirks", "some"), "v1.11 or fixed"),
        (("setting", "kind", "v1.11"), "no setting"),
        (("nothing", "x", "y"), "one of predicate, priority"),
    ],
)
def test_a_change_that_cannot_be_made_says_why(change: tuple[str, str, str], part: str) -> None:
    """The text tells what is possible."""
    with pytest.raises(EditError, match=part):
        edited([], *change)
