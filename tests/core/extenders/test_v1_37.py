"""What kube-scheduler v1.37 makes of its extenders' answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.cli.conform import conform_records
from scheduler_core.compare.compare import compare
from scheduler_core.explain import explain
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run.trace import trace_line
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from tests.core.extenders.parts import (
    NODES,
    URL,
    answers,
    calls,
    configuration,
    extender,
    node,
    only_binding_is_answered,
    pod,
    policy,
    replays,
    run_now,
    scenario,
    settings,
)

FILTER = extender(filterVerb="filter")
PREEMPT = extender(preemptVerb="preempt")
SCORING = extender(prioritizeVerb="prioritize", weight=3)
LABEL = f"extender {URL}"


def line(cycle) -> dict[str, Any]:
    """Return a cycle's line of the trace."""
    return json.loads(trace_line(cycle))


def operations(*objects: dict[str, Any]) -> dict[str, Any]:
    """Return a Scenario that creates objects in its first step."""
    listed = [{"step": 1, "createOperation": {"object": one}} for one in objects]
    return {"apiVersion": "v1", "kind": "Scenario", "spec": {"operations": listed}}


def attempt(cycle) -> dict[str, Any]:
    """Return the attempt of a cycle as v1.37's records have it."""
    return line(cycle)["attempts"][0]


def test_a_node_that_a_filter_fails_is_not_chosen_and_its_message_is_a_reason():
    """The extender's row stands below the plugins'."""
    (cycle,) = run_now(
        configuration(FILTER), answers({"verb": "filter", "failedNodes": {"a": "no GPU left"}}), pod("p")
    )
    reported = line(cycle)
    assert cycle.node == "b"
    assert reported["feasible"] == ["b", "c"]
    assert reported["predicates"]["a"][LABEL] == {"fit": False, "reasons": ["no GPU left"]}
    assert reported["failed"] == {"a": ["no GPU left"]}
    assert LABEL not in reported["order"]
    assert attempt(cycle)["failed"] == {"a": {"code": "Unschedulable", "reasons": ["no GPU left"]}}


def test_a_pod_that_fits_nowhere_has_the_messages_of_plugins_and_extenders():
    """Messages about unknown nodes count too, and a node dropped in silence does not count."""
    failed = {"a": "no GPU left", "ghost": "no GPU left"}
    rows = {"verb": "filter", "response": {"NodeNames": [], "FailedNodes": failed}}
    nodes = (node("a"), node("b"), node("c", cpu="50m"))
    cycle, *_ = run_now(configuration(FILTER), answers(rows), pod("p"), nodes=nodes)
    assert cycle.message.startswith(
        "0/3 nodes are available: 1 Insufficient cpu, 2 no GPU left. preemption: "
    )
    assert attempt(cycle)["unschedulablePlugins"] == ["Extender", "NodeResourcesFit"]


def test_every_event_wakes_a_pod_that_an_extender_rejected():
    """Extenders name no events (kubernetes/kubernetes#122019). A pod that a plugin rejected sleeps on."""
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "s"}}
    later = operations({**storage, "provisioner": "example.com/p"})
    rows = ({"verb": "filter", "pod": "*/p", "nodeNames": []}, {"verb": "filter"})
    cycles = run_now(configuration(FILTER), answers(*rows), pod("p"), pod("large", cpu="9"), later)
    woken = [cycle.pod for cycle in cycles if cycle.step.startswith("2.")]
    assert set(woken) == {"default/p"}
    record = release_record(cycles[-1])
    assert "storage.k8s.io/StorageClassAdd" in {move["event"] for move in record.moves}


def test_unresolvable_failures_win_and_keep_preemption_away():
    """A node in both lists counts as unresolvable; one that was dropped in silence does too."""
    row = {
        "verb": "filter",
        "response": {
            "NodeNames": [],
            "FailedNodes": {"a": "busy", "b": "busy"},
            "FailedAndUnresolvableNodes": {"b": "broken"},
        },
    }
    low = [pod(f"low-{name}", on=name) for name in "abc"]
    cycle, *_ = run_now(configuration(FILTER), answers(row), *low, pod("p", priority=9))
    failed = attempt(cycle)["failed"]
    assert (failed["a"]["code"], failed["b"]["code"]) == ("Unschedulable", "UnschedulableAndUnresolvable")
    assert failed["b"]["reasons"] == ["broken"]
    assert [cycle.nodes[row] for row in cycle.preemption.potential.tolist()] == ["a"]
    assert line(cycle)["predicates"]["b"][LABEL]["reasons"] == ["broken"]


def test_ignorable_extenders_are_asked_last_and_nobody_about_nothing():
    """BuildExtenders puts them at the end; findNodesThatPassExtenders stops at an empty list."""
    first, second, third = (
        extender(f"http://{n}.test", filterVerb="filter", ignorable=n == "one")
        for n in ("one", "two", "three")
    )
    cycle, *_ = run_now(
        configuration(first, second, third),
        answers({"verb": "filter"}, url="http://one.test"),
        answers({"verb": "filter", "nodeNames": ["b"]}, url="http://two.test"),
        answers({"verb": "filter", "nodeNames": []}, url="http://three.test"),
        pod("p"),
    )
    asked = [(call.extender, json.loads(call.request)["NodeNames"]) for call in calls(cycle)]
    assert asked == [("extender http://two.test", ["a", "b", "c"]), ("extender http://three.test", ["b"])]


@pytest.mark.parametrize("ignorable", [True, False])
def test_only_an_ignorable_extender_may_fail(ignorable):
    """The error of any other ends the attempt without preemption, and the pod backs off as after an error."""
    asked = extender(filterVerb="filter", ignorable=ignorable)
    rows = answers({"verb": "filter", "error": "out of order"})
    cycle, *_ = run_now(configuration(asked), rows, pod("low", on="a"), pod("p", priority=1))
    if ignorable:
        assert (cycle.result, len(cycle.feasible)) == ("scheduled", 3)
        assert calls(cycle)[0].outcome == "ignored"
    else:
        assert (cycle.result, cycle.message, cycle.preemption) == ("error", "out of order", None)
        assert attempt(cycle)["queue"] == "backoff"
        assert calls(cycle)[0].outcome == "failed"


@pytest.mark.parametrize(
    ("row", "reported"),
    [
        ({"status": 500}, f"failed filter with extender at URL {URL}/filter, code 500"),
        (
            {"seconds": 6},
            f'Post "{URL}/filter": context deadline exceeded (Client.Timeout exceeded while',
        ),
        (
            {"response": {"NodeNames": ["ghost"]}},
            f'extender "{URL}" claims a filtered node "ghost" which is not found in the input node list',
        ),
        (
            {"response": {"NodeNames": ["full"]}},
            f'extender "{URL}" claims a filtered node "full" which is not found in the input node list',
        ),
        ({"body": "<html>"}, "the answer is not JSON"),
    ],
)
def test_errors_are_worded_as_v1_37_words_them(row, reported):
    """A name that was not asked about is one, of a node that exists too."""
    nodes = (*NODES, node("full", cpu="50m"))
    cycle, *_ = run_now(configuration(FILTER), answers({"verb": "filter", **row}), pod("p"), nodes=nodes)
    assert cycle.result == "error"
    assert reported in cycle.message


@pytest.mark.parametrize(("ignored", "result"), [(True, "scheduled"), (False, "unschedulable")])
def test_a_managed_resource_that_the_scheduler_ignores_is_not_checked(ignored, result):
    """It takes the place of NodeResourcesFit's ignoredResources; nothing is asked about other pods."""
    managed = [{"name": "example.com/gpu", "ignoredByScheduler": ignored}]
    asked = extender(filterVerb="filter", managedResources=managed)
    cycles = run_now(configuration(asked), answers({"verb": "filter"}), pod("p", gpu="1"), pod("plain"))
    found = {cycle.pod: cycle for cycle in cycles}
    assert found["default/p"].result == result
    assert calls(found["default/plain"]) == ()


def test_scores_are_scaled_weighted_and_added_as_they_are():
    """Times weight and 100 / 10, beyond 10, below 0, of unknown nodes, twice for one node."""
    scores = [("a", 4), ("b", 50), ("b", -20), ("ghost", 99)]
    listed = [{"Host": host, "Score": score} for host, score in scores]
    (cycle,) = run_now(configuration(SCORING), answers({"verb": "prioritize", "response": listed}), pod("p"))
    assert cycle.totals.tolist() == [120, 900, 0]
    assert cycle.node == "b"
    assert line(cycle)["priorities"][LABEL]["weighted"] == {"a": 120, "b": 900, "c": 0}
    assert attempt(cycle)["scores"][LABEL]["raw"] == {"a": 4, "b": 30, "c": 0}
    assert len(calls(cycle)[0].notes) == 3


def test_scores_come_on_top_of_those_of_the_plugins():
    """One weighted point of an extender is worth ten of a plugin's."""
    profiles = [{"schedulerName": "default-scheduler"}]
    plain = configuration(profiles=profiles)
    (without,) = run_now(plain, pod("p"))
    asked = configuration(SCORING, profiles=profiles)
    (scored,) = run_now(asked, answers({"verb": "prioritize", "scores": {"c": 2}}), pod("p"))
    assert (scored.totals - without.totals).tolist() == [0, 0, 60]
    assert scored.node == "c"


def test_scores_that_fail_are_passed_over_and_a_single_node_is_not_scored():
    """Errors of prioritize never end an attempt; one feasible node is taken at once."""
    scoring = extender(filterVerb="filter", prioritizeVerb="prioritize", weight=1)
    rows = ({"verb": "filter", "pod": "*/one", "nodeNames": ["b"]}, {"verb": "filter"})
    one, two = run_now(
        configuration(scoring),
        answers(*rows, {"verb": "prioritize", "status": 500, "body": "oops"}),
        pod("one"),
        pod("two"),
    )
    assert (one.node, [call.verb for call in calls(one)]) == ("b", ["filter"])
    assert calls(two)[1].outcome == "ignored"
    assert two.totals.tolist() == [0, 0, 0]


def test_equal_nodes_that_an_extender_scored_are_drawn_upstream_and_reported_as_such():
    """Those that no extender scored lose; an extender without a prioritizeVerb scores every node 0."""
    row = {"verb": "prioritize", "response": [{"Host": name, "Score": 0} for name in "cb"]}
    (some,) = run_now(configuration(SCORING), answers(row), pod("p"))
    assert (some.node, attempt(some)["atRandom"]) == ("b", ["b", "c"])
    assert attempt(some)["ties"] == ["a", "b", "c"]
    (every,) = run_now(configuration(FILTER), answers({"verb": "filter"}), pod("p"))
    assert (every.node, attempt(every)["atRandom"]) == ("a", ["a", "b", "c"])
    (failing,) = run_now(configuration(SCORING), answers({"verb": "prioritize", "status": 500}), pod("p"))
    (without,) = run_now(configuration(), pod("p"))
    for cycle in (failing, without):
        assert cycle.node == "a"
        assert "atRandom" not in attempt(cycle)


def test_with_an_extender_that_filters_or_scores_more_than_one_node_is_found():
    """Without score plugins the walk ends at the first feasible node, unless an extender has a say."""
    (without,) = run_now(configuration(), pod("p"))
    (binding,) = run_now(configuration(extender(bindVerb="b")), answers({"verb": "bind"}), pod("p"))
    (filtering,) = run_now(configuration(FILTER), answers({"verb": "filter"}), pod("p"))
    feasible = [len(attempt(cycle)["feasible"]) for cycle in (without, binding, filtering)]
    assert feasible == [2, 2, 3]  # the second ends the walk


def test_nodes_that_come_back_as_objects_are_scored_as_if_they_were_empty():
    """kubernetes/kubernetes#141781; names do not have that effect, nor does a filter verb that is absent."""
    busy = pod("busy", cpu="3", on="a")
    profiles = [{"schedulerName": "default-scheduler"}]
    chosen = {}
    for cached in (True, False):
        asked = extender(filterVerb="filter", nodeCacheCapable=cached)
        (cycle,) = run_now(
            configuration(asked, profiles=profiles), answers({"verb": "filter"}), busy, pod("p", cpu="500m")
        )
        scores = attempt(cycle)["scores"]["NodeResourcesFit"]["raw"]
        chosen[cached] = cycle.node, scores["a"] == scores["b"], "scoredEmpty" in attempt(cycle)
        assert ("#141781" in "".join(calls(cycle)[0].notes)) is not cached
    assert chosen == {True: ("b", False, False), False: ("a", True, True)}


def test_extenders_turn_batching_off():
    """Equal pods get no hint: a profile with extenders signs none."""
    fitting = [pod(f"p-{n}", cpu="3") for n in range(3)]
    profiles = [{"plugins": {"multiPoint": {"disabled": [{"name": "PodTopologySpread"}]}}}]
    hints = {}
    for name, given in (("without", ()), ("asked", (FILTER,))):
        cycles = run_now(configuration(*given, profiles=profiles), answers({"verb": "filter"}), *fitting)
        hints[name] = [attempt(cycle)["hint"] is not None for cycle in cycles]
    assert hints == {"without": [False, True, True], "asked": [False, False, False]}


def test_a_nominated_node_is_tried_first_with_the_extenders_and_may_be_refused():
    """EvaluateNominatedNode passes over errors and refusals, and the walk over all nodes follows."""
    waiting = pod("p")
    waiting["status"] = {"nominatedNodeName": "b"}
    rows = ({"verb": "filter", "response": {"NodeNames": ["b"]}},)
    (taken,) = run_now(configuration(FILTER), answers(*rows), waiting)
    assert (taken.node, attempt(taken)["evaluated"]) == ("b", ["b"])
    (refused,) = run_now(
        configuration(FILTER), answers({"verb": "filter", "failedNodes": {"b": "no"}}), waiting
    )
    assert refused.node == "a"
    assert [json.loads(call.request)["NodeNames"] for call in calls(refused)] == [["b"], ["a", "b", "c"]]


# --- preemption

VICTIMS = [pod(f"low-{name}", cpu="4", on=name) for name in "abc"]
HIGH = pod("high", cpu="1", priority=9)


def test_an_extender_chooses_among_the_victims():
    """What it leaves out is no candidate."""
    rows = {"verb": "preempt", "victims": {"b": ["default/low-b"]}}
    cycle, after = run_now(configuration(PREEMPT), answers(rows), *VICTIMS, HIGH)
    assert (cycle.decision.nominated, cycle.decision.victims) == ("b", ("default/low-b",))
    assert list(json.loads(calls(cycle)[0].request)["NodeNameToMetaVictims"]) == ["a", "b", "c"]
    assert [cycle.nodes[run.node] for run in cycle.preemption.candidates] == ["b"]
    assert after.node == "b"


def test_without_a_node_cache_the_victims_are_sent_whole():
    """ExtenderPreemptionArgs hold the pods."""
    asked = extender(preemptVerb="preempt", nodeCacheCapable=False)
    cycle, *_ = run_now(configuration(asked), answers({"verb": "preempt"}), *VICTIMS, HIGH)
    sent = json.loads(calls(cycle)[0].request)
    assert sent["NodeNameToMetaVictims"] is None
    assert [one["spec"]["nodeName"] for one in sent["NodeNameToVictims"]["a"]["Pods"]] == ["a"]


@pytest.mark.parametrize(
    ("victims", "ignorable", "reported", "nominated"),
    [
        ({}, False, "no candidate node for preemption", None),
        ({"a": ["nobody"]}, False, "but the pod is not found on that node", None),
        ({"a": []}, False, 'expected at least one victim pod on node "a"', None),
        ({"a": []}, True, "no candidate node for preemption", None),
        ({"a": [], "c": ["default/low-c"]}, True, "preempting 1 victims", "c"),
        ({"a": ["nobody"]}, True, "preempting 1 victims", "a"),
    ],
)
def test_answers_without_victims_or_with_wrong_ones(victims, ignorable, reported, nominated):
    """Of an ignorable extender a node without victims is left out, and an error passed over."""
    asked = extender(preemptVerb="preempt", ignorable=ignorable)
    rows = answers({"verb": "preempt", "victims": victims})
    cycle, *_ = run_now(configuration(asked), rows, *VICTIMS, HIGH)
    assert reported in cycle.message
    assert cycle.decision.nominated == nominated
    assert len(cycle.decision.victims) == (nominated is not None)


def test_budgets_count_as_the_extender_says():
    """NumPDBViolations of the answer is the first criterion; an answer without it counts none."""
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"keep": "a"}}},
    }
    guarded = pod("low-a", cpu="4", on="a")
    guarded["metadata"]["labels"] = {"keep": "a"}
    documents = [budget, guarded, VICTIMS[1], HIGH]
    found = []
    response = {"NodeNameToMetaVictims": {name: {"Pods": [{"UID": f"uid-{name}"}]} for name in "ab"}}
    guarded["metadata"]["uid"], other = "uid-a", pod("low-b", cpu="4", on="b")
    other["metadata"]["uid"] = "uid-b"
    documents[2] = other
    for rows in ({"verb": "preempt"}, {"verb": "preempt", "response": response}):
        cycle, *_ = run_now(configuration(PREEMPT), answers(rows), *documents, nodes=NODES[:2])
        found.append(cycle.decision.nominated)
    assert found == ["b", "a"]


# --- binding


def test_the_extender_that_binds_may_refuse():
    """The pod is forgotten, which others are reported as its deletion, and backs off as after an error."""
    binding = extender(bindVerb="bind")
    rows = ({"verb": "bind", "pod": "*/no", "error": "not today"}, {"verb": "bind"})
    refused, bound, *again = run_now(
        configuration(binding), answers(*rows), pod("no", cpu="3"), pod("yes", cpu="3"), nodes=NODES[:1]
    )
    assert (refused.result, refused.node, refused.message) == ("error", None, "not today")
    assert refused.phases[-2:] == ("assume", "bind")
    assert refused.events[0].message == "not today"
    assert attempt(refused)["queue"] == "backoff"
    assert (bound.pod, bound.node) == ("default/yes", "a")
    sent = json.loads(calls(bound)[0].request)
    assert (sent["PodName"], sent["PodNamespace"], sent["Node"]) == ("yes", "default", "a")
    assert [cycle.pod for cycle in again] == ["default/no"]
    assert again[0].time > bound.time


def test_a_refused_pod_wakes_those_that_wait_for_its_room():
    """EventAssignedPodDelete, in virtual time before it is tried again."""
    rows = ({"verb": "bind", "pod": "*/no", "error": "not today"}, {"verb": "bind"})
    held = pod("held", cpu="3", on="a")
    go = operations(pod("no", cpu="1", priority=1))
    cycles = run_now(
        configuration(extender(bindVerb="bind")), answers(*rows), held, pod("large", cpu="2"), go,
        nodes=NODES[:1],
    )  # fmt: skip
    refused = next(cycle for cycle in cycles if cycle.result == "error")
    reported = [move for move in release_record(refused).moves if move["event"] == "AssignedPodDelete"]
    assert [move["pod"] for move in reported] == ["default/large"]


def test_after_the_error_of_an_ignorable_extender_the_scheduler_binds_itself():
    """ExtendersBinding goes on to the plugins."""
    binding = extender(bindVerb="bind", ignorable=True)
    (cycle,) = run_now(configuration(binding), answers({"verb": "bind", "error": "no"}), pod("p"))
    assert (cycle.result, cycle.node) == ("scheduled", "a")
    assert calls(cycle)[0].outcome == "ignored"


CLAIMED = [
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "slice"},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "a",
            "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "one"}],
        },
    },
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "mine"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
    },
]


def test_a_refused_pod_loses_its_reservation_but_its_claim_stays_allocated():
    """Unreserve of DynamicResources runs after PreBind wrote both."""
    claiming = pod("p")
    claiming["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimName": "mine"}]
    asked = configuration(extender(bindVerb="bind"))
    simulation = V1_37Simulation(
        scenario(asked, answers({"verb": "bind", "error": "no"}), *CLAIMED, claiming)
    )
    cycle = simulation.step()
    assert cycle is not None
    assert cycle.message == "no"
    claim = simulation.run.cluster.get("ResourceClaim", "default", "mine")
    assert claim is not None
    status = claim["status"]
    assert status["allocation"]["devices"]["results"][0]["device"] == "one"
    assert status["reservedFor"] == []
    assert simulation.run.cluster.pods["default/p"].node == ""


# --- groups


def member(name: str, **fields: Any) -> dict[str, Any]:
    """Return a pod of the group g."""
    made = pod(name, **fields)
    made["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    return made


GROUP = {
    "apiVersion": "scheduling.k8s.io/v1alpha2",
    "kind": "PodGroup",
    "metadata": {"name": "g"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
}
GATED = settings(featureGates={"GenericWorkload": True})


def test_extenders_are_asked_about_each_member_of_a_group():
    """Filter and scores by member, in the cycle of the group."""
    asked = extender(filterVerb="filter", prioritizeVerb="prioritize", weight=1)
    rows = (
        {"verb": "filter", "pod": "*/m-1", "failedNodes": {"a": "no"}},
        {"verb": "filter"},
        {"verb": "prioritize", "scores": {"c": 5}},
    )
    (cycle,) = run_now(configuration(asked), answers(*rows), GROUP, GATED, member("m-1"), member("m-2"))
    assert dict(cycle.decision.placements) == {"default/m-1": "c", "default/m-2": "c"}
    assert [call.verb for call in calls(cycle)] == ["filter", "prioritize"] * 2


def test_the_calls_of_what_a_group_only_tries_are_recorded():
    """To see whom it has to preempt, the group is tried once more; no extender is asked about victims."""
    asked = extender(filterVerb="filter", preemptVerb="preempt")
    low = [pod(f"low-{name}", cpu="4", on=name) for name in "ab"]
    group = {**GROUP, "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 9}}
    members = [member(f"m-{n}", cpu="3", priority=9) for n in (1, 2)]
    rows = answers({"verb": "filter"}, {"verb": "preempt"})
    first, *_ = run_now(configuration(asked), rows, group, GATED, *low, *members, nodes=NODES[:2])
    assert first.decision.victims == ("default/low-a", "default/low-b")
    assert [json.loads(call.request)["NodeNames"] for call in calls(first)] == [["a", "b"], ["b"]]
    assert {call.verb for call in calls(first)} == {"filter"}


def test_a_member_that_is_not_bound_backs_off_with_its_group():
    """The other member stays where it is."""
    rows = ({"verb": "bind", "pod": "*/m-2", "error": "no"}, {"verb": "bind"})
    first, *again = run_now(
        configuration(extender(bindVerb="bind")), answers(*rows), GROUP, GATED, member("m-1"), member("m-2")
    )
    assert dict(first.decision.placements) == {"default/m-1": "a"}
    assert again
    assert all(cycle.result == "error" and cycle.message == "no" for cycle in again)
    assert again[0].time - first.time > 0.5


# --- runs

EVERYTHING = extender(filterVerb="f", prioritizeVerb="p", weight=2, bindVerb="b", preemptVerb="v")
ROWS = (
    {"verb": "filter", "pod": "*/p-1*", "failedNodes": {"a": "odd"}},
    {"verb": "filter"},
    {"verb": "prioritize", "pod": "*-[0-4]", "scores": {"b": 7}},
    {"verb": "prioritize", "scores": {"a": 9, "c": 3}},
    {"verb": "bind", "pod": "*/p-7", "error": "no"},
    {"verb": "bind"},
    {"verb": "preempt"},
)


def test_replaying_and_forking_decide_alike():
    """Every cycle of a replayed copy equals the run's, and so do the decisions of one that records less."""
    pods = [pod(f"p-{n}", cpu=f"{700 + n}m", priority=n % 3) for n in range(20)]
    whole = scenario(configuration(EVERYTHING), answers(*ROWS), *pods)
    cycles = list(V1_37Simulation(whole))
    assert {call.verb for cycle in cycles for call in calls(cycle)} == {
        "filter",
        "prioritize",
        "bind",
        "preempt",
    }
    replays(V1_37Simulation, whole, cycles)


def test_extenders_that_nothing_answers_have_no_effect_and_are_reported_by_name():
    """As before there were extenders; the calls say that they were not made."""
    asked = extender(filterVerb="filter", bindVerb="bind")
    loaded = scenario(configuration(asked), answers({"verb": "bind"}), pod("p"))
    only_binding_is_answered(V1_37Simulation, loaded, "a")


def test_answers_of_strangers_and_a_policy_under_v1_37_are_reported():
    """What has no effect is named."""
    loaded = scenario(configuration(FILTER), answers({"verb": "filter"}, url="http://other.test/"), pod("p"))
    reported = [problem.message for problem in loaded.warnings]
    assert any("its URL is not approved" in text for text in reported)
    assert any("http://other.test/: its answers have no effect" in text for text in reported)
    former = scenario(policy(FILTER), settings(scheduler="v1.37"), pod("p"))
    assert f"extender {URL} is not called: v1.37 reads no such configuration" in {
        problem.message for problem in former.warnings
    }


def test_a_wrong_entry_is_an_error_at_its_place():
    """The same checks as in a Policy, with durations as the configuration writes them."""
    wrong = extender(filterVerb="filter", httpTimeout=5_000_000_000)
    with pytest.raises(BundleError) as caught:
        scenario(configuration(wrong, extender(bindVerb="b"), extender(bindVerb="c")), pod("p"))
    reported = {problem.path: problem.message for problem in caught.value.problems}
    assert "must be a duration such as 5s" in reported["extenders[0].httpTimeout"]
    assert "only one extender can bind" in reported["extenders[2].bindVerb"]


def test_a_restart_may_bring_extenders():
    """They are asked from then on."""
    later = operations(configuration(FILTER), pod("q"))
    table = answers({"verb": "filter", "nodeNames": ["c"]})
    before, after = run_now(configuration(), table, pod("p"), later)
    assert (before.node, after.node) == ("a", "c")
    assert len(calls(after)) == 1


def test_a_record_with_extenders_is_refused_by_name():
    """A record of v1.37 holds no answers."""
    record = {"id": "x", "objects": list(NODES), "config": configuration(FILTER)}
    (reported,) = conform_records([json.dumps(record)], system="v1.37")
    assert "config.extenders: a record has no answers of extenders" in json.dumps(reported)


def test_a_comparison_names_the_extenders_and_the_rule_that_decided():
    """One side with an extender, the other without: the node that it failed."""
    rows = answers({"verb": "filter", "failedNodes": {"a": "no GPU left"}})
    compared = compare(scenario(configuration(FILTER), rows, pod("p")), scenario(configuration(), pod("p")))
    assert f"extenders: {URL} under A, none under B" in compared.configuration
    assert compared.placements == {"default/p": ("b", "a")}
    assert compared.first is not None
    assert any(f"{LABEL}: no GPU left" in detail for detail in compared.first.details)


def test_an_explanation_names_the_extender():
    """A node that it refused is not said to have fitted; a pending pod's answer asks nobody and names it."""
    rows = ({"verb": "filter", "pod": "*/p", "failedNodes": {"a": "no GPU left"}}, {"verb": "filter"})
    loaded = scenario(configuration(FILTER), answers(*rows), pod("p"), pod("large", cpu="9"))
    reported = explain(loaded, "default/p", "a").summary
    assert f"a passed the filters, but {LABEL} refused it: no GPU left" in reported
    assert "kube-scheduler takes one of 2 at random" in reported
    pending = explain(loaded, "default/large").summary
    assert f"Extenders decide too, which is not explained here but in the trace: {URL}." in pending
