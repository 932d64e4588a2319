"""Policies: what runs, in which order, with which weight; and what is wrong with those that do not."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.schedulers.profiles.priority import Mapped
from scheduler_core.schedulers.quirks import REPRODUCED_BY
from scheduler_core.schedulers.v1_11.policy.order import (
    ALIASES,
    BUNDLES,
    PROPOSAL,
    UNREGISTERED,
    V1_11_ORDER,
    keys_of,
    static_order,
)
from scheduler_core.schedulers.v1_11.policy.providers import DEFAULT_PREDICATES, DEFAULT_PRIORITIES
from scheduler_core.schedulers.v1_11.policy.reader import PolicyReader
from scheduler_core.schedulers.v1_11.predicates import PREDICATES, RULES
from scheduler_core.schedulers.v1_11.predicates.general import GeneralPredicates
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES
from scheduler_core.schedulers.v1_11.priorities import RULES as PRIORITY_RULES
from scheduler_core.schedulers.v1_11.quirks import QUIRKS
from scheduler_core.schedulers.v1_22.configuration.profiles import compile_profile
from tests.core.engine.builders import node, pod, simulate


def predicates(*entries: Any) -> dict[str, Any]:
    """Make a policy of predicates, each a name or a (name, order) pair."""
    listed = [{"name": e} if isinstance(e, str) else {"name": e[0], "order": e[1]} for e in entries]
    return {"predicates": listed}


LABELS = {"name": "CustomRack", "argument": {"labelsPresence": {"labels": ["rack"], "presence": True}}}

# what the row says: the policy, the order in which predicates are evaluated
ORDERS: dict[str, tuple[dict[str, Any] | None, tuple[str, ...]]] = {
    "no policy is the default provider": (None, DEFAULT_PREDICATES),
    "an absent list is the default provider's": ({"priorities": []}, DEFAULT_PREDICATES),
    "an empty list leaves what is mandatory": (predicates(), ("CheckNodeCondition",)),
    "a subset runs in static order": (
        predicates("NoDiskConflict", "HostName", "PodFitsResources"),
        ("CheckNodeCondition", "HostName", "PodFitsResources", "NoDiskConflict"),
    ),
    "those with an order come first": (
        predicates("HostName", ("NoDiskConflict", 7), ("PodFitsResources", 3)),
        ("PodFitsResources", "NoDiskConflict", "CheckNodeCondition", "HostName"),
    ),
    "equal orders keep the static order": (
        predicates(("NoDiskConflict", 1), ("HostName", 1)),
        ("HostName", "NoDiskConflict", "CheckNodeCondition"),
    ),
    "a name outside the static order is never run": (
        predicates("PodFitsPorts", "HostName"),
        ("CheckNodeCondition", "HostName"),
    ),
    "unless it carries an order": (predicates(("PodFitsPorts", 1)), ("PodFitsPorts", "CheckNodeCondition")),
    "a custom name is never run either": ({"predicates": [LABELS]}, ("CheckNodeCondition",)),
    "nor without an order, and is with one": (
        {"predicates": [LABELS | {"order": 2}]},
        ("CustomRack", "CheckNodeCondition"),
    ),
    "the proposal's names are other names": (
        predicates("PodFitsHost", "MaxPDVolumeCountPredicate", "InterPodAffinityMatches"),
        (
            "CheckNodeCondition",
            "HostName",
            "MaxEBSVolumeCount",
            "MaxGCEPDVolumeCount",
            "MaxAzureDiskVolumeCount",
            "MatchInterPodAffinity",
        ),
    ),
}


@pytest.mark.parametrize("case", ORDERS)
def test_a_policy_orders_its_predicates(case: str) -> None:
    """The compiled order is the one that v1.11, or the ordering proposal, would use."""
    policy, order = ORDERS[case]
    assert compile_profile(policy).order == order


def test_what_is_never_run_is_reported() -> None:
    """A predicate that v1.11 silently ignores is named, with a warning."""
    profile = compile_profile(predicates("PodFitsPorts"))
    assert profile.never_run == ("PodFitsPorts",)
    assert [w.message for w in profile.warnings] == [
        "PodFitsPorts is registered but never evaluated: it has no place in the static order"
    ]


def test_equal_orders_are_reported() -> None:
    """Two predicates with one order are reported, because the proposal does not promise which goes first."""
    profile = compile_profile(predicates(("HostName", 1), "PodFitsResources", ("NoDiskConflict", 1)))
    promise = "order among equals is not guaranteed; here it is the static order"
    assert [(w.path, w.message) for w in profile.warnings] == [
        (
            f"predicates[{place}].order",
            f"{key} has the order 1, as {other}: {promise}",
        )
        for place, key, other in (
            (0, "HostName", "NoDiskConflict (predicates[2])"),
            (2, "NoDiskConflict", "HostName (predicates[0])"),
        )
    ]


# what the row says: the policy, the path of each problem
BAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "an order of zero": (predicates(("HostName", 0)), ["predicates[0].order"]),
    "a negative order": (predicates(("HostName", -1)), ["predicates[0].order"]),
    "a fractional order": (predicates(("HostName", 1.5)), ["predicates[0].order"]),
    "an order that is true": (predicates(("HostName", True)), ["predicates[0].order"]),
    "an unknown predicate": (predicates("Nope"), ["predicates[0].name"]),
    "a predicate that v1.11 does not register": (
        predicates("CheckNodeUnschedulable"),
        ["predicates[0].name"],
    ),
    "a predicate named twice": (predicates("HostName", "HostName"), ["predicates[1].name"]),
    "a predicate named by two names": (predicates("HostName", "PodFitsHost"), ["predicates[1].name"]),
    "an argument of no kind": ({"predicates": [{"name": "X", "argument": {}}]}, ["predicates[0].argument"]),
    "labels that are no list": (
        {"predicates": [{"name": "X", "argument": {"labelsPresence": {"labels": "rack"}}}]},
        ["predicates[0].argument.labelsPresence.labels"],
    ),
    "predicates that are no list": ({"predicates": {}}, ["predicates"]),
    "a predicate without a name": ({"predicates": [{}]}, ["predicates[0].name"]),
    "an unknown priority": ({"priorities": [{"name": "Nope", "weight": 1}]}, ["priorities[0].name"]),
    "a weight of zero": ({"priorities": [{"name": "EqualPriority", "weight": 0}]}, ["priorities[0].weight"]),
    "a weight that is text": (
        {"priorities": [{"name": "EqualPriority", "weight": "1"}]},
        ["priorities[0].weight"],
    ),
    "a shape that falls back": (
        {
            "priorities": [
                {
                    "name": "R",
                    "weight": 1,
                    "argument": {
                        "requestedToCapacityRatioArguments": {
                            "shape": [{"utilization": 5, "score": 1}, {"utilization": 5, "score": 2}]
                        }
                    },
                }
            ]
        },
        ["priorities[0].argument.requestedToCapacityRatioArguments.shape[1].utilization"],
    ),
    "a hard weight above 100": ({"hardPodAffinitySymmetricWeight": 101}, ["hardPodAffinitySymmetricWeight"]),
    "a flag that is text": ({"alwaysCheckAllPredicates": "yes"}, ["alwaysCheckAllPredicates"]),
    "several at once": (
        {"predicates": [{"name": "Nope"}, {"name": "HostName", "order": 0}], "alwaysCheckAllPredicates": 1},
        ["predicates[0].name", "predicates[1].order", "alwaysCheckAllPredicates"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_policy_is_refused_with_paths(case: str) -> None:
    """Every problem is reported at once, each with its path and a text."""
    policy, paths = BAD[case]
    with pytest.raises(PolicyError) as caught:
        compile_profile(policy)
    assert [problem.path for problem in caught.value.problems] == paths
    assert all(problem.message for problem in caught.value.problems)


def test_checking_all_predicates_collects_every_reason() -> None:
    """With alwaysCheckAllPredicates a node names all that is wrong, without it the first."""
    objects = [node("n", unschedulable=True, taints=["k=v:NoSchedule"]), pod("p")]
    short = simulate(*objects).step()
    everything = simulate(*objects, policy={"alwaysCheckAllPredicates": True}).step()
    assert short is not None
    assert everything is not None
    assert short.message == "0/1 nodes are available: 1 node(s) were unschedulable."
    assert everything.message == (
        "0/1 nodes are available: 1 node(s) had taints that the pod didn't tolerate, "
        "1 node(s) were unschedulable."
    )
    assert short.matrix is not None
    assert everything.matrix is not None
    assert (short.matrix.codes[1:] == -1).all()
    assert (everything.matrix.codes >= 0).all()


MADE = {
    **{f"predicates {rule.key}": (rule.argument, rule.made) for rule in RULES if rule.argument},
    **{f"priorities {rule.name}": (rule.argument, rule.made) for rule in PRIORITY_RULES if rule.argument},
}


@pytest.mark.parametrize("name", MADE)
def test_an_argument_makes_the_rule_that_declares_it(name: str) -> None:
    """Its own example is valid, and a field of another type is an error with its path."""
    argument, made = MADE[name]
    assert argument is not None
    place = name.partition(" ")[0]

    def policy(body: dict[str, Any]) -> dict[str, Any]:
        return {place: [{"name": "Own", "weight": 1, "argument": {argument.kind: body}}]}

    body = yaml.safe_load(argument.example.replace(", …", ""))
    assert set(body) == set(argument.fields)
    reader = PolicyReader(policy(body))
    run = reader.priorities(1)[0].run if place == "priorities" else reader.predicates()["Own"].run
    assert not reader.problems
    assert made is not None
    assert isinstance(run.steps if isinstance(run, Mapped) else run, made)
    for field in argument.fields:
        with pytest.raises(PolicyError) as raised:
            compile_profile(policy({**body, field: 7}))
        paths = [problem.path for problem in raised.value.problems]
        assert paths == [f"{place}[0].argument.{argument.kind}.{field}"]


def test_the_tables_agree_with_each_other() -> None:
    """Every default is registered, every alias leads to a place in the order, every row has its place."""
    assert len(V1_11_ORDER) == len(set(V1_11_ORDER)) == 21
    assert len(PROPOSAL) == 16
    assert set(DEFAULT_PREDICATES) <= set(PREDICATES)
    assert {name for name, _ in DEFAULT_PRIORITIES} <= set(PRIORITIES)
    assert {key for row in PROPOSAL for key in keys_of(row.name)} <= set(V1_11_ORDER)
    assert set(ALIASES) <= {row.name for row in PROPOSAL}
    assert static_order("v1.11") == V1_11_ORDER
    assert {*static_order("proposal"), *BUNDLES} == set(V1_11_ORDER)
    for key, members in BUNDLES.items():
        bundle = PREDICATES[key]
        assert isinstance(bundle, GeneralPredicates)
        assert [type(PREDICATES[member]) for member in members] == [type(one) for one in bundle.members]
    policy_made = {"CheckNodeLabelPresence", "CheckServiceAffinity"}
    assert set(V1_11_ORDER) - UNREGISTERED - policy_made <= set(PREDICATES)


def test_every_quirk_is_reproduced_somewhere() -> None:
    """Each row of the table of quirks has code that is marked with it."""
    assert len({row.id for row in QUIRKS}) == len(QUIRKS)
    assert set(REPRODUCED_BY) == {row.id for row in QUIRKS}
