from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.schedulers.v1_37.groups.feasibility import feasibility
from scheduler_core.schedulers.v1_37.groups.validation import invalid
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from tests.core.v1_37.parts import entities, node, pod, started
from tests.core.v1_37.test_preemption import FAILING, devices, with_claim

GANGS = {"GenericWorkload": True}
TOPOLOGY = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}


def group(name: str, count: int | None = None, **more: Any) -> dict[str, Any]:
    """Return a PodGroup: a gang of ``count``, or one of the basic policy."""
    policy: dict[str, Any] = {"basic": {}} if count is None else {"gang": {"minCount": count}}
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedulingPolicy": policy, **more},
    }


def member(name: str, of: str, **more: Any) -> dict[str, Any]:
    """Return a pod of a group."""
    return pod(name, schedulingGroup={"podGroupName": of}, **more)


@pytest.mark.parametrize(
    ("scheduled", "remaining", "code", "text"),
    [
        (0, 2, "Unschedulable", "minCount (3) cannot be satisfied: 0 scheduled, 2 remaining"),
        (1, 2, "Wait", "minCount (3) is not yet satisfied: 1 scheduled, 2 remaining"),
        (3, 0, "Success", ""),
    ],
)
def test_a_gang_can_be_complete_or_not(scheduled: int, remaining: int, code: str, text: str) -> None:
    """Asked before the first member and after each."""
    answer = feasibility(3, scheduled, remaining)
    assert (answer.code, answer.text) == (code, text)


def test_members_must_agree_in_scheduler_priority_and_preemption_policy() -> None:
    """The first that differs is named."""
    pods = [CompiledPod(pod("a", priority=1)), CompiledPod(pod("b", priority=2))]
    assert str(invalid(pods, 1)).endswith("got 2 and 1")
    assert invalid(pods[:1], 1) is None
    assert "schedulerName" in str(
        invalid([CompiledPod(pod("a")), CompiledPod(pod("b", schedulerName="x"))], 0)
    )
    assert "preemption policy" in str(
        invalid([CompiledPod(pod("a")), CompiledPod(pod("b", preemptionPolicy="Never"))], 0)
    )


def test_a_gang_is_gated_until_it_is_large_enough() -> None:
    """The member that completes the number frees all, and one cycle places them."""
    run = started(node("n"), group("g", 2), member("a", "g"), gates=GANGS)
    assert run.steps[0]["queue"]["default/a"]["gatedBy"] == "GangScheduling"
    run.take({"do": "create", "object": member("b", "g")})
    assert entities(run) == ["g"]
    assert run.final()["bound"] == {"default/a": "n", "default/b": "n"}
    assert run.final()["podGroups"] == {"default/g": "PodGroupInitiallyScheduled=True Scheduled: "}


def test_all_or_nothing() -> None:
    """A gang of which one member finds no node leaves the cluster as it was, and backs off."""
    run = started(node("n", cpu="2"), group("g", 2), *(member(m, "g", cpu="2") for m in "ab"), gates=GANGS)
    cycle = run.cycles[0]
    assert cycle["bound"] == {}
    assert [attempt["result"] for attempt in cycle["attempts"]] == ["unschedulable", "unschedulable"]
    assert cycle["attempts"][0]["message"].startswith("pod group is unschedulable, minCount (2) cannot be")
    assert {row["queue"] for row in run.steps[0]["queue"].values()} == {"errorBackoff"}
    run.take({"do": "create", "object": node("m")})
    assert len(run.cycles) == 1  # no event wakes it
    run.take({"do": "advance", "seconds": 5})
    assert run.final()["waiting"] == []


def test_members_of_an_unknown_group_wait_for_it() -> None:
    """They enter together when it comes."""
    run = started(node("n"), member("a", "g"), member("b", "g"), gates=GANGS)
    assert {row["queue"] for row in run.steps[0]["queue"].values()} == {"incompleteGroupMember"}
    run.take({"do": "create", "object": group("g", 2)})
    assert entities(run) == ["g"]


def test_members_that_find_no_place_fail_by_themselves_if_enough_do() -> None:
    """They are tried again at once, and then back off."""
    run = started(node("n", cpu="2"), group("g"), *(member(m, "g", cpu="1") for m in "abc"), gates=GANGS)
    assert [cycle["bound"] for cycle in run.cycles] == [{"default/a": "n", "default/b": "n"}, {}]
    assert run.steps[0]["queue"]["default/c"]["queue"] == "errorBackoff"


def test_a_group_goes_where_most_of_it_fits() -> None:
    """Each value of the label is tried, and the scores are recorded."""
    zones = [node("a1", cpu="1", labels={"zone": "a"}), node("b1", cpu="4", labels={"zone": "b"})]
    constraint: dict[str, Any] = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
    members = [member(m, "g", cpu="1") for m in "xyz"]
    run = started(*zones, node("lone"), group("g", **constraint), *members, gates=TOPOLOGY)
    shown = run.cycles[0]["group"]
    assert [row["name"] for row in shown["placements"]] == ["a", "b"]
    assert [row["scores"]["PodGroupPodsCount"] for row in shown["placementScores"]] == [33, 100]
    assert set(run.final()["bound"].values()) == {"b1"}


def test_a_group_preempts_for_all_its_members() -> None:
    """The victims go, the members are nominated, and the next cycle places them."""
    victims = [pod(f"v{i}", node="n", cpu="2") for i in range(2)]
    members = [member(m, "g", cpu="2", priority=10) for m in "ab"]
    run = started(node("n"), *victims, group("g", 2, priority=10), *members, gates=GANGS)
    first = run.cycles[0]
    assert first["deleted"] == ["default/v0", "default/v1"]
    assert [attempt["nominated"] for attempt in first["attempts"]] == ["n", "n"]
    run.take({"do": "advance", "seconds": 5})
    assert run.final()["bound"] == {"default/a": "n", "default/b": "n"}


def test_a_group_that_is_disrupted_as_a_whole_goes_as_a_whole() -> None:
    """Though a single pod needs the room of only one member, on one node."""
    lower = group("low", disruptionMode={"all": {}})
    bound = [member("l1", "low", node="n", cpu="4"), member("l2", "low", node="m", cpu="4")]
    run = started(node("n"), node("m"), lower, *bound, pod("p", priority=10, cpu="4"), gates=GANGS)
    assert sorted(run.cycles[0]["deleted"]) == ["default/l1", "default/l2"]


def test_a_reprieved_victim_stays() -> None:
    """Only as many go as the group needs, the least important first."""
    victims = [pod(f"v{i}", node="n", cpu="2", priority=i) for i in range(2)]
    run = started(
        node("n"), *victims, group("g", 1, priority=10), member("a", "g", cpu="2", priority=10), gates=GANGS
    )
    assert run.cycles[0]["deleted"] == ["default/v0"]


def test_victims_of_a_group_are_deleted_by_importance_whatever_their_budgets() -> None:
    """A budget decides who is tried to be kept first, not in which order the others go."""
    budget = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "low"}}},
        "status": {"disruptionsAllowed": 0},
    }
    victims = [
        pod("low", node="n", cpu="2", labels={"app": "low"}),
        pod("high", node="n", cpu="2", priority=5, labels={"app": "high"}),
    ]
    members = [member(m, "g", cpu="2", priority=10) for m in "ab"]
    run = started(node("n"), budget, *victims, group("g", 2, priority=10), *members, gates=GANGS)
    assert run.cycles[0]["deleted"] == ["default/high", "default/low"]


def test_what_prefilter_skipped_without_the_victims_stays_skipped() -> None:
    """A victim that keeps the member off by its anti-affinity is kept, for nobody looks at that any more."""
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "host", "labelSelector": {"matchLabels": {"app": "a"}}}
            ]
        }
    }
    victims = [
        pod("apart", node="n", affinity=apart, labels={"app": "v"}),
        pod("large", node="n", cpu="4", labels={"app": "v"}),
    ]
    members = [member("a", "g", cpu="2", priority=10, labels={"app": "a"})]
    run = started(
        node("n", labels={"host": "n"}), *victims, group("g", 1, priority=10), *members, gates=GANGS
    )
    assert run.cycles[0]["deleted"] == ["default/large"]


def test_one_gated_member_gates_the_group() -> None:
    """The group goes when the gate goes, and only the member that had it answers."""
    gated = member("b", "g", schedulingGates=[{"name": "later"}])
    run = started(node("n"), group("g"), member("a", "g"), gated, gates=GANGS)
    queue = run.steps[0]["queue"]
    assert [(row["queue"], row["gatedBy"]) for row in queue.values()] == [
        ("gated", None),
        ("gated", "SchedulingGates"),
    ]
    patch = {"spec": {"schedulingGates": None}}
    run.take({"do": "patch", "kind": "Pod", "name": "b", "namespace": "default", "patch": patch})
    assert run.steps[1]["moves"] == [
        {
            "event": "TargetPodUpdatePodSchedulingGatesEliminated",
            "pod": "default/g",
            "hints": {"SchedulingGates": "Queue"},
            "to": "active",
        }
    ]
    assert len(run.final()["bound"]) == 2


def test_an_error_without_the_victims_is_that_of_the_group() -> None:
    """The victims hid a selector that fails, so nobody is preempted and the group fails by error."""
    claim, asking = with_claim(FAILING)[1:]
    asking["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    objects = [node("n"), devices("n"), pod("low", node="n", cpu="2"), with_claim(FAILING)[0], claim]
    run = started(*objects, group("g", 1, priority=10), asking, gates=GANGS)
    (shown,) = run.cycles[0]["attempts"]
    error = "failed to schedule other pod from a pod group: running"
    (condition,) = run.cycles[0]["group"]["conditions"].values()
    failed = 'error in "DefaultPreemption" PodGroupPostFilter plugins: pod group preemption'
    assert condition.startswith(f"False SchedulerError: {failed}: {error}")
    assert (run.cycles[0]["deleted"], shown["result"]) == ([], "error")


@pytest.mark.parametrize(
    ("zones", "why"),
    [
        (("a", "b"), "more than 1 domain found for pod group: a, b"),
        (("a", None), "no topology domain found for pod default/on-n1"),
    ],
)
def test_bound_members_under_several_values_are_an_error(zones: tuple[str | None, ...], why: str) -> None:
    """There is no one placement that the others could join them in."""
    nodes = [node(f"n{i}", labels={"zone": zone} if zone else {}) for i, zone in enumerate(zones)]
    bound = [member(f"on-n{i}", "g", node=f"n{i}") for i in range(2)]
    constraints = {"topology": [{"key": "zone"}]}
    run = started(
        *nodes, group("g", 1, schedulingConstraints=constraints), *bound, member("p", "g"), gates=TOPOLOGY
    )
    (condition,) = run.cycles[0]["group"]["conditions"].values()
    assert condition == f"False SchedulerError: cannot determine domain for already scheduled pods: {why}"


def test_a_group_does_not_preempt_again_while_a_victim_terminates() -> None:
    """On the node that a member is nominated to, as for a single pod."""
    leaving = pod(
        "leaving", node="n", cpu="4",
        status={"conditions": [
            {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        ]},
    )  # fmt: skip
    leaving["metadata"]["deletionTimestamp"] = "2000-01-01T00:00:00Z"
    waiting = member("a", "g", cpu="4", priority=10, status={"nominatedNodeName": "n"})
    run = started(node("n"), leaving, group("g", 1, priority=10), waiting, gates=GANGS)
    assert run.cycles[0]["group"]["postFilter"] == {
        "code": "Success", "reasons": ["pod group preemption: ongoing preemption on nominated nodes"]
    }  # fmt: skip
    assert run.cycles[0]["attempts"][0]["nominated"] == "n"


def test_a_placement_counts_what_containers_request_and_the_scalars_that_members_do() -> None:
    """Pod-level requests of members are left out, and so is a resource of which a node has nothing."""
    gpus = node("n1", labels={"zone": "a"})
    gpus["status"]["allocatable"]["example.com/gpu"] = "4"
    bare = node("n2", labels={"zone": "b"})
    holder = pod("holder", node="n1")
    holder["spec"]["containers"][0]["resources"] = {"requests": {"example.com/gpu": "4"}}
    resources = [{"name": name, "weight": 1} for name in ("cpu", "example.com/gpu")]
    strategy = {"scoringStrategy": {"type": "LeastAllocated", "resources": resources}}
    config = {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": strategy}]}]}
    constraint: dict[str, Any] = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
    one = member("p", "g", cpu="1", resources={"requests": {"cpu": "3"}})
    run = started(gpus, bare, holder, group("g", **constraint), one, gates=TOPOLOGY, config=config)
    scores = [row["scores"]["NodeResourcesFit"] for row in run.cycles[0]["group"]["placementScores"]]
    assert scores == [27, 25]


def test_weights_count_at_placement_score() -> None:
    """They are those of that extension point."""
    zones = [node(name, labels={"zone": name}) for name in ("a", "b")]
    constraint: dict[str, Any] = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
    weighted = {"placementScore": {"enabled": [{"name": "PodGroupPodsCount", "weight": 3}]}}
    run = started(
        *zones, group("g", **constraint), member("p", "g"), gates=TOPOLOGY,
        config={"profiles": [{"plugins": weighted}]},
    )  # fmt: skip
    assert [row["scores"]["PodGroupPodsCount"] for row in run.cycles[0]["group"]["placementScores"]] == [
        300, 300
    ]  # fmt: skip


def test_a_group_of_which_nobody_was_tried_ends_by_error() -> None:
    """DynamicResources finds no state; the group's own update is over before it is filed behind the gate."""
    run = started(
        node("n"), group("g", 2), member("a", "g", node="n"), member("b", "g", cpu="9"), gates=GANGS
    )
    run.take({"do": "delete", "kind": "Pod", "namespace": "default", "name": "a"})
    run.take({"do": "advance", "seconds": 5})
    text = 'error in "DynamicResources" PodGroupPostFilter plugins: not found'
    (attempt,) = run.cycles[1]["attempts"]
    assert (attempt["result"], attempt["message"]) == ("error", text)
    assert run.cycles[1]["group"]["conditions"] == {
        "PodGroupInitiallyScheduled": f"False SchedulerError: {text}"
    }
    assert run.cycles[1]["moves"] == []
    found = run.queue.find("default/g")
    assert found is not None
    assert (found.gated_by, found.failures, found.errors) == ("GangScheduling", 2, 0)


def test_what_failed_before_a_success_no_longer_counts() -> None:
    """The members that are left back off as after the first failure."""
    run = started(
        node("n", cpu="2"), group("g", 1), member("a", "g", cpu="3"), member("b", "g", cpu="9"), gates=GANGS
    )
    run.take({"do": "advance", "seconds": 3})
    run.take({"do": "patch", "kind": "Node", "name": "n", "patch": {"status": {"allocatable": {"cpu": "4"}}}})
    run.take({"do": "advance", "seconds": 20})
    found = run.queue.find("default/g")
    assert found is not None
    assert found.members[0].failures > found.failures


def test_members_stand_in_the_order_in_which_they_are_tried() -> None:
    """The last one that is gated says which plugin gates the group, and what it is asked about."""
    gates = [{"name": "later"}]
    group_of_two = group("g", 3)
    later = member("z", "g", schedulingGates=gates)
    run = started(node("n"), group_of_two, later, member("a", "g"), gates=GANGS)
    patch = {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}
    run.take({"do": "patch", "kind": "PodGroup", "name": "g", "patch": patch})
    assert [move["event"] for move in run.steps[1]["moves"]] == []


def test_a_terminating_member_counts_when_the_group_is_validated() -> None:
    """Only a valid group leaves it out."""
    leaving = member("a", "g", priority=1)
    leaving["metadata"]["deletionTimestamp"] = "2000-01-01T00:00:00Z"
    run = started(node("n"), group("g", 1), leaving, member("b", "g"), gates=GANGS)
    assert [attempt["result"] for attempt in run.cycles[0]["attempts"]] == ["error", "error"]
