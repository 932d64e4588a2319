from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.schedulers.coscheduling import CLASSIC, CURRENT
from scheduler_core.schedulers.coscheduling.pre_filter import PreFilterResult, pre_filter
from scheduler_core.schedulers.coscheduling.resource_check import (
    NodeResources,
    check_cluster_resources,
    node_resources,
)
from tests.core.coscheduling.parts import World, group, node, pod


def ask(
    world: World, name: str = "p0", now: float = 0.0, nodes: Iterable[NodeResources] = ()
) -> PreFilterResult:
    """Ask about one member of the group."""
    return pre_filter(*world.parts, pod(name), lambda _: nodes, now)


def members(count: int) -> list[object]:
    """Make members p0, p1 and so on."""
    return [pod(f"p{number}") for number in range(count)]


def test_a_pod_of_a_missing_group_passes() -> None:
    """Only Permit refuses a pod whose PodGroup does not exist."""
    found = ask(World(*members(1)))
    assert (found.success, found.why) == (True, "group-missing")


def test_completed_members_are_not_counted() -> None:
    """With one of six completed the other five cannot restart: the scheduler does not see finished pods."""
    world = World(group(6), *members(5), pod("p5", phase="Succeeded"))
    found = ask(world)
    assert (found.siblings, found.min_member, found.why) == (5, 6, "too-few-siblings")
    assert found.message == (
        "pre-filter pod p0 cannot find enough sibling pods, current pods number: 5, minMember of group: 6"
    )


def test_members_of_another_namespace_are_not_counted() -> None:
    """A group is looked up, and its members counted, in the pod's own namespace."""
    assert ask(World(group(2), pod("p0"), pod("p1", namespace="other"))).why == "too-few-siblings"


def test_the_failure_code_tells_preemption_whether_to_try() -> None:
    """Classic failures leave preemption a chance, current ones do not."""
    codes = {
        edition.id: ask(World(group(2), *members(1), edition=edition)).code for edition in (CLASSIC, CURRENT)
    }
    assert codes == {"classic": "Unschedulable", "current": "UnschedulableAndUnresolvable"}


def test_a_denial_says_3s_whatever_it_lasts() -> None:
    """The text is a constant of the plugin; the denial itself lasts as configured, 20 s by default."""
    world = World(group(1), *members(1))
    world.state.denied.add("ns/g", world.arguments.denied_seconds, 0)
    found = ask(world, now=19.9)
    assert (found.message, found.until) == ("pod with pgName: ns/g last failed in 3s, deny", 20.0)
    assert ask(world, now=20.1).success


def test_a_backed_off_group_fails_in_the_current_edition() -> None:
    """A group that was backed off is refused until its time is up."""
    world = World(group(1), *members(1), edition=CURRENT)
    world.state.backed_off.add("ns/g", 5, 0)
    assert ask(world, now=4).message == "podGroup ns/g failed recently"
    assert ask(world, now=6).success


def test_gated_members_do_not_complete_a_group_in_the_current_edition() -> None:
    """Classic counts gated pods, current needs minMember without gates."""
    gated = [pod("p1", scheduling_gates=("hold",)), pod("p2", scheduling_gates=("hold",))]
    found = ask(World(group(2), pod("p0"), *gated, edition=CURRENT))
    assert (found.why, found.gated, found.siblings) == ("gated", 2, 3)
    assert found.message == "pre-filter pod p0 cannot proceed due to gated pods in the same PodGroup"
    assert ask(World(group(2), pod("p0"), *gated)).success


def test_too_small_a_cluster_denies_the_group_in_classic_only() -> None:
    """A resource gap is remembered as a denial by classic; the current edition forgets it."""
    for edition, denied in ((CLASSIC, 20.0), (CURRENT, None)):
        world = World(group(1, min_resources={"cpu": 3000}), *members(1), edition=edition)
        found = ask(world, nodes=node_resources([node("n", 2000)], {}, "ns/g"))
        assert (found.why, found.message) == ("gap", "resource gap: map[cpu:1]")
        assert world.state.denied.until("ns/g", 0) == denied


def test_a_passed_check_is_not_repeated_for_the_waiting_time() -> None:
    """The permission lasts the plugin's waiting time, not the group's own."""
    world = World(group(1, min_resources={"cpu": 1000}, schedule_timeout_seconds=300), *members(1))
    assert ask(world, nodes=node_resources([node("n", 2000)], {}, "ns/g")).why == "enough"
    assert ask(world, now=59).why == "permitted"
    assert ask(world, now=61).why == "gap"


def test_empty_min_resources_still_need_room_for_pods() -> None:
    """MinResources {} asks for minMember pods; absent minResources asks for nothing."""
    world = World(group(2, min_resources={}), *members(2))
    found = ask(world, nodes=node_resources([node("n", 1000, pods=1)], {}, "ns/g"))
    assert (found.why, found.message) == ("gap", "resource gap: map[pods:1]")
    assert ask(World(group(2), *members(2))).why == "no-min-resources"


def test_an_overcommitted_node_increases_the_need() -> None:
    """A node with less than nothing left adds to what the others must have."""
    pods = {"full": [pod("x", "", cpu=5000)]}
    nodes = [node("full", 3000), node("free", 4000)]
    check = check_cluster_resources(node_resources(nodes, pods, "ns/g"), {"cpu": 3000})
    first, second = (row.resources[0] for row in check.rows)
    assert (first.allocatable, first.requested, first.left, first.need_after) == (3000, 5000, -2000, 5000)
    assert (second.need_before, second.need_after) == (5000, 1000)
    assert check.gap == {"cpu": 1000}


def test_a_need_that_is_met_is_dropped_before_a_later_node_can_increase_it() -> None:
    """Nodes come in turn: what is met at the first is not asked of an overcommitted second."""
    nodes = [node("free", 4000), node("full", 3000, pods=2)]
    pods = {"full": [pod("x", "", cpu=5000)]}
    check = check_cluster_resources(node_resources(nodes, pods, "ns/g"), {"cpu": 3000, "pods": 111})
    assert check.enough
    assert [row.resource for row in check.rows[1].resources] == ["pods"]


def test_the_groups_own_members_do_not_take_room() -> None:
    """Members that are there already are taken out of what is requested, and out of the pods."""
    pods = {"n": [pod("a", cpu=2000), pod("b", "other", cpu=1000)]}
    (own,) = node_resources([node("n", 3000)], pods, "ns/g")
    assert (own.left("cpu"), own.left("pods")) == (2000, 109)


def test_a_resource_that_no_node_offers_stays_needed() -> None:
    """What a node does not have in allocatable is not there, and not missing either."""
    (check,) = [check_cluster_resources(node_resources([node("n", 1)], {}, "g"), {"example.com/gpu": 2})]
    assert check.gap == {"example.com/gpu": 2}


def test_without_nodes_nothing_is_ever_enough() -> None:
    """Even a need of nothing is only found met at a node."""
    assert not check_cluster_resources([], {"cpu": 0}).enough
