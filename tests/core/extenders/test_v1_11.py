"""What kube-scheduler v1.11 makes of its extenders' answers."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_line
from tests.core.extenders.parts import (
    NODES,
    URL,
    answers,
    calls,
    extender,
    node,
    only_binding_is_answered,
    pod,
    policy,
    replays,
    run,
    scenario,
    settings,
)

FILTER = extender(filterVerb="filter")
OTHER = "http://other.test/"


def test_a_node_that_a_filter_fails_is_not_chosen_and_its_message_is_a_reason():
    """The extender's row stands below the predicates."""
    (cycle,) = run(policy(FILTER), answers({"verb": "filter", "failedNodes": {"c": "no GPU left"}}), pod("p"))
    line = json.loads(trace_line(cycle))
    assert cycle.node == "b"
    assert line["feasible"] == ["a", "b"]
    assert line["predicates"]["c"][f"extender {URL}"] == {"fit": False, "reasons": ["no GPU left"]}
    assert line["failed"] == {"c": ["no GPU left"]}
    assert f"extender {URL}" not in line["order"]


def test_a_pod_that_fits_nowhere_has_the_messages_of_predicates_and_extenders_in_its_event():
    """Messages about unknown nodes count too, and a node dropped in silence does not count."""
    failed = {"a": "no GPU left", "ghost": "no GPU left"}
    rows = {"verb": "filter", "response": {"NodeNames": [], "FailedNodes": failed}}
    nodes = (node("a"), node("b"), node("c", cpu="50m"))
    (cycle,) = run(policy(FILTER), answers(rows), pod("p"), nodes=nodes)
    assert cycle.message == "0/3 nodes are available: 1 Insufficient cpu, 2 no GPU left."
    assert cycle.result == "unschedulable"


def test_extenders_are_asked_in_order_about_what_the_former_left_and_not_about_nothing():
    """FindNodesThatFit stops at an empty list."""
    first, second, third = (
        extender(f"http://{n}.test", filterVerb="filter") for n in ("one", "two", "three")
    )
    (cycle,) = run(
        policy(first, second, third),
        answers({"verb": "filter", "nodeNames": ["b"]}, url="http://one.test"),
        answers({"verb": "filter", "nodeNames": []}, url="http://two.test"),
        answers({"verb": "filter"}, url="http://three.test"),
        pod("p"),
    )
    asked = [(call.extender, json.loads(call.request)["NodeNames"]) for call in calls(cycle)]
    assert asked == [("extender http://one.test", ["a", "b", "c"]), ("extender http://two.test", ["b"])]


def test_no_extender_is_asked_if_no_node_passes_the_predicates():
    """There is nothing to ask about."""
    (cycle,) = run(policy(FILTER), answers({"verb": "filter"}), pod("p", cpu="9"))
    assert calls(cycle) == ()


@pytest.mark.parametrize("ignorable", [True, False])
def test_only_an_ignorable_extender_may_fail(ignorable):
    """The error of any other ends the attempt, without preemption."""
    asked = extender(filterVerb="filter", ignorable=ignorable)
    (cycle,) = run(policy(asked), answers({"verb": "filter", "error": "out of order"}), pod("p"))
    if ignorable:
        assert (cycle.result, len(cycle.feasible)) == ("scheduled", 3)
        assert calls(cycle)[0].outcome == "ignored"
    else:
        assert (cycle.result, cycle.message, cycle.preemption) == ("error", "out of order", None)
        assert calls(cycle)[0].outcome == "failed"


def test_an_extender_with_managed_resources_is_asked_about_pods_that_name_one():
    """Limits count as requests do."""
    managing = extender(filterVerb="filter", managedResources=[{"name": "example.com/gpu"}])
    nodes = [node(name, gpu="2") for name in "abc"]
    plain, wanting = run(
        policy(managing),
        answers({"verb": "filter", "nodeNames": ["a"]}),
        pod("plain"),
        pod("wanting", gpu="1"),
        nodes=nodes,
    )
    assert (calls(plain), plain.node) == ((), "c")
    assert (len(calls(wanting)), wanting.node) == (1, "a")


@pytest.mark.parametrize(("ignored", "result"), [(True, "scheduled"), (False, "unschedulable")])
def test_a_managed_resource_that_the_scheduler_ignores_is_not_checked(ignored, result):
    """PodFitsResources leaves it to the extender."""
    managed = [{"name": "example.com/gpu", "ignoredByScheduler": ignored}]
    asked = extender(filterVerb="filter", managedResources=managed)
    (cycle,) = run(policy(asked), answers({"verb": "filter"}), pod("p", gpu="1"))
    assert cycle.result == result


def test_scores_are_weighted_and_added_as_they_are():
    """Beyond 10, below 0, of unknown nodes, twice for one node: v1.11 checks none of it."""
    scoring = extender(prioritizeVerb="prioritize", weight=3)
    scores = [("a", 4), ("b", 50), ("b", -20), ("ghost", 99)]
    listed = [{"Host": host, "Score": score} for host, score in scores]
    (cycle,) = run(policy(scoring), answers({"verb": "prioritize", "response": listed}), pod("p"))
    assert cycle.totals.tolist() == [12, 90, 0]
    assert cycle.node == "b"
    assert json.loads(trace_line(cycle))["priorities"][f"extender {URL}"]["weighted"] == {
        "a": 12,
        "b": 90,
        "c": 0,
    }
    assert len(calls(cycle)[0].notes) == 3


def test_nodes_start_from_one_without_priorities_and_extenders_and_from_zero_with_any():
    """PrioritizeNodes runs EqualPriority only if both lists are empty."""
    (without,) = run(policy(), pod("p"))
    (filtering,) = run(policy(FILTER), answers({"verb": "filter"}), pod("p"))
    assert (without.totals.tolist(), filtering.totals.tolist()) == ([1, 1, 1], [0, 0, 0])


def test_scores_that_fail_are_passed_over_and_a_single_node_is_not_scored():
    """Errors of prioritize never end an attempt; one feasible node is taken at once."""
    scoring = extender(filterVerb="filter", prioritizeVerb="prioritize", weight=1)
    rows = ({"verb": "filter", "pod": "*/one", "nodeNames": ["a"]}, {"verb": "filter"})
    one, two = run(
        policy(scoring),
        answers(*rows, {"verb": "prioritize", "status": 500, "body": "oops"}),
        pod("one"),
        pod("two"),
    )
    assert [call.verb for call in calls(one)] == ["filter"]
    assert calls(two)[1].outcome == "ignored"
    assert calls(two)[1].error == f"Failed prioritize with extender at URL {URL}/prioritize, code 500"
    assert two.totals.tolist() == [0, 0, 0]


def test_the_extender_that_binds_may_refuse():
    """The pod goes back to the queue, and the counter of ties has advanced."""
    binding = extender(bindVerb="bind", ignorable=True)
    rows = ({"verb": "bind", "pod": "*/no", "error": "not today"}, {"verb": "bind"})
    refused, bound = run(policy(binding), answers(*rows), pod("no"), pod("yes"))
    assert (refused.result, refused.node) == ("error", None)
    assert refused.message == "Binding rejected: not today"
    assert refused.events[0].message == "Binding rejected: not today"
    assert (bound.result, bound.last_node_index) == ("scheduled", 1)
    sent = json.loads(calls(bound)[0].request)
    assert (sent["PodName"], sent["PodNamespace"], sent["Node"]) == ("yes", "default", bound.node)


VICTIMS = [pod(f"low-{name}", cpu="4", on=name) for name in "abc"]
PREEMPT = extender(preemptVerb="preempt")


def test_an_extender_chooses_among_the_victims():
    """What it leaves out is no candidate."""
    rows = {"verb": "preempt", "victims": {"b": ["default/low-b"]}}
    (cycle, *_) = run(policy(PREEMPT), answers(rows), *VICTIMS, pod("high", cpu="1", priority=9))
    assert (cycle.decision.nominated, cycle.decision.victims) == ("b", ("default/low-b",))
    assert list(json.loads(calls(cycle)[0].request)["NodeNameToMetaVictims"]) == ["a", "b", "c"]


def test_without_a_node_cache_the_victims_are_sent_whole():
    """ExtenderPreemptionArgs hold the pods."""
    asked = extender(preemptVerb="preempt", nodeCacheCapable=False)
    (cycle, *_) = run(policy(asked), answers({"verb": "preempt"}), *VICTIMS, pod("high", cpu="1", priority=9))
    sent = json.loads(calls(cycle)[0].request)
    assert sent["NodeNameToMetaVictims"] is None
    assert [pod["spec"]["nodeName"] for pod in sent["NodeNameToVictims"]["a"]["Pods"]] == ["a"]
    assert cycle.decision.nominated == "a"


@pytest.mark.parametrize("victims", [{}, {"a": ["nobody"]}])
def test_no_victims_or_wrong_ones_end_preemption(victims):
    """An empty answer leaves no candidate, a uid that is not on the node is an error."""
    (cycle, *_) = run(
        policy(PREEMPT),
        answers({"verb": "preempt", "victims": victims}),
        *VICTIMS,
        pod("high", cpu="1", priority=9),
    )
    assert (cycle.decision.nominated, cycle.decision.victims) == (None, ())
    assert calls(cycle)[0].outcome == ("failed" if victims else "answered")


def test_budgets_do_not_count_after_an_extender_was_asked():
    """ConvertToNodeToVictims of v1.11 forgets the number of violations."""
    budget = {
        "apiVersion": "policy/v1beta1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"keep": "a"}}},
    }
    guarded = pod("low-a", cpu="4", on="a")
    guarded["metadata"]["labels"] = {"keep": "a"}
    documents = [budget, guarded, *VICTIMS[1:2], pod("high", cpu="1", priority=9)]
    nodes = NODES[:2]
    (without, *_) = run(policy(), *documents, nodes=nodes)
    (asked, *_) = run(policy(PREEMPT), answers({"verb": "preempt"}), *documents, nodes=nodes)
    assert (without.decision.nominated, asked.decision.nominated) == ("b", "a")


def test_a_node_that_only_an_extender_fails_is_nominated_without_victims():
    """Every failure of an extender counts as one that preemption may mend."""
    rows = ({"verb": "filter", "failedNodes": dict.fromkeys("abc", "no")},)
    (cycle,) = run(policy(FILTER), answers(*rows), pod("p"))
    assert cycle.message == "0/3 nodes are available: 3 no."
    assert (cycle.decision.nominated, cycle.decision.victims) == ("a", ())


def test_a_message_that_reads_like_a_predicates_is_still_no_unresolvable_failure():
    """Reasons are compared by identity upstream."""
    rows = ({"verb": "filter", "failedNodes": dict.fromkeys("abc", "node(s) were unschedulable")},)
    (cycle,) = run(policy(FILTER), answers(*rows), pod("p"))
    assert len(cycle.preemption.potential) == 3


@pytest.mark.parametrize(
    ("row", "reported"),
    [
        ({"body": ""}, "EOF: the answer is empty"),
        ({"body": "<html>"}, "the answer is not JSON"),
        ({"body": "[1]"}, "it must hold an object"),
        ({"body": '{"NodeNames": [1]}'}, "NodeNames must hold names"),
        ({"body": '{"FailedNodes": {"a": 1}}'}, "FailedNodes must hold texts"),
        ({"body": "[" * 50_000}, "the answer is not JSON"),
        ({"status": 204}, "code 204"),
        ({"failure": "connection refused"}, "connection refused"),
        ({"seconds": 6}, "Client.Timeout exceeded"),
        ({"response": {"nodenames": ["ghost"]}}, 'node "ghost" not found'),
    ],
)
def test_answers_that_no_scheduler_can_read_end_the_attempt(row, reported):
    """Whatever an extender answers, the attempt has an end and says why."""
    (cycle,) = run(policy(FILTER), answers({"verb": "filter", **row}), pod("p"))
    assert cycle.result == "error"
    assert reported in cycle.message
    assert calls(cycle)[0].outcome == "failed"


def test_names_are_not_read_without_a_node_cache():
    """A common mistake: v1.11 then finds no node."""
    asked = extender(filterVerb="filter", nodeCacheCapable=False)
    (cycle,) = run(policy(asked), answers({"verb": "filter", "response": {"nodeNames": ["a"]}}), pod("p"))
    assert cycle.result == "unschedulable"
    assert "nodeCacheCapable" in calls(cycle)[0].notes[0]
    assert json.loads(calls(cycle)[0].request)["Nodes"]["items"][0]["metadata"]["name"] == "a"


def test_a_node_that_predicates_failed_passes_if_the_extender_says_so():
    """v1.11 believes it."""
    nodes = (node("a"), node("b"), node("c", cpu="50m"))
    (cycle,) = run(
        policy(FILTER), answers({"verb": "filter", "response": {"NodeNames": ["c"]}}), pod("p"), nodes=nodes
    )
    assert cycle.node == "c"
    assert "c was not asked about" in calls(cycle)[0].notes[0]


def test_replaying_and_forking_decide_alike_and_reuse_has_no_part_in_it():
    """Every cycle of a replayed copy equals the run's."""
    everything = extender(filterVerb="f", prioritizeVerb="p", weight=2, bindVerb="b", preemptVerb="v")
    rows = (
        {"verb": "filter", "pod": "*/p-1*", "failedNodes": {"a": "odd"}},
        {"verb": "filter"},
        {"verb": "prioritize", "pod": "*-[0-4]", "scores": {"b": 7}},
        {"verb": "prioritize", "scores": {"a": 9, "c": 3}},
        {"verb": "bind", "pod": "*/p-7", "error": "no"},
        {"verb": "bind"},
        {"verb": "preempt"},
    )
    pods = [pod(f"p-{n}", cpu=f"{700 + n}m", priority=n % 3) for n in range(16)]
    whole = scenario(policy(everything), answers(*rows), *pods)
    cycles = list(Simulation(whole))
    lines = [trace_line(cycle) for cycle in cycles]
    assert [trace_line(cycle) for cycle in Simulation(whole, reuse=False)] == lines
    replays(Simulation, whole, cycles)


def test_extenders_that_nothing_answers_have_no_effect_and_are_reported_by_name():
    """As before there were extenders; the calls say that they were not made."""
    asked = extender(filterVerb="filter", bindVerb="bind")
    loaded = scenario(policy(asked), answers({"verb": "bind"}), pod("p"))
    only_binding_is_answered(Simulation, loaded, "c")


def test_the_quirks_that_changed_a_result_are_found_with_declared_extenders():
    """The other decision asks the same table."""
    low = [pod(f"low-{name}", cpu="2", on=name) for name in "abc"]
    documents = (*low, pod("high", cpu="3", priority=9))
    (with_them, *_) = run(policy(PREEMPT), answers({"verb": "preempt"}), *documents)
    (without, *_) = run(policy(), *documents)
    assert [quirk.id for quirk in with_them.quirks] == [quirk.id for quirk in without.quirks]


def test_a_policy_with_extenders_refuses_batching():
    """It takes a node without asking them."""
    with pytest.raises(ValueError, match="takes a node without asking extenders"):
        scenario(policy(FILTER), answers({"verb": "filter"}), settings(cache="batching"), pod("p"))


@pytest.mark.parametrize("cache", ["designed", "v1.11", "sound"])
def test_the_equivalence_cache_changes_nothing(cache):
    """It holds predicates alone."""
    rows = ({"verb": "filter", "pod": "*/p-1", "failedNodes": {"c": "no"}}, {"verb": "filter"})
    documents = (policy(FILTER), answers(*rows), *(pod(f"p-{n}") for n in range(4)))
    plain = [cycle.decision for cycle in run(*documents)]
    assert [cycle.decision for cycle in run(*documents, settings(cache=cache))] == plain


def test_a_restart_may_bring_extenders():
    """The operation's configuration has them, and the cycle names the difference."""
    created = {"step": 1, "createOperation": {"object": policy(FILTER)}}
    later = {"step": 1, "createOperation": {"object": pod("late")}}
    whole = scenario(
        {"apiVersion": "v1", "kind": "Scenario", "spec": {"operations": [created, later]}},
        answers({"verb": "filter", "nodeNames": ["a"]}),
        pod("early"),
    )
    early, late = Simulation(whole)
    assert (early.plugins, late.node) == ((), "a")
    assert any(URL in change for change in late.restart.changes)
    assert not any("is not called" in problem.message for problem in whole.warnings)
    unanswered = replace(whole, answers=())
    assert calls(list(Simulation(unanswered))[1])[0].outcome == "not called"
