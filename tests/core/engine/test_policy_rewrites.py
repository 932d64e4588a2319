"""Changes of a Policy that concern several entries: what is written is what then runs."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from scheduler_core.authoring.policy_edits import edited
from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.schedulers.v1_11.policy.providers import DEFAULT_PREDICATES
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from scheduler_core.settings.settings import DEFAULT_SETTINGS, PREDICATE_ORDERS, Settings

CUSTOM: Document = {
    "apiVersion": "v1",
    "kind": "Policy",
    "predicates": [
        {"name": "GeneralPredicates"},
        {"name": "MaxPDVolumeCountPredicate"},
        {"name": "NoDiskConflict", "order": 4},
        {"name": "OnlySsd", "argument": {"labelsPresence": {"labels": ["ssd"], "presence": True}}},
    ],
    "priorities": [{"name": "LeastRequestedPriority", "weight": 3}],
}


def settings_of(order: str) -> Settings:
    return Settings(predicate_order=order)


def policy_of(documents: tuple[Document, ...]) -> Document | None:
    return documents[0] if documents else None


@pytest.mark.parametrize("order", PREDICATE_ORDERS)
@pytest.mark.parametrize("policy", [None, CUSTOM])
def test_predicates_run_in_the_order_that_was_asked_for(policy: Document | None, order: str) -> None:
    """Any permutation is written so that it runs, one after the other on the same policy."""
    rng = random.Random(3)
    settings = settings_of(order)
    documents: tuple[Document, ...] = () if policy is None else (policy,)
    keys = list(compile_profile(policy, settings).order)
    for _ in range(60):
        rng.shuffle(keys)
        documents = edited(documents, "order", order, json.dumps(keys))
        assert list(compile_profile(policy_of(documents), settings).order) == keys


def test_as_few_predicates_as_it_takes_get_an_order() -> None:
    """One that moves ahead has an order alone; back at its place the policy says nothing any more."""
    keys = list(DEFAULT_PREDICATES)
    first = ["NoDiskConflict", *(key for key in keys if key != "NoDiskConflict")]
    made = edited((), "order", "v1.11", json.dumps(first))
    (policy,) = made
    assert [entry for entry in policy["predicates"] if "order" in entry] == [
        {"name": "NoDiskConflict", "order": 1}
    ]
    assert edited(made, "order", "v1.11", json.dumps(keys)) == ()


def test_a_predicate_that_never_ran_runs_where_it_is_put() -> None:
    """A name that is in no static order needs an order, and then is evaluated."""
    profile = compile_profile(CUSTOM)
    assert profile.never_run == ("OnlySsd",)
    wanted = [*profile.order, "OnlySsd"]
    made = edited((CUSTOM,), "order", "v1.11", json.dumps(wanted))
    after = compile_profile(made[0])
    assert (list(after.order), after.never_run) == (wanted, ())


@pytest.mark.parametrize("value", ["", "[", "{}", '["a", "a"]', "[1]", "[[]]"])
def test_what_is_no_order_is_refused(value: str) -> None:
    """Nothing is guessed from a value that is not a list of different names."""
    with pytest.raises(EditError):
        edited((), "order", "v1.11", value)


def test_several_weights_are_changed_at_once() -> None:
    """Those that are named change, 0 takes one out, the others stay."""
    made = edited((), "weights", "", json.dumps({"LeastRequestedPriority": 4, "NodeAffinityPriority": 0}))
    weights = {p.name: p.weight for p in compile_profile(made[0]).priorities}
    before = {p.name: p.weight for p in compile_profile(None).priorities}
    del before["NodeAffinityPriority"]
    assert weights == {**before, "LeastRequestedPriority": 4}


@pytest.mark.parametrize(
    ("weights", "reported"),
    [
        ({"EqualPriority": 1}, "no priority 'EqualPriority'"),
        ({"LeastRequestedPriority": -1}, "whole number"),
        ({"LeastRequestedPriority": True}, "whole number"),
        ({"LeastRequestedPriority": 2**31}, "whole number"),
    ],
)
def test_weights_that_cannot_be(weights: dict[str, Any], reported: str) -> None:
    """A priority that is not there, and what is no weight, are reported."""
    with pytest.raises(EditError, match=reported):
        edited((), "weights", "", json.dumps(weights))


def test_arguments_make_predicates_and_priorities() -> None:
    """An entry is added, and one of the same name is changed and keeps its order."""
    given = {"list": "predicates", "argument": {"labelsPresence": {"labels": ["zone"], "presence": True}}}
    made = edited((), "argument", "CheckNodeLabelPresence", json.dumps(given))
    keys = compile_profile(made[0]).order
    assert "CheckNodeLabelPresence" in keys
    first = ["CheckNodeLabelPresence", *(key for key in keys if key != "CheckNodeLabelPresence")]
    made = edited(made, "order", "v1.11", json.dumps(first))
    given["argument"] = {"labelsPresence": {"labels": ["rack"], "presence": False}}
    made = edited(made, "argument", "CheckNodeLabelPresence", json.dumps(given))
    profile = compile_profile(made[0])
    assert profile.order[0] == "CheckNodeLabelPresence"
    assert profile.arguments["CheckNodeLabelPresence"]["labelsPresence"]["labels"] == ["rack"]
    shape = {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}
    packing: dict[str, Any] = {
        "list": "priorities",
        "argument": {"requestedToCapacityRatioArguments": shape},
        "weight": 5,
    }
    made = edited(made, "argument", "Pack", json.dumps(packing))
    assert ("Pack", 5) in [(p.name, p.weight) for p in compile_profile(made[0]).priorities]


def test_a_provider_takes_the_place_of_both_lists() -> None:
    """Of the policy stays what is no list; the DefaultProvider then needs none at all."""
    kept = {**CUSTOM, "alwaysCheckAllPredicates": True}
    made = edited((kept,), "provider", "", "ClusterAutoscalerProvider")
    profile = compile_profile(made[0])
    assert profile.order == compile_profile(None).order
    assert profile.always_check_all
    assert "MostRequestedPriority" in [p.name for p in profile.priorities]
    assert edited((CUSTOM,), "provider", "", "DefaultProvider") == ()
    with pytest.raises(EditError, match="no provider"):
        edited((), "provider", "", "Other")


def test_the_default_settings_are_those_of_an_order_left_out() -> None:
    """The static order's name is the settings' own word."""
    assert DEFAULT_SETTINGS.predicate_order in PREDICATE_ORDERS
