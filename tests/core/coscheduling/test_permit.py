from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.schedulers.coscheduling import CLASSIC, CURRENT
from scheduler_core.schedulers.coscheduling.permit import PermitResult, permit, unreserve, wait_seconds
from scheduler_core.schedulers.coscheduling.post_filter import PostFilterResult, post_filter
from tests.core.coscheduling.parts import World, group, pod


def ask(world: World, name: str, assigned: int = 0, now: float = 0.0) -> PermitResult:
    """Ask Permit about a member on node n."""
    return permit(*world.parts, pod(name), "n", assigned, now)


def fail(world: World, assigned: int, now: float = 0.0) -> PostFilterResult:
    """Let a member fail everywhere."""
    return post_filter(*world.parts, pod("p"), assigned, now)


@pytest.mark.parametrize(
    ("own", "plugin", "seconds"),
    [(5, 10, 5), (None, 10, 10), (0, 10, 10), (None, 0, 60), (0, 0, 60), (3600, 10, 900)],
)
def test_how_long_a_member_waits(own: int | None, plugin: int, seconds: int) -> None:
    """The group's time, else the plugin's, else 60 s; 0 falls through, and 15 minutes are the cap."""
    world = World(permit_waiting_seconds=plugin)
    assert wait_seconds(world.arguments, group(2, schedule_timeout_seconds=own)) == seconds


def test_each_member_has_its_own_timer() -> None:
    """A member's deadline counts from when it began to wait itself."""
    world = World(group(3, schedule_timeout_seconds=10))
    assert [ask(world, "a", 0, 0).deadline, ask(world, "b", 1, 4).deadline] == [10, 14]


def test_the_last_member_takes_all_waiting_ones_along() -> None:
    """With the member that completes the group everybody who waits is allowed."""
    world = World(group(3))
    ask(world, "a")
    ask(world, "b", 1)
    found = ask(world, "c", 2)
    assert (found.code, found.assigned, found.allowed) == ("Success", 3, ("ns/a", "ns/b"))


def test_an_extra_member_is_allowed() -> None:
    """A group that is complete lets further members pass."""
    assert ask(World(group(2)), "c", 2).code == "Success"


@pytest.mark.parametrize(("edition", "woken"), [(CLASSIC, [2, 2]), (CURRENT, [2, 0])])
def test_who_wakes_the_siblings(edition: Any, woken: list[int]) -> None:
    """Classic activates the siblings at every wait, current at the first member's only."""
    world = World(group(3), *(pod(name) for name in "abc"), edition=edition)
    assert [len(ask(world, "a", 0).activated), len(ask(world, "b", 1).activated)] == woken


def test_the_current_edition_counts_names_not_the_snapshot() -> None:
    """The assigned set holds the pod itself; trying the same name twice counts once."""
    world = World(group(2), edition=CURRENT)
    assert ask(world, "a", assigned=99).assigned == 1
    assert ask(world, "a").assigned == 1
    assert ask(world, "b").code == "Success"


def test_a_pod_whose_group_is_missing_fails_here() -> None:
    """Permit is where a missing PodGroup is reported."""
    found = ask(World(), "a")
    assert (found.code, found.message) == ("Unschedulable", "PodGroup not found")


@pytest.mark.parametrize(
    ("minimum", "assigned", "why"),
    [(10, 9, "small-gap"), (10, 8, "rejected"), (9, 8, "rejected"), (20, 18, "small-gap"), (3, 3, "extra")],
)
def test_the_ten_per_cent_rule(minimum: int, assigned: int, why: str) -> None:
    """One of ten may be missing, one of nine may not."""
    assert fail(World(group(minimum)), assigned).why == why


@pytest.mark.parametrize(("percentage", "why"), [(0, "rejected"), (100, "small-gap"), (33, "rejected")])
def test_the_percentage_is_an_argument_in_the_current_edition(percentage: int, why: str) -> None:
    """0 rejects always, 100 never; a third missing is more than 33 per cent."""
    assert fail(World(group(3), edition=CURRENT, reject_percentage=percentage), 2).why == why


def test_a_failure_without_a_group_says_so() -> None:
    """PostFilter has nothing to do for a pod without a PodGroup, but says Unschedulable."""
    found = fail(World(), 0)
    assert (found.code, found.message, found.rejects_group) == (
        "Unschedulable",
        "can not find pod group",
        False,
    )


def test_a_rejection_takes_the_waiting_members_and_the_permission() -> None:
    """All who wait are rejected, the group is denied, and its resources will be checked again."""
    world = World(group(5))
    for name in "ab":
        ask(world, name)
    world.state.permitted.add("ns/g", 60, 0)
    found = fail(world, 2, now=1).rejection
    assert found is not None
    assert (found.rejected, found.message) == (("ns/a", "ns/b"), "optimistic rejection in PostFilter")
    assert (found.denied_until, found.permission_ended) == (21.0, True)


def test_a_denial_does_not_lengthen_while_it_lasts() -> None:
    """Failing again during a denial leaves its end where it is."""
    world = World(group(5))
    fail(world, 0, now=0)
    again = fail(world, 0, now=15).rejection
    assert again is not None
    assert (again.denied_until, again.extended) == (20.0, False)
    assert fail(world, 0, now=25).rejection.denied_until == 45.0


@pytest.mark.parametrize(("members", "until"), [(4, None), (5, 7.0)])
def test_only_a_group_with_enough_members_is_backed_off(members: int, until: float | None) -> None:
    """PodGroupBackoffSeconds applies if minMember pods are there."""
    world = World(
        group(5), *(pod(f"p{number}") for number in range(members)), edition=CURRENT, backoff_seconds=7
    )
    found = fail(world, 0).rejection
    assert (found.backed_off_until, found.denied_until) == (until, None)


def test_unreserve_fails_the_rest_of_the_group() -> None:
    """A member that times out takes the other waiting ones along, and marks the failure (current)."""
    world = World(group(3), edition=CURRENT)
    for name in "ab":
        ask(world, name)
    found = unreserve(*world.parts, pod("a"), 12.0)
    assert (found.rejected, found.message) == (("ns/b",), "rejection in Unreserve")
    assert world.state.assigned == {"ns/g": {"b"}}
    assert world.state.failed_at == {"ns/g": 12.0}


def test_success_ends_the_penalty_of_a_failed_group() -> None:
    """A group that becomes complete is sorted by its creation again."""
    world = World(group(1), edition=CURRENT)
    world.state.failed_at["ns/g"] = 3.0
    ask(world, "a")
    assert world.state.failed_at == {}
